/* SPDX-License-Identifier: MIT */
/*
 * thread_wait.c - classifies what a sleeping thread waits for, when its sleep is first observed;
 * names the descriptors that threads wait for.
 */
#include <stdlib.h>
#include <string.h>

#include "sampler/threads_internal.h"
#include "wallsample/runtime/locks.h"

/* Most times that a wait is classified in one sleep: if only a futex, or a lock of unknown kind,
 * was recognised, the lock may have been read while it changed. */
#define TRIES_MOST 3

/* Reading the names of descriptors (waits_describe) takes at most 1/DESCRIBE_SHARE of the time, and
 * at the end of the run at most DESCRIBE_LAST_NS. */
#define DESCRIBE_SHARE 50
#define DESCRIBE_LAST_NS (NS_PER_SEC / 2)
/* Time for which other descriptors are named after the first one, whose name takes 10 ms if the
 * kernel's table of TCP connections has to be read (of 262,144 hash buckets, mostly empty), and
 * several times as long if a process at the other end is sought. */
#define DESCRIBE_MORE_NS NS_PER_MS

/* Largest number of futex words that are stored: WORDS_LEAST plus WORDS_A_THREAD for each thread.
 * If there are more, those without waiters are removed. */
#define WORDS_LEAST 4096
#define WORDS_A_THREAD 4

/* --- futex words ------------------------------------------------------------------------------ */

/* Adds a thread to those that wait for the futex word. No effect for word 0. */
static void
word_join(struct waits *waits, uint64_t word)
{
	if (word != 0)
		(*table_insert(&waits->words, word, 0, 0, NULL))++;
}

/* Removes a thread from those that wait for the futex word. No effect for word 0. */
static void
word_leave(struct waits *waits, uint64_t word)
{
	if (word != 0)
		(*table_insert(&waits->words, word, 0, 1, NULL))--;
}

/* Returns the number of threads that waited for the word at their last observation. */
static uint32_t
word_waiters(const struct waits *waits, uint64_t word)
{
	uint32_t count = 0;

	table_find(&waits->words, word, 0, &count);
	return count;
}

/* Removes futex words without waiters if there are too many: programs may create locks without
 * end. */
static void
forget_words(struct waits *waits)
{
	const struct thread_list *threads = &waits->run->threads;

	if (waits->words.count <= WORDS_LEAST + WORDS_A_THREAD * threads->count)
		return;
	table_clear(&waits->words);
	for (size_t i = 0; i < threads->count; i++)
		if (threads->thread[i]->process == waits->process)
			word_join(waits, threads->thread[i]->wait.word);
}

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

	return word_waiters(waits, address);
}

static bool
find_runtime_lock(void *context, uint64_t word, uint64_t *lock)
{
	const struct waits *waits = context;
	const char *name;

	return waits->process->runtimes != NULL &&
	       runtimes_find_lock(waits->process->runtimes, word, lock, &name);
}

static pid_t
find_runtime_owner(void *context, uint64_t lock)
{
	const struct waits *waits = context;

	return runtimes_lock_owner(waits->process->runtimes, lock);
}

static bool
find_parked(void *context, uint64_t word, uint64_t *lock, uint64_t *owner)
{
	const struct waits *waits = context;

	return waits->process->runtimes != NULL &&
	       runtimes_find_parked(waits->process->runtimes, word, lock, owner);
}

static pid_t
find_parked_owner(void *context, uint64_t owner)
{
	const struct waits *waits = context;

	return runtimes_parked_owner(waits->process->runtimes, owner);
}

struct waits *
waits_create(struct run *run, struct sampled_process *process)
{
	struct waits *waits = xcalloc(1, sizeof(*waits));

	waits->run = run;
	waits->process = process;
	waits->source = (struct wait_source){
		.memory = { .read = sampled_process_read_memory, .context = process },
		.thread = find_thread,
		.foreign = shared_find_thread,
		.blocked = count_blocked,
		.runtime_lock = find_runtime_lock,
		.runtime_owner = find_runtime_owner,
		.runtime_parked = find_parked,
		.parked_owner = find_parked_owner,
		.context = waits,
	};
	if (run->shared.programs == NULL)
		run->shared.programs = server_programs_create();
	if (run->shared.endpoints == NULL)
		run->shared.endpoints = endpoints_create();
	waits->descriptors = descriptors_create(process->process, run->shared.endpoints);
	server_process_find(run->shared.programs, process->maps, &waits->server);
	return waits;
}

void
waits_free(struct waits *waits)
{
	descriptors_free(waits->descriptors);
	peer_ends_release(&waits->peers);
	shared_memory_free(waits->memory);
	table_release(&waits->known);
	table_release(&waits->words);
	table_release(&waits->owners);
	for (size_t i = 0; i < waits->object_count; i++)
		free(waits->object[i].id);
	free(waits->object);
	free(waits->blamed);
	free(waits->owner);
	free(waits);
}

void
waits_release_common(struct run *run)
{
	crowds_release(&run->crowds);
	peers_release(&run->shared.peers);
	shared_waits_release(&run->shared);
	file_locks_release(&run->file_locks);
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
waits_enter(struct waits *waits, struct sampled_thread *thread, const struct syscall_info *info)
{
	const uint64_t word = waits_word(info);

	if (word == thread->wait.word)
		return;
	waits_leave(waits, thread);
	thread->wait.word = word;
	word_join(waits, word);
}

void
waits_leave(struct waits *waits, struct sampled_thread *thread)
{
	word_leave(waits, thread->wait.word);
	thread->wait = (struct thread_wait){ .id = 0 };
}

/* --- a sleep ------------------------------------------------------------------------- */

/*
 * For a dump, returns a frame that names the remaining time of a sleep or the number of descriptors
 * polled, or FRAME_NONE. For a profile returns FRAME_NONE, because such a frame would make each
 * sleep another wait.
 */
static uint32_t
frame_of_moment(struct waits *waits, const struct wait *wait)
{
	char text[64];

	if (!waits->run->config.exact)
		return FRAME_NONE;
	if (wait->kind == WAIT_SLEEP && wait->left_ns != UINT64_MAX)
		snprintf(text, sizeof(text), "at most %.3f s more", (double)wait->left_ns / 1e9);
	else if ((wait->kind == WAIT_POLL || wait->kind == WAIT_SELECT) && wait->fds > 1)
		snprintf(text, sizeof(text), "%u descriptors", wait->fds);
	else
		return FRAME_NONE;
	return profile_intern_named(waits->run->profile, text);
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
	waits_enter(waits, thread, info);
	wait_classify(&waits->source, &call, &thread->wait.what);
	thread->wait.tries++;
	if (thread->wait.what.layout == LAYOUT_PARKED) {
		/* Each waiter has a word of its own: they count for the word of the lock. */
		word_leave(waits, thread->wait.word);
		thread->wait.word = thread->wait.what.object;
		word_join(waits, thread->wait.word);
	}
	wait.object = waits_object(waits, thread, &call, &thread->wait.what);
	if (wait.object == FRAME_NONE)
		wait.object = frame_of_moment(waits, &thread->wait.what);
	wait.kind = thread->wait.what.kind;
	wait.timed = thread->wait.what.timed;
	wait.most = 1;
	thread->wait.id = wait.kind != WAIT_NONE ? profile_add_wait(waits->run->profile, &wait) : 0;
}

void
waits_try_again(struct waits *waits, struct sampled_thread *thread)
{
	struct syscall_info info;

	if ((thread->wait.what.kind != WAIT_FUTEX && thread->wait.what.kind != WAIT_LOCK) ||
	    thread->wait.tries >= TRIES_MOST)
		return;
	if (watch_read_syscall(&thread->watch, thread->process->process, &info) == WATCH_OK &&
	    !info.running)
		waits_classify(waits, thread, thread->state, &info);
}

/* --- a tick ----------------------------------------------------------------------------- */

void
waits_tick(struct waits *waits)
{
	waits_forget_owners(waits);
	peers_blame(waits);
	waits_blame_holders(waits);
	forget_words(waits);
}

/* --- names of descriptors --------------------------------------------------------------- */

/* Names descriptors of one process until `until`. Returns the time after that. */
static uint64_t
describe_some(struct waits *waits, bool all, uint64_t *until)
{
	uint64_t now = clock_now_ns();
	struct strbuf text = STRBUF_INIT;

	while (waits->object_count > 0 && now < *until) {
		struct object *object = &waits->object[--waits->object_count];

		strbuf_clear(&text);
		if (descriptor_describe(waits->descriptors, object->fd, object->id, &text))
			profile_rename_frame(waits->run->profile, object->frame, text.data);
		free(object->id);
		now = clock_now_ns();
		/* What the first one took to read serves the others, too. */
		if (!all && *until > now + DESCRIBE_MORE_NS)
			*until = now + DESCRIBE_MORE_NS;
	}
	strbuf_release(&text);
	return now;
}

void
waits_describe(struct run *run, bool all)
{
	struct shared_waits *shared = &run->shared;
	const struct process_list *processes = &run->processes;
	const uint64_t began = clock_now_ns();
	uint64_t now = began, until = began + DESCRIBE_LAST_NS;

	if (!all && now < shared->describe_ns)
		return;
	for (size_t i = 0; i < processes->count && now < until; i++) {
		shared->describe_turn = (shared->describe_turn + 1) % processes->count;
		now = describe_some(processes->item[shared->describe_turn]->waits, all, &until);
		if (!all)
			now = peers_search(processes->item[shared->describe_turn]->waits, until);
	}
	shared->describe_ns = now + (now - began) * DESCRIBE_SHARE;
}
