/* SPDX-License-Identifier: MIT */
/*
 * thread_wait.c - what a sleeper waits for is asked once a sleep; who has it, once a tick for all
 * who wait for it.
 */
#include "wallsample/sampler/thread_wait.h"

#include <stdlib.h>
#include <string.h>

#include "sampler/pipeline_internal.h"
#include "wallsample/tracer/memory.h"

/* A wait of which nothing is known may be one that was met in the middle of a change. */
#define TRIES_MOST 3

/* So many ticks after somebody waited for what a thread has it is looked at each tick, if there are
 * no more such locks: looks are what costs. */
#define HOLDER_TICKS 256
#define HOLDERS_MOST 32

/* To ask who has a lock takes some microseconds. */
#define BLAMES_UNSERVED 32

/* Descriptions take at most one part in so many of the time. */
#define DESCRIBE_SHARE 50
#define DESCRIBE_LAST_NS (NS_PER_SEC / 2)

/* --- what the target's memory is asked with ------------------------------------------ */

static bool
read_memory(void *context, uint64_t address, void *to, size_t size)
{
	const struct sampler *sampler = context;
	size_t got = memory_read_process(sampler->process->pid, address, to, size);

	/* The first thread may have ended before the others. */
	if (got == 0 && sampler->leader_state == 'Z' && sampler->thread_count > 0)
		got = memory_read_process(sampler->thread[0]->watch.tid, address, to, size);
	return got == size;
}

static void
learn_inner_tids(struct sampler *sampler)
{
	struct waits *waits = &sampler->waits;

	table_clear(&waits->inner);
	for (size_t i = 0; i < sampler->thread_count; i++) {
		const pid_t tid = sampler->thread[i]->watch.tid;
		const pid_t inner = process_inner_tid(sampler->process, tid);

		if (inner > 0)
			table_place(&waits->inner, (uint64_t)inner, 0, (uint32_t)tid, NULL);
	}
}

static pid_t
find_thread(void *context, pid_t inner)
{
	struct sampler *sampler = context;
	struct waits *waits = &sampler->waits;
	struct task_stat stat;
	uint32_t tid = (uint32_t)inner;

	if (!waits->own_namespace && !table_find(&waits->inner, (uint64_t)inner, 0, &tid)) {
		/* It may be new; numbers that are no threads must not cost this each time. */
		if (waits->inner_seen == sampler->stats.threads_seen)
			return 0;
		waits->inner_seen = sampler->stats.threads_seen;
		learn_inner_tids(sampler);
		if (!table_find(&waits->inner, (uint64_t)inner, 0, &tid))
			return 0;
	}
	if ((pid_t)tid <= 0 || !process_read_task_stat(sampler->process, (pid_t)tid, &stat) ||
	    stat.state == 'Z' || stat.state == 'X')
		return 0;
	return (pid_t)tid;
}

static size_t
count_blocked(void *context, uint64_t address)
{
	return crowd_seen(context, address);
}

/* --- what runtimes know of locks, and want to know --------------------------------------- */

static bool
runtime_lock(void *context, uint64_t word, uint64_t *lock)
{
	const struct sampler *sampler = context;
	const char *name;

	return runtimes_find_lock(sampler->runtimes, word, lock, &name);
}

static pid_t
runtime_owner(void *context, uint64_t lock)
{
	const struct sampler *sampler = context;

	return runtimes_lock_owner(sampler->runtimes, lock);
}

static size_t
read_pages(void *context, const uint64_t *page, size_t count, void *to)
{
	const struct sampler *sampler = context;

	return memory_read_pages(sampler->process->pid, page, count, to);
}

static size_t
read_pieces(void *context, const struct memory_piece *piece, size_t count, void *to)
{
	return tasks_read_memory(context, piece, count, to);
}

static uint32_t
resident(void *context, uint64_t address, bool swapped)
{
	const struct sampler *sampler = context;

	return resident_pages(&sampler->resident, address, swapped);
}

static void
leave(void *context)
{
	sampler_leave(context);
}

static void
back(void *context)
{
	sampler_return(context);
}

void
waits_begin_runtimes(struct sampler *sampler)
{
	const struct runtimes_config config = {
		.process = sampler->process,
		.maps = sampler->maps,
		.memory = sampler->waits.source.memory,
		.read_pages = read_pages,
		.read_pieces = read_pieces,
		.resident = resident,
		.thread = find_thread,
		.leave = leave,
		.back = back,
		.context = sampler,
		.wanted = sampler->config.runtimes,
		.extra = sampler->config.extra_runtime,
		.tasks = sampler->config.tasks != NULL,
		.log = sampler->log,
	};

	if (config.wanted == 0 && config.extra == NULL)
		return;
	resident_init(&sampler->resident, sampler->process);
	sampler->runtimes = runtimes_create(&config);
	sampler->lock_capture = runtime_capture_create(sampler->runtimes);
	sampler->stacks.runtimes = sampler->runtimes;
	sampler->waits.source.runtime_lock = runtime_lock;
	sampler->waits.source.runtime_owner = runtime_owner;
}

void
waits_init(struct sampler *sampler)
{
	struct waits *waits = &sampler->waits;

	waits->source = (struct wait_source){
		.memory = { .read = read_memory, .context = sampler },
		.thread = find_thread,
		.blocked = count_blocked,
		.context = sampler,
	};
	waits->own_namespace = process_shares_pid_namespace(sampler->process);
	waits->descriptors = descriptors_create(sampler->process);
	table_init(&waits->inner);
	table_init(&waits->known);
	crowds_init(&waits->crowds);
	table_init(&waits->owners);
}

void
waits_release(struct sampler *sampler)
{
	struct waits *waits = &sampler->waits;

	descriptors_free(waits->descriptors);
	table_release(&waits->inner);
	table_release(&waits->known);
	crowds_release(&waits->crowds);
	table_release(&waits->owners);
	for (size_t i = 0; i < waits->object_count; i++)
		free(waits->object[i].id);
	free(waits->object);
	free(waits->blamed);
	free(waits->owner);
}

/* --- who is where ------------------------------------------------------------------- */

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
waits_see(struct sampler *sampler, struct tracked *thread, const struct syscall_info *info)
{
	const uint64_t word = waits_word(info);

	if (word == thread->wait.word)
		return;
	waits_leave(sampler, thread);
	thread->wait.word = word;
	crowd_join(sampler, word);
}

void
waits_leave(struct sampler *sampler, struct tracked *thread)
{
	const uint64_t word = thread->wait.word;

	thread->wait = (struct thread_wait){ .id = 0 };
	crowd_leave(sampler, word);
}

/* --- a sleep ------------------------------------------------------------------------- */

/*
 * A dump says how long somebody will sleep on, or how many descriptors are waited for; in a profile
 * every sleep would be another, and waits for different descriptors one.
 */
static uint32_t
frame_of_moment(struct sampler *sampler, const struct wait *wait)
{
	char text[64];

	if (!sampler->config.exact)
		return FRAME_NONE;
	if (wait->kind == WAIT_SLEEP && wait->left_ns != UINT64_MAX)
		snprintf(text, sizeof(text), "at most %.3f s more", (double)wait->left_ns / 1e9);
	else if ((wait->kind == WAIT_POLL || wait->kind == WAIT_SELECT) && wait->fds > 1)
		snprintf(text, sizeof(text), "%u descriptors", wait->fds);
	else
		return FRAME_NONE;
	return profile_intern_named(sampler->profile, text);
}

void
waits_classify(struct sampler *sampler, struct tracked *thread, enum run_state state,
	       const struct syscall_info *info)
{
	struct wait_call call = {
		.state = state,
		.number = true_syscall(thread, info),
		.sp = info->sp,
	};
	struct profile_wait wait;

	memcpy(call.args, info->args, sizeof(call.args));
	waits_see(sampler, thread, info);
	wait_classify(&sampler->waits.source, &call, &thread->wait.what);
	thread->wait.tries++;
	wait.object = waits_object(sampler, thread, &thread->wait.what);
	if (wait.object == FRAME_NONE)
		wait.object = frame_of_moment(sampler, &thread->wait.what);
	wait.kind = thread->wait.what.kind;
	wait.timed = thread->wait.what.timed;
	wait.most = 1;
	thread->wait.id = wait.kind != WAIT_NONE ? profile_add_wait(sampler->profile, &wait) : 0;
	if (thread->wait.id != 0 && thread->wait.word != 0)
		crowd_note(sampler, thread->wait.id, thread->wait.word);
}

void
waits_try_again(struct sampler *sampler, struct tracked *thread)
{
	struct syscall_info info;

	if ((thread->wait.what.kind != WAIT_FUTEX && thread->wait.what.kind != WAIT_LOCK) ||
	    thread->wait.tries >= TRIES_MOST)
		return;
	if (watch_read_syscall(&thread->watch, sampler->process, &info) == LOOK_OK &&
	    !info.running)
		waits_classify(sampler, thread, thread->state, &info);
}

/* --- blame ---------------------------------------------------------------------------- */

void
waits_blame(struct sampler *sampler, const struct tracked *thread, int64_t samples, int64_t ns)
{
	struct waits *waits = &sampler->waits;
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
waits_blame_last(struct sampler *sampler, const struct tracked *thread, int64_t samples,
		 int64_t ns)
{
	struct profile_blame to = thread->wait.blamed;

	if (thread->wait.id == 0 || !thread->wait.asked) {
		waits_blame(sampler, thread, samples, ns);
		return;
	}
	to.samples = samples;
	to.ns = ns;
	profile_add_blame(sampler->profile, &to);
}

bool
waits_is_holder(const struct sampler *sampler, const struct tracked *thread)
{
	return thread->held_tick != 0 && sampler->tick - thread->held_tick < HOLDER_TICKS &&
	       sampler->waits.owner_count <= HOLDERS_MOST;
}

void
waits_forget_owners(struct sampler *sampler)
{
	table_clear(&sampler->waits.owners);
	sampler->waits.owner_count = 0;
}

const struct wait_owner *
waits_owner(struct sampler *sampler, const struct wait *wait)
{
	struct waits *waits = &sampler->waits;
	bool added;
	const uint32_t at = *table_place(&waits->owners, wait->object, wait->kind,
					 (uint32_t)waits->owner_count, &added);

	if (added) {
		waits->owner = xgrow(waits->owner, &waits->owner_capacity,
				     waits->owner_count + 1, sizeof(*waits->owner));
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

/* Owners are asked for at the end of a tick: by then the waiter itself may have got a GIL. */
static const struct wait_owner *
owner_of(struct sampler *sampler, const struct blamed *blamed)
{
	static const struct wait_owner nobody = { .holder = HOLDER_NOBODY };
	const struct wait_owner *owner = waits_owner(sampler, &blamed->what);

	return blamed->what.kind == WAIT_GIL && owner->holder == HOLDER_THREAD &&
			       owner->tid == blamed->tid ?
		       &nobody :
		       owner;
}

static void
blame(struct sampler *sampler, const struct blamed *blamed)
{
	const struct wait_owner *owner = owner_of(sampler, blamed);
	struct tracked *waiter = thread_of_tid(sampler, blamed->tid);
	struct tracked *holder = owner->holder == HOLDER_THREAD ?
					 thread_of_tid(sampler, owner->tid) :
					 NULL;
	struct profile_blame to = {
		.wait = blamed->wait,
		.state = RUN_UNKNOWN,
		.samples = blamed->samples,
		.ns = blamed->ns,
	};

	if (holder != NULL)
		holder->held_tick = sampler->tick;
	if (holder != NULL && holder->selected) {
		to.thread = thread_unit(sampler, holder, NULL);
		to.stack = holder->stack;
		to.state = holder->late != NULL ? RUN_QUEUED : holder->state;
	} else {
		to.thread = profile_nobody(sampler->profile);
		to.stack = stack_of_nobody(sampler->profile, owner);
	}
	profile_add_blame(sampler->profile, &to);
	if (waiter != NULL && waiter->wait.id == blamed->wait) {
		waiter->wait.holder = holder != NULL ? holder->watch.tid : 0;
		waiter->wait.blamed = to;
		waiter->wait.asked = true;
	}
}

void
waits_tick(struct sampler *sampler)
{
	struct waits *waits = &sampler->waits;

	waits_forget_owners(sampler);
	for (size_t i = 0; i < waits->blamed_count; i++) {
		if (i % BLAMES_UNSERVED == 0)
			late_serve(sampler);
		blame(sampler, &waits->blamed[i]);
	}
	waits->blamed_count = 0;
	crowds_tick(sampler);
}

/* --- names of descriptors --------------------------------------------------------------- */

void
waits_describe(struct sampler *sampler, bool all)
{
	struct waits *waits = &sampler->waits;
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
			profile_rename_frame(sampler->profile, object->frame, text.data);
		free(object->id);
		now = clock_now_ns();
		if (!all)
			break;
	}
	strbuf_release(&text);
	waits->describe_ns = now + (now - began) * DESCRIBE_SHARE;
}
