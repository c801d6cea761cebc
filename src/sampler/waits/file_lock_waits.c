/* SPDX-License-Identifier: MIT */
/* file_lock_waits.c - names locks of files, and finds the threads and processes that hold them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sampler/threads_internal.h"
#include "wallsample/sampler/stack.h"

/* Most locks whose holders are known. Programs may lock ranges without end. */
#define LOCKS_MOST 1024

/* Time from one question to the thread that reads /proc/locks to the next. */
#define ASK_NS (50 * NS_PER_MS)
/* Checks of holders take at most 1/CHECK_SHARE of the time. */
#define CHECK_SHARE 100
/* Longest wait for the thread at the end of the run: a little longer than the time between two of
 * its readings. */
#define FINISH_NS (300 * NS_PER_MS)

/* Number of threads whose counters are read, 2 us each, between two calls of late_serve, which
 * releases late threads. */
#define READS_UNSERVED 32

/* Most readers that are named. */
#define READERS_NAMED 3

void
file_locks_release(struct file_lock_waits *locks)
{
	file_lock_finder_free(locks->finder);
	table_release(&locks->ids);
	free(locks->lock);
}

static struct awaited_lock *
awaited_lock(struct run *run, const struct wait *wait)
{
	struct file_lock_waits *locks = &run->file_locks;

	return wait->kind == WAIT_FILE_LOCK && wait->object > 0 && wait->object <= locks->count ?
		       &locks->lock[wait->object - 1] :
		       NULL;
}

/* --- objects ---------------------------------------------------------------------------------- */

static void
add_candidate(struct awaited_lock *lock, struct file_lock_holder holder)
{
	if (holder.fd < 0)
		return;
	for (uint32_t i = 0; i < lock->candidates; i++)
		if (lock->candidate[i].pid == holder.pid && lock->candidate[i].fd == holder.fd)
			return;
	if (lock->candidates < FILE_LOCK_CANDIDATES) {
		lock->candidate[lock->candidates++] = holder;
		return;
	}
	lock->candidate[lock->oldest] = holder;
	lock->oldest = (lock->oldest + 1) % FILE_LOCK_CANDIDATES;
}

/* Returns the number of the lock in wait->object: 1 + its index; 0: there are too many. */
static uint64_t
lock_number(struct file_lock_waits *locks, const struct file_lock_query *query)
{
	const struct file_lock *wanted = &query->wanted;
	const uint64_t key[] = { (uint64_t)wanted->type, wanted->exclusive, wanted->dev,
				 wanted->inode,          wanted->first,     wanted->last };
	const uint64_t hash = hash_bytes(key, sizeof(key));
	struct awaited_lock *lock;
	uint32_t at;

	if (table_find(&locks->ids, hash, wanted->inode, &at))
		return (uint64_t)at + 1;
	if (locks->count >= LOCKS_MOST)
		return 0;
	locks->lock = xgrow(locks->lock, &locks->capacity, locks->count + 1, sizeof(*lock));
	lock = &locks->lock[locks->count];
	*lock = (struct awaited_lock){ .query = *query };
	lock->query.id = (uint32_t)locks->count;
	table_insert(&locks->ids, hash, wanted->inode, (uint32_t)locks->count, NULL);
	return ++locks->count;
}

/* Adds ", bytes 120-129" for a part of a file. */
static void
add_range(const struct file_lock *lock, struct strbuf *out)
{
	if (lock->last < FILE_LOCK_END)
		strbuf_add_format(out, ", bytes %" PRIu64 "-%" PRIu64, lock->first, lock->last);
	else if (lock->first > 0)
		strbuf_add_format(out, ", bytes from %" PRIu64, lock->first);
}

bool
file_locks_add_object(struct waits *waits, struct wait *wait, struct strbuf *out)
{
	struct run *run = waits->run;
	struct shared_object file = { .kind = SHARED_FILE };
	struct file_lock_query query;
	const pid_t pid = waits->process->process->pid;
	const char *path;

	if (descriptor_look(waits->descriptors, wait->fd, &path) == DESCRIPTOR_GONE ||
	    !file_lock_query_of(pid, wait->fd, &wait->lock, &query))
		return false;
	wait->object = lock_number(&run->file_locks, &query);
	if (wait->object != 0)
		add_candidate(awaited_lock(run, wait),
			      (struct file_lock_holder){ .pid = pid, .fd = wait->fd });
	if (run->shared.names == NULL)
		run->shared.names = shared_names_create();
	file.dev = query.wanted.dev;
	file.inode = query.stat_inode;
	shared_names_add_object(run->shared.names, &file, path, out);
	add_range(&query.wanted, out);
	return true;
}

/* --- threads that can hold a lock ------------------------------------------------------------- */

static bool
thread_awaits(const struct sampled_thread *thread, const struct awaited_lock *lock)
{
	return thread->wait.id != 0 && thread->wait.what.kind == WAIT_FILE_LOCK &&
	       thread->wait.what.object == (uint64_t)lock->query.id + 1;
}

/* Counts for each process, or for `only` unless that is NULL, the threads that do not wait for the
 * lock, or have run since they were observed to do so. */
static void
count_free_threads(struct run *run, const struct awaited_lock *lock,
		   const struct sampled_process *only)
{
	uint32_t reads = 0;

	for (size_t i = 0; i < run->processes.count; i++)
		run->processes.item[i]->lock_free = 0;
	for (size_t i = 0; i < run->threads.count; i++) {
		struct sampled_thread *thread = run->threads.thread[i];
		const bool awaits = thread_awaits(thread, lock);

		if (thread->gone || (only != NULL && thread->process != only))
			continue;
		if (awaits && reads++ % READS_UNSERVED == 0)
			late_serve(run);
		if (awaits && thread_is_unmoved(thread))
			continue;
		thread->process->lock_free++;
		thread->process->lock_free_tid = thread->watch.tid;
	}
}

static struct sampled_process *
process_of_pid(const struct run *run, pid_t pid)
{
	for (size_t i = 0; i < run->processes.count; i++)
		if (run->processes.item[i]->process->pid == pid)
			return run->processes.item[i];
	return NULL;
}

/* --- the holders at a tick -------------------------------------------------------------------- */

static void
set_single(struct awaited_lock *lock, struct file_lock_holder holder)
{
	lock->state = AWAITED_HELD;
	lock->holder[0] = holder;
	lock->known = lock->count = 1;
	lock->free_answers = 0;
}

/* Looks for a candidate that holds the lock now. Returns false if there is none. */
static bool
find_candidate(struct run *run, struct awaited_lock *lock)
{
	count_free_threads(run, lock, NULL);
	for (uint32_t i = 0; i < lock->candidates; i++) {
		const struct sampled_process *process = process_of_pid(run, lock->candidate[i].pid);

		if (process != NULL && process->lock_free == 0)
			continue;
		if (file_lock_check(&lock->query, &lock->candidate[i]) != FILE_LOCK_HELD)
			continue;
		set_single(lock, lock->candidate[i]);
		lock->shared = false;
		return true;
	}
	return false;
}

/* Checks whether the holder that was read last still holds the lock. If it does not, the lock is
 * free, unless it may be held by a process that is not among the candidates. */
static void
check_holder(struct run *run, struct awaited_lock *lock)
{
	const bool held = lock->state == AWAITED_HELD;

	if (held &&
	    (lock->count > 1 || file_lock_check(&lock->query, &lock->holder[0]) != FILE_LOCK_FREE))
		return;
	if (!find_candidate(run, lock) && held)
		lock->state = lock->outside ? AWAITED_UNKNOWN : AWAITED_FREE;
}

static void
refresh(struct run *run, struct awaited_lock *lock)
{
	struct file_lock_waits *locks = &run->file_locks;
	const uint64_t now = clock_now_ns();
	uint64_t began;

	if (lock->checked_tick == run->tick.number || now < locks->next_check_ns)
		return;
	lock->checked_tick = run->tick.number;
	began = clock_thread_cpu_ns();
	check_holder(run, lock);
	locks->next_check_ns = now + (clock_thread_cpu_ns() - began) * CHECK_SHARE;
}

/* Returns the index in lock->holder of the only holder that keeps this process waiting; -1: there
 * are several, or none is known. A process waits for no lock of fcntl(2) that it holds itself. */
static int
only_holder(const struct awaited_lock *lock, pid_t waiter)
{
	uint32_t others = 0, count = lock->count > lock->known ? lock->count : lock->known;
	int only = -1;

	for (uint32_t i = 0; i < lock->known; i++) {
		if (lock->query.wanted.type == FILE_LOCK_POSIX && lock->holder[i].pid == waiter) {
			count--;
			continue;
		}
		others++;
		only = (int)i;
	}
	return others == 1 && count == 1 ? only : -1;
}

/* Sets the owner of a lock that the process with this id holds. If all threads of the process still
 * sleep and wait for the lock, one of them has just got it, and is being woken. */
static void
find_thread(struct run *run, const struct awaited_lock *lock, pid_t pid, struct wait_owner *out)
{
	const struct sampled_process *process = process_of_pid(run, pid);

	*out = (struct wait_owner){ .holder = HOLDER_PROCESSES };
	if (process == NULL)
		return;
	count_free_threads(run, lock, process);
	if (process->lock_free == 0) {
		out->holder = HOLDER_NONE;
	} else if (process->lock_free == 1) {
		out->holder = HOLDER_FOREIGN;
		out->tid = process->lock_free_tid;
	}
}

void
file_locks_owner(struct waits *waits, const struct wait *wait, struct wait_owner *out)
{
	struct run *run = waits->run;
	struct awaited_lock *lock = awaited_lock(run, wait);
	int only;

	*out = (struct wait_owner){ .holder = HOLDER_PROCESSES };
	if (lock == NULL)
		return;
	refresh(run, lock);
	if (lock->state == AWAITED_UNREAD && !run->file_locks.fails)
		out->holder = HOLDER_UNREAD;
	if (lock->state == AWAITED_FREE)
		out->holder = HOLDER_NONE;
	only = only_holder(lock, waits->process->process->pid);
	if (lock->state != AWAITED_HELD || only < 0)
		return;
	if (lock->owner_tick != run->tick.number || lock->owner_pid != lock->holder[only].pid) {
		lock->owner_tick = run->tick.number;
		lock->owner_pid = lock->holder[only].pid;
		find_thread(run, lock, lock->owner_pid, &lock->owner);
	}
	*out = lock->owner;
	/* The process waits for the lock again, or still: it held it at an earlier tick only. */
	if (out->holder == HOLDER_NONE && lock->checked_tick != run->tick.number) {
		lock->state = AWAITED_UNKNOWN;
		out->holder = HOLDER_PROCESSES;
	}
}

/* --- stacks of holders that are no threads ---------------------------------------------------- */

static int
compare_pids(const void *left, const void *right)
{
	const struct file_lock_holder *a = left, *b = right;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

/* The order of the processes in /proc/locks changes: they are named in the order of their ids. */
static uint32_t
stack_of_readers(struct run *run, struct awaited_lock *lock)
{
	struct strbuf text = STRBUF_INIT;
	const uint32_t count = lock->count > lock->known ? lock->count : lock->known;
	uint32_t stack, named = 0;

	qsort(lock->holder, lock->known, sizeof(lock->holder[0]), compare_pids);
	strbuf_add_format(&text, "[%" PRIu32 " %s: ", count, lock->shared ? "readers" : "holders");
	for (uint32_t i = 0; i < lock->known && named < READERS_NAMED; i++) {
		if (named > 0)
			strbuf_add_text(&text, ", ");
		named += shared_add_process(run, lock->holder[i].pid, &text);
	}
	strbuf_add_text(&text, named < count ? ", …]" : "]");
	stack = named > 0 ? shared_stack_of_text(run, text.data) : STACK_NONE;
	strbuf_release(&text);
	return stack;
}

uint32_t
file_locks_stack(struct waits *waits, const struct wait *wait)
{
	struct run *run = waits->run;
	struct awaited_lock *lock = awaited_lock(run, wait);
	uint32_t stack = STACK_NONE;
	int only;

	if (lock != NULL && lock->state == AWAITED_HELD && lock->known > 0) {
		only = only_holder(lock, waits->process->process->pid);
		if (only < 0)
			stack = stack_of_readers(run, lock);
		else
			stack = shared_stack_of_process(run, lock->holder[only].pid,
							process_of_pid(run,
								       lock->holder[only].pid) !=
									NULL ?
								PROFILE_HELD_BY_THREAD_OF :
								PROFILE_HELD_BY);
	}
	return stack != STACK_NONE ? stack :
				     stack_of_text(run->profile, PROFILE_NO_HOLDER, STACK_NONE);
}

/* --- questions and answers -------------------------------------------------------------------- */

/* A lock that a waiter has not got and that was found free at two readings is held by a process
 * that /proc/locks does not show: in another pid namespace, or on another machine. */
static void
use_answer(struct run *run, const struct file_lock_answer *answer)
{
	struct awaited_lock *lock;

	if (answer->query.id >= run->file_locks.count)
		return;
	lock = &run->file_locks.lock[answer->query.id];
	lock->query.wanted.dev = answer->query.wanted.dev;
	memcpy(lock->holder, answer->holder, sizeof(lock->holder));
	lock->known = answer->known;
	lock->count = answer->count;
	lock->shared = answer->shared;
	for (uint32_t i = 0; i < answer->known; i++) {
		add_candidate(lock, answer->holder[i]);
		lock->outside |= process_of_pid(run, answer->holder[i].pid) == NULL;
	}
	lock->outside |= answer->known < answer->count && answer->known < FILE_LOCK_HOLDERS;
	if (answer->known > 0) {
		lock->state = AWAITED_HELD;
		lock->free_answers = 0;
		return;
	}
	lock->free_answers += answer->count == 0;
	lock->state = answer->count == 0 && lock->free_answers <= 1 ? AWAITED_FREE :
								      AWAITED_UNKNOWN;
}

static bool
take_answers(struct run *run, uint64_t wait_ns)
{
	struct file_lock_answer answer[FILE_LOCK_QUERIES];
	size_t count;

	if (!file_lock_finder_take(run->file_locks.finder, wait_ns, answer, &count))
		return false;
	for (size_t i = 0; i < count; i++)
		use_answer(run, &answer[i]);
	return true;
}

/* Sets `awaited` of all locks. What was read about a lock ends with the waits for it. */
static void
mark_awaited(struct run *run)
{
	struct file_lock_waits *locks = &run->file_locks;

	for (size_t i = 0; i < locks->count; i++)
		locks->lock[i].awaited = false;
	for (size_t i = 0; i < run->threads.count; i++) {
		const struct sampled_thread *thread = run->threads.thread[i];
		struct awaited_lock *lock = awaited_lock(run, &thread->wait.what);

		if (lock == NULL || thread->wait.id == 0 || thread->gone)
			continue;
		lock->awaited = true;
		lock->query.wanted.pid = thread->process->process->pid;
	}
	for (size_t i = 0; i < locks->count; i++) {
		if (locks->lock[i].awaited)
			continue;
		locks->lock[i].state = AWAITED_UNREAD;
		locks->lock[i].known = locks->lock[i].free_answers = 0;
	}
}

static void
ask(struct run *run, bool waits)
{
	struct file_lock_waits *locks = &run->file_locks;
	struct file_lock_query query[FILE_LOCK_QUERIES];
	pid_t process[FILE_LOCK_PROCESSES];
	size_t count = 0, processes = 0;

	mark_awaited(run);
	for (size_t i = 0; i < locks->count && count < FILE_LOCK_QUERIES; i++)
		if (locks->lock[i].awaited)
			query[count++] = locks->lock[i].query;
	for (size_t i = 0; i < run->processes.count && processes < FILE_LOCK_PROCESSES; i++)
		process[processes++] = run->processes.item[i]->process->pid;
	if (locks->finder == NULL)
		locks->finder = file_lock_finder_create();
	locks->fails = !file_lock_finder_ask(locks->finder, waits, query, count, process,
					     processes);
}

void
file_locks_tick(struct run *run)
{
	struct file_lock_waits *locks = &run->file_locks;
	const uint64_t now = clock_now_ns();

	if (locks->count == 0)
		return;
	if (now >= locks->next_ask_ns) {
		ask(run, false);
		locks->next_ask_ns = now + ASK_NS;
	}
	take_answers(run, 0);
}

/* True if threads wait for a lock whose holders are not read yet. */
static bool
any_unread(const struct file_lock_waits *locks)
{
	bool any = false;

	for (size_t i = 0; i < locks->count; i++)
		any |= locks->lock[i].awaited && locks->lock[i].state == AWAITED_UNREAD;
	return any;
}

void
file_locks_finish(struct run *run, bool stopped)
{
	struct file_lock_waits *locks = &run->file_locks;
	const uint64_t until = clock_now_ns() + FINISH_NS;
	uint64_t now;

	if (locks->count == 0)
		return;
	ask(run, !stopped);
	while (!stopped && !locks->fails && any_unread(locks) && (now = clock_now_ns()) < until)
		if (!take_answers(run, until - now))
			break;
	/* The thread has the capabilities for sampling. What is not read now will not be. */
	file_lock_finder_free(locks->finder);
	locks->finder = NULL;
	locks->fails = true;
}
