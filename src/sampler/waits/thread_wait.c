/* SPDX-License-Identifier: MIT */
/*
 * thread_wait.c - what a sleeping thread waits for, read once a sleep, and the holder of its
 * object, read once a tick for all waiters.
 */
#include "wallsample/sampler/thread_wait.h"

#include <stdlib.h>
#include <string.h>

#include "sampler/threads_internal.h"

/* An unknown wait may have been read in the middle of a change: it is classified this often. */
#define TRIES_MOST 3

/* With more objects than this that threads wait for, holders are observed like other threads. */
#define HOLDERS_MOST 32

/* Holders that are read before late threads are released: a read takes some microseconds. */
#define BLAMES_UNSERVED 32

/* Descriptions take at most 1/DESCRIBE_SHARE of the time. */
#define DESCRIBE_SHARE 50
#define DESCRIBE_LAST_NS (NS_PER_SEC / 2)

/* --- callbacks of wait_classify and wait_owner --------------------------------------------- */

static pid_t
find_thread(void *context, pid_t inner)
{
	const struct waits *waits = context;

	return sampled_process_thread(waits->process, inner);
}

static size_t
count_blocked(void *context, uint64_t address)
{
	const struct waits *waits = context;

	return crowd_seen(&waits->crowds, address);
}

static bool
find_runtime_lock(void *context, uint64_t word, uint64_t *lock)
{
	const struct waits *waits = context;
	const char *name;

	return runtimes_find_lock(waits->process->runtimes, word, lock, &name);
}

static pid_t
find_runtime_owner(void *context, uint64_t lock)
{
	const struct waits *waits = context;

	return runtimes_lock_owner(waits->process->runtimes, lock);
}

void
waits_begin_runtimes(struct waits *waits)
{
	waits->source.runtime_lock = find_runtime_lock;
	waits->source.runtime_owner = find_runtime_owner;
}

void
waits_init(struct waits *waits, struct memory memory)
{
	waits->source = (struct wait_source){
		.memory = memory,
		.thread = find_thread,
		.blocked = count_blocked,
		.context = waits,
	};
	waits->descriptors = descriptors_create(waits->process->process);
	table_init(&waits->known);
	waits->crowds = (struct crowds){
		.process = waits->process,
		.threads = waits->threads,
		.late = waits->late,
		.profile = waits->profile,
	};
	crowds_init(&waits->crowds);
	table_init(&waits->owners);
}

void
waits_release(struct waits *waits)
{
	descriptors_free(waits->descriptors);
	table_release(&waits->known);
	crowds_release(&waits->crowds);
	table_release(&waits->owners);
	for (size_t i = 0; i < waits->object_count; i++)
		free(waits->object[i].id);
	free(waits->object);
	free(waits->blamed);
	free(waits->owner);
}

/* --- calls and waits of threads ------------------------------------------------------ */

uint64_t
waits_word(const struct syscall_info *info)
{
	struct wait_call call = { .state = RUN_SLEEPING, .number = info->number };

	if (info->running)
		return 0;
	memcpy(call.args, info->args, sizeof(call.args));
	return wait_futex_word(&call);
}

void
waits_see(struct waits *waits, struct sampled_thread *thread, const struct syscall_info *info)
{
	const uint64_t word = waits_word(info);

	if (word == thread->wait.word)
		return;
	waits_leave(waits, thread);
	thread->wait.word = word;
	crowd_join(&waits->crowds, word);
}

void
waits_leave(struct waits *waits, struct sampled_thread *thread)
{
	const uint64_t word = thread->wait.word;

	thread->wait = (struct thread_wait){ .id = 0 };
	crowd_leave(&waits->crowds, word);
}

/* --- a sleep ------------------------------------------------------------------------- */

/*
 * The time that a sleep has left, or the number of descriptors polled: a dump shows them. In a
 * profile every sleep would be another wait.
 */
static uint32_t
frame_of_moment(struct waits *waits, const struct wait *wait)
{
	char text[64];

	if (!waits->exact)
		return FRAME_NONE;
	if (wait->kind == WAIT_SLEEP && wait->left_ns != UINT64_MAX)
		snprintf(text, sizeof(text), "at most %.3f s more", (double)wait->left_ns / 1e9);
	else if ((wait->kind == WAIT_POLL || wait->kind == WAIT_SELECT) && wait->fds > 1)
		snprintf(text, sizeof(text), "%u descriptors", wait->fds);
	else
		return FRAME_NONE;
	return profile_intern_named(waits->profile, text);
}

void
waits_classify(struct waits *waits, struct sampled_thread *thread, enum run_state state,
	       const struct syscall_info *info)
{
	struct wait_call call = {
		.state = state,
		.number = thread_syscall(thread, info),
		.sp = info->sp,
	};
	struct profile_wait wait;

	memcpy(call.args, info->args, sizeof(call.args));
	waits_see(waits, thread, info);
	wait_classify(&waits->source, &call, &thread->wait.what);
	thread->wait.tries++;
	wait.object = waits_object(waits, thread, &thread->wait.what);
	if (wait.object == FRAME_NONE)
		wait.object = frame_of_moment(waits, &thread->wait.what);
	wait.kind = thread->wait.what.kind;
	wait.timed = thread->wait.what.timed;
	wait.most = 1;
	thread->wait.id = wait.kind != WAIT_NONE ? profile_add_wait(waits->profile, &wait) : 0;
	if (thread->wait.id != 0 && thread->wait.word != 0)
		crowd_note(&waits->crowds, thread->wait.id, thread->wait.word);
}

void
waits_try_again(struct waits *waits, struct sampled_thread *thread)
{
	struct syscall_info info;

	if ((thread->wait.what.kind != WAIT_FUTEX && thread->wait.what.kind != WAIT_LOCK) ||
	    thread->wait.tries >= TRIES_MOST)
		return;
	if (watch_read_syscall(&thread->watch, thread->process->process, &info) == LOOK_OK &&
	    !info.running)
		waits_classify(waits, thread, thread->state, &info);
}

/* --- blame ---------------------------------------------------------------------------- */

void
waits_blame(struct waits *waits, const struct sampled_thread *thread, int64_t samples, int64_t ns)
{
	const struct thread_wait *wait = &thread->wait;

	if (wait->id == 0 || !wait_kind_has_owner(wait->what.kind))
		return;
	waits->blamed = xgrow(waits->blamed, &waits->blamed_capacity, waits->blamed_count + 1,
			      sizeof(*waits->blamed));
	waits->blamed[waits->blamed_count++] = (struct blamed){
		.tid = thread->watch.tid,
		.wait = wait->id,
		.what = wait->what,
		.samples = samples,
		.ns = ns,
	};
}

void
waits_blame_last(struct waits *waits, const struct sampled_thread *thread, int64_t samples,
		 int64_t ns)
{
	struct profile_blame to = thread->wait.blamed;

	if (thread->wait.id == 0 || !thread->wait.asked) {
		waits_blame(waits, thread, samples, ns);
		return;
	}
	to.samples = samples;
	to.ns = ns;
	profile_add_blame(waits->profile, &to);
}

bool
waits_has_few_holders(const struct waits *waits)
{
	return waits->owner_count <= HOLDERS_MOST;
}

void
waits_forget_owners(struct waits *waits)
{
	table_clear(&waits->owners);
	waits->owner_count = 0;
}

const struct wait_owner *
waits_owner(struct waits *waits, const struct wait *wait)
{
	bool added;
	const uint32_t at = *table_insert(&waits->owners, wait->object, wait->kind,
					  (uint32_t)waits->owner_count, &added);

	if (added) {
		waits->owner = xgrow(waits->owner, &waits->owner_capacity, waits->owner_count + 1,
				     sizeof(*waits->owner));
		wait_owner(&waits->source, wait, &waits->owner[waits->owner_count++]);
	}
	return &waits->owner[at];
}

uint32_t
stack_of_nobody(struct profile *profile, const struct wait_owner *owner)
{
	char text[64];

	switch (owner->holder) {
	case HOLDER_GONE:
		snprintf(text, sizeof(text), "[thread %jd, which is none of this process]",
			 (intmax_t)owner->tid);
		break;
	case HOLDER_READERS:
		snprintf(text, sizeof(text), "[readers, which are not written down]");
		break;
	case HOLDER_THREAD:
		snprintf(text, sizeof(text), "[thread %jd, which was not sampled]",
			 (intmax_t)owner->tid);
		break;
	case HOLDER_FOREIGN:
		snprintf(text, sizeof(text), "[another process]");
		break;
	case HOLDER_UNTOLD:
		snprintf(text, sizeof(text), "[somebody whom the lock does not name]");
		break;
	case HOLDER_NOBODY:
		snprintf(text, sizeof(text), "[nobody just then]");
		break;
	}
	return profile_intern_stack(profile, profile_intern_named(profile, text), STACK_NONE);
}

/* Owners are read at the end of a tick: by then the waiter itself may hold the GIL. */
static const struct wait_owner *
owner_of(struct waits *waits, const struct blamed *blamed)
{
	static const struct wait_owner unknown = { .holder = HOLDER_NOBODY };
	const struct wait_owner *owner = waits_owner(waits, &blamed->what);

	return blamed->what.kind == WAIT_GIL && owner->holder == HOLDER_THREAD &&
			       owner->tid == blamed->tid ?
		       &unknown :
		       owner;
}

static void
blame(struct waits *waits, const struct blamed *blamed)
{
	const struct wait_owner *owner = owner_of(waits, blamed);
	uint32_t carrier;
	struct sampled_thread *waiter = threads_find(waits->threads, blamed->tid);
	struct sampled_thread *holder = owner->holder == HOLDER_THREAD ?
						threads_find(waits->threads, owner->tid) :
						NULL;
	struct profile_blame to = {
		.wait = blamed->wait,
		.state = RUN_UNKNOWN,
		.samples = blamed->samples,
		.ns = blamed->ns,
	};

	if (holder != NULL)
		holder->holder_tick = waits->tick->number;
	if (holder != NULL && holder->selected) {
		to.thread = thread_record_of_sample(waits->records, holder, &carrier);
		to.stack = holder->stack;
		to.state = holder->late != NULL ? RUN_QUEUED : holder->state;
	} else {
		to.thread = profile_nobody(waits->profile);
		to.stack = stack_of_nobody(waits->profile, owner);
	}
	profile_add_blame(waits->profile, &to);
	if (waiter != NULL && waiter->wait.id == blamed->wait) {
		waiter->wait.holder = holder != NULL ? holder->watch.tid : 0;
		waiter->wait.blamed = to;
		waiter->wait.asked = true;
	}
}

void
waits_tick(struct waits *waits)
{
	waits_forget_owners(waits);
	for (size_t i = 0; i < waits->blamed_count; i++) {
		if (i % BLAMES_UNSERVED == 0)
			late_serve(waits->late);
		blame(waits, &waits->blamed[i]);
	}
	waits->blamed_count = 0;
	crowds_tick(&waits->crowds);
}

/* --- names of descriptors --------------------------------------------------------------- */

void
waits_describe(struct waits *waits, bool all)
{
	const uint64_t began = clock_now_ns();
	uint64_t now = began;
	struct strbuf text;

	if (!all && now < waits->describe_ns)
		return;
	strbuf_init(&text);
	while (waits->object_count > 0 && (!all || now - began < DESCRIBE_LAST_NS)) {
		struct object *object = &waits->object[--waits->object_count];

		strbuf_clear(&text);
		if (descriptor_describe(waits->descriptors, object->fd, object->id, &text))
			profile_rename_frame(waits->profile, object->frame, text.data);
		free(object->id);
		now = clock_now_ns();
		if (!all)
			break;
	}
	strbuf_release(&text);
	waits->describe_ns = now + (now - began) * DESCRIBE_SHARE;
}
