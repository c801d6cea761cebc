/* SPDX-License-Identifier: MIT */
/*
 * deadlock.c - finds deadlocks: rings of threads that each wait for a lock that the next one holds.
 * Threads are read at different moments, and so a search may find a ring that never existed. A ring
 * is reported when two searches in a row find it, for the same objects, and none of its threads has
 * run between the two searches. (Only a thread that waits for an interpreter's lock may have run,
 * because it wakes up to request the lock again.)
 */
#include <stdlib.h>
#include <time.h>

#include "sampler/threads_internal.h"
#include "sampler/waits/deadlock_internal.h"
#include "wallsample/runtime/locks.h"
#include "wallsample/sampler/rings.h"

/* Shortest time from one search to the next. Searches take at most 1/SEARCH_SHARE of the time. */
#define SEARCH_NS (100 * NS_PER_MS)
#define SEARCH_SHARE 50
/* Number of lock owners read between two calls of late_serve, which releases late threads. */
#define OWNERS_UNSERVED 32
/* PAUSE_NS: pause before each search but the first after the last tick, in ns. LAST_SEARCHES: most
 * searches after the last tick. There may be more than one because a thread that was stopped for
 * its registers may not be asleep again at the first search. */
#define PAUSE_NS 20000000L
#define LAST_SEARCHES 5
/* See find_sole. */
#define WHOLE_RUN 0.9
#define WHOLE_LEAST_NS NS_PER_SEC

/* True if the thread may wait for ever: it waits for a lock, without a time-out. */
static bool
can_be_stuck(const struct sampled_thread *thread)
{
	return thread->wait.id != 0 && !thread->wait.what.timed &&
	       (thread->wait.word != 0 || thread->wait.what.kind == WAIT_FILE_LOCK) &&
	       wait_kind_has_owner(thread->wait.what.kind);
}

/*
 * Returns the thread without which a thread that waits for another process can never continue;
 * NULL: there is none. A signal may end the wait, and a program may have set a timer: the waiter
 * must have slept for at least WHOLE_RUN of the run, and the run lasts WHOLE_LEAST_NS or longer.
 */
static struct sampled_thread *
find_sole(const struct deadlocks *deadlocks, const struct sampled_thread *thread)
{
	const struct tick *tick = &deadlocks->run->tick;

	if (!deadlocks->ended || !thread->asleep ||
	    tick->time_ns - deadlocks->run->pace.start_ns < WHOLE_LEAST_NS ||
	    (double)thread->since_tick > (1 - WHOLE_RUN) * (double)tick->number)
		return NULL;
	return peers_find_sole(thread->process->waits, thread);
}

/*
 * True if the thread does not hold an interpreter's lock and may be about to wait for one. A thread
 * that waits for such a lock wakes up regularly to request it again. If it was observed at that
 * moment, it has no wait and is not counted as a waiter.
 */
static bool
may_ask_again(const struct sampled_thread *thread)
{
	return !thread->gone && !thread->asleep && thread->wait.id == 0 &&
	       (thread->gil == GIL_NONE || thread->gil == GIL_WAIT);
}

static void
find_holders(struct deadlocks *deadlocks, struct rings *rings)
{
	const struct thread_list *threads = &deadlocks->run->threads;

	for (size_t i = 0; i < rings->count; i++) {
		const struct sampled_thread *thread = threads->thread[i];
		const struct wait_owner *owner;

		if (i % OWNERS_UNSERVED == 0)
			late_serve(deadlocks->run);
		if (!can_be_stuck(thread)) {
			const struct sampled_thread *sole = find_sole(deadlocks, thread);

			if (sole != NULL)
				rings->next[i] = threads_index(threads, sole->watch.tid);
			continue;
		}
		owner = waits_owner(thread->process->waits, &thread->wait.what);
		if (owner_is_thread(owner))
			rings->next[i] = threads_index(threads, owner->tid);
		if (rings->next[i] != RINGS_NONE)
			deadlocks->awake += may_ask_again(threads->thread[rings->next[i]]);
	}
}

/* --- comparison with the last search --------------------------------------------------- */

/*
 * True if the thread is still in the wait of its last observation. If that observation stopped the
 * thread to read its registers, the stop interrupted the sleep, and `asleep` may be false although
 * the thread went back to sleep at once: then sp, pc and the futex are compared.
 */
static bool
still_waits(struct sampled_thread *thread, const struct sched *now)
{
	struct syscall_info info;

	if (thread->asleep)
		return now->switches == thread->sched.switches;
	return watch_read_syscall(&thread->watch, thread->process->process, &info) == WATCH_OK &&
	       info.sp == thread->sp && info.pc == thread->pc &&
	       waits_word(&info) == thread->wait.word;
}

/* True if the thread sleeps now and waits for an interpreter's lock. Sets *info to its system call,
 * and *lock to the address of the lock. */
static bool
waits_for_runtime(struct sampled_thread *thread, struct syscall_info *info, uint64_t *lock)
{
	const char *name;

	if (watch_read_syscall(&thread->watch, thread->process->process, info) != WATCH_OK ||
	    info->running)
		return false;
	/* A stop may have interrupted the call, which the kernel restarts. */
	info->number = thread_syscall(thread, info);
	return runtimes_find_lock(thread->process->runtimes, waits_word(info), lock, &name);
}

static bool
still_waits_for_runtime(struct sampled_thread *thread)
{
	struct syscall_info info;
	uint64_t lock;

	return waits_for_runtime(thread, &info, &lock) && lock == thread->wait.what.object;
}

/*
 * Reads into *out a thread of a ring that waits for a lock of the thread `next`. Returns false if
 * the thread has run since it was observed to wait. A thread that waits for an interpreter's lock
 * may have run: as `next` has not run, the thread has not acquired the lock.
 */
static bool
read_ring_thread(struct sampled_thread *thread, const struct sampled_thread *next,
		 struct ring_thread *out)
{
	struct sched sched;

	*out = (struct ring_thread){ .tid = thread->watch.tid, .object = thread->wait.what.object };
	if (thread->wait.what.kind == WAIT_GIL && next->wait.what.kind != WAIT_GIL)
		return still_waits_for_runtime(thread);
	if (watch_read_sched(&thread->watch, thread->process->process, &sched) != WATCH_OK)
		return false;
	out->switches = sched.switches;
	return still_waits(thread, &sched);
}

static int
compare_seen(const void *left, const void *right)
{
	const struct ring_thread *a = left, *b = right;

	return (a->tid > b->tid) - (a->tid < b->tid);
}

static bool
was_seen(const struct deadlocks *deadlocks, const struct ring_thread *thread)
{
	const struct ring_thread *seen = NULL;

	if (deadlocks->seen_count > 0)
		seen = bsearch(thread, deadlocks->seen, deadlocks->seen_count, sizeof(*seen),
			       compare_seen);
	return seen != NULL && seen->object == thread->object && seen->switches == thread->switches;
}

/* Returns the stack of the thread; if the thread is not selected and so has none, a stack of one
 * named frame. */
static uint32_t
stack_of(struct deadlocks *deadlocks, const struct sampled_thread *thread)
{
	return thread->selected ?
		       thread->stack :
		       stack_of_text(deadlocks->run->profile, "[not sampled]", STACK_NONE);
}

static void
report_ring(struct deadlocks *deadlocks, const struct rings *rings, uint32_t ring)
{
	struct profile_stuck *stuck = xcalloc(rings->count, sizeof(*stuck));
	uint32_t *list = xcalloc(rings->count, sizeof(*list));
	size_t in_ring, count = rings_list(rings, ring, list, &in_ring);

	for (size_t i = 0; i < count; i++) {
		struct sampled_thread *thread = deadlocks->run->threads.thread[list[i]];

		stuck[i] = (struct profile_stuck){ .thread = thread_record(deadlocks->run, thread),
						   .wait = thread->wait.id,
						   .stack = stack_of(deadlocks, thread) };
	}
	profile_add_deadlock(deadlocks->run->profile, stuck, count, in_ring);
	free(list);
	free(stuck);
}

/* Adds the rings that are certain (found by the last search, too) to the profile, and keeps the
 * threads of all rings for the next search. */
static void
check_rings(struct deadlocks *deadlocks, const struct rings *rings)
{
	const struct thread_list *threads = &deadlocks->run->threads;
	struct deadlocks now = { .seen = NULL };

	for (uint32_t ring = 0; ring < rings->rings; ring++) {
		const uint32_t first = rings->first[ring];
		bool lasts = true;

		for (uint32_t at = first, n = 0; n == 0 || at != first; at = rings->next[at], n++) {
			struct ring_thread thread;

			lasts &= read_ring_thread(threads->thread[at],
						  threads->thread[rings->next[at]], &thread) &&
				 was_seen(deadlocks, &thread);
			now.seen = xgrow(now.seen, &now.seen_capacity, now.seen_count + 1,
					 sizeof(*now.seen));
			now.seen[now.seen_count++] = thread;
		}
		late_serve(deadlocks->run);
		if (lasts)
			report_ring(deadlocks, rings, ring);
		else
			deadlocks->unsure++;
	}
	if (now.seen_count > 1)
		qsort(now.seen, now.seen_count, sizeof(*now.seen), compare_seen);
	free(deadlocks->seen);
	deadlocks->seen = now.seen;
	deadlocks->seen_count = now.seen_count;
	deadlocks->seen_capacity = now.seen_capacity;
}

static void
search_rings(struct deadlocks *deadlocks)
{
	struct rings rings;

	deadlocks->unsure = deadlocks->awake = 0;
	rings_init(&rings, deadlocks->run->threads.count);
	find_holders(deadlocks, &rings);
	rings_find(&rings);
	check_rings(deadlocks, &rings);
	rings_release(&rings);
}

void
deadlocks_tick(struct deadlocks *deadlocks)
{
	const uint64_t began = clock_now_ns();
	uint64_t pause;

	if (deadlocks->run->tick.time_ns < deadlocks->next_ns)
		return;
	search_rings(deadlocks);
	pause = (clock_now_ns() - began) * SEARCH_SHARE;
	deadlocks->next_ns = deadlocks->run->tick.time_ns + (pause > SEARCH_NS ? pause : SEARCH_NS);
}

/*
 * Classifies the waits of threads that were awake when they were observed, in order to request an
 * interpreter's lock again, and that now sleep and wait for it. Needed after the last tick only: no
 * later tick will find them asleep.
 */
static void
classify_requests(struct deadlocks *deadlocks)
{
	for (size_t i = 0; i < deadlocks->run->threads.count; i++) {
		struct sampled_thread *thread = deadlocks->run->threads.thread[i];
		struct syscall_info info;
		uint64_t lock;

		if (may_ask_again(thread) && waits_for_runtime(thread, &info, &lock))
			waits_classify(thread->process->waits, thread, RUN_SLEEPING, &info);
	}
}

static void
search_last(struct deadlocks *deadlocks)
{
	const struct process_list *processes = &deadlocks->run->processes;

	for (size_t i = 0; i < processes->count; i++)
		waits_forget_owners(processes->item[i]->waits);
	classify_requests(deadlocks);
	search_rings(deadlocks);
}

void
deadlocks_last(struct deadlocks *deadlocks)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	/* Two of the searches made here have to find a ring: searches of earlier ticks do not
	 * count. */
	deadlocks->seen_count = 0;
	deadlocks->ended = true;
	search_last(deadlocks);
	/* A lock holder that is awake probably does not wait for a lock. Because of such holders
	 * only one further search is made. */
	for (int i = 1;
	     i < LAST_SEARCHES && (deadlocks->unsure > 0 || (deadlocks->awake > 0 && i == 1));
	     i++) {
		nanosleep(&pause, NULL);
		search_last(deadlocks);
	}
}
