/* SPDX-License-Identifier: MIT */
/* pools.c - sums the time of threads by what they wait for, and groups them into pools. */
#include "wallsample/analysis/pools.h"

#include <stdlib.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

/* Least share of the run for which a thread of a pool lives. */
#define LIVES_LEAST 0.95
/* Least share of the time in which all threads of the pool are busy, and least share of their time
 * in which they wait for others. */
#define BUSY_LEAST 0.8
#define OTHERS_LEAST 0.5
/* Least share of a thread's time in a wait of a queue. */
#define QUEUE_LEAST 0.5

/* What a thread does, as far as pools are concerned. */
enum use { USE_RUNS, USE_FOR_WORK, USE_FOR_OTHERS, USE_COUNT };

struct thread_use {
	int64_t ns[USE_COUNT], wall_ns;
	int64_t queue_ns;   /* part of USE_FOR_WORK: condition variables, semaphores, futexes */
	int64_t unknown_ns; /* waits for sockets without a name */
	uint32_t begins;    /* function of the view; UINT32_MAX: none of the program's own */
	uint32_t queue;     /* place of the longest wait of a queue */
	int64_t queue_most_ns;
};

static enum use
use_of(const struct view *view, const struct profile_entry *entry, enum wait_kind kind)
{
	if (run_state_runnable(entry->state) || entry->state == RUN_READY)
		return USE_RUNS;
	switch (kind) {
	case WAIT_SOCKET_READ:
	case WAIT_SOCKET_WRITE:
		return wait_object_is_made(view_wait_object(view, entry->wait)) ? USE_FOR_OTHERS :
										  USE_FOR_WORK;
	case WAIT_CONNECT:
	case WAIT_CHILD:
	case WAIT_FILE:
	case WAIT_FAULT:
		return USE_FOR_OTHERS;
	case WAIT_NONE:
		return entry->state == RUN_UNINTERRUPTIBLE ? USE_FOR_OTHERS : USE_FOR_WORK;
	default:
		/* A lock, whose waits are a cause of their own, or a wait for work. */
		return wait_kind_has_owner(kind) ? USE_RUNS : USE_FOR_WORK;
	}
}

/* True for a wait that another thread of the program ends, such as one in a queue of work. */
static bool
is_queue(enum wait_kind kind)
{
	return kind == WAIT_CONDITION || kind == WAIT_SEMAPHORE || kind == WAIT_FUTEX;
}

static bool
is_unnamed_socket(const struct view *view, const struct profile_entry *entry, enum wait_kind kind)
{
	return (kind == WAIT_SOCKET_READ || kind == WAIT_SOCKET_WRITE) &&
	       wait_object_is_bare(view_wait_object(view, entry->wait));
}

static void
add_entry(const struct view *view, const struct own *own, const struct profile_entry *entry,
	  struct thread_use *use)
{
	const int64_t ns = entry->ns[WEIGHT_WALL];
	const uint32_t *function;
	enum wait_kind kind = WAIT_NONE;
	size_t depth;

	if (ns == 0 || !view_sample(view, entry, &function, &depth) || depth == 0)
		return;
	if (entry->wait != 0)
		kind = view_wait_kind(view, entry->wait, function, depth);
	use->wall_ns += ns;
	for (size_t i = depth; i-- > 0 && use->begins == UINT32_MAX;)
		if (own->rank[function[i]] >= OWN_FILE)
			use->begins = function[i];
	if (is_unnamed_socket(view, entry, kind)) {
		use->unknown_ns += ns;
		return;
	}
	use->ns[use_of(view, entry, kind)] += ns;
	if (run_state_runnable(entry->state) || !is_queue(kind) ||
	    profile_wait(view_profile(view), entry->wait)->timed)
		return;
	use->queue_ns += ns;
	if (ns > use->queue_most_ns) {
		use->queue_most_ns = ns;
		use->queue = function[own_place(own, function, depth)];
	}
}

/* Sockets without a name are taken for those of the thread that have one. */
static void
divide_unknown(struct thread_use *use)
{
	const bool others = use->ns[USE_FOR_OTHERS] > 0;

	use->ns[others ? USE_FOR_OTHERS : USE_FOR_WORK] += use->unknown_ns;
}

/* The sums of the threads that begin with one function. */
struct pool_sum {
	uint32_t function, threads;
	int64_t wall_ns, others_ns;
	double free; /* sum of the shares of time in which threads waited for work */
};

static bool
is_busy(const struct pool_sum *sum)
{
	return sum->threads >= 2 && 1 - sum->free >= BUSY_LEAST &&
	       (double)sum->others_ns >= OTHERS_LEAST * (double)sum->wall_ns;
}

/* Finds the busy pool with the most time. */
static bool
find_pool(const struct thread_use *use, size_t threads, double run_ns, struct pool *out)
{
	struct table of_function = { 0 }; /* (function; 0) -> sum */
	struct pool_sum *sum = NULL;
	size_t capacity = 0;
	int64_t most_ns = 0;

	for (size_t i = 0; i < threads; i++) {
		uint32_t at;

		/* A thread that has not run at all had nothing to do but this one wait. */
		if (use[i].begins == UINT32_MAX || use[i].wall_ns <= 0 ||
		    use[i].ns[USE_RUNS] <= 0 || (double)use[i].wall_ns < LIVES_LEAST * run_ns)
			continue;
		sum = table_row(&of_function, (uint64_t[]){ use[i].begins, 0 }, sum, &capacity,
				sizeof(*sum), &at);
		sum[at].function = use[i].begins;
		sum[at].threads++;
		sum[at].wall_ns += use[i].wall_ns;
		sum[at].others_ns += use[i].ns[USE_FOR_OTHERS];
		sum[at].free += (double)use[i].ns[USE_FOR_WORK] / (double)use[i].wall_ns;
	}
	for (size_t i = 0; i < of_function.count; i++) {
		if (!is_busy(&sum[i]) || sum[i].wall_ns <= most_ns)
			continue;
		most_ns = sum[i].wall_ns;
		*out = (struct pool){ .function = sum[i].function,
				      .threads = sum[i].threads,
				      .busy = 1 - sum[i].free,
				      .queue = UINT32_MAX };
	}
	free(sum);
	table_release(&of_function);
	return most_ns > 0;
}

/* Finds the longest wait of a queue among threads that do not belong to the pool. */
static void
find_queue(const struct thread_use *use, size_t threads, struct pool *pool)
{
	int64_t most_ns = 0;

	for (size_t i = 0; i < threads; i++) {
		if (use[i].begins == pool->function || use[i].queue_most_ns <= most_ns ||
		    (double)use[i].queue_ns < QUEUE_LEAST * (double)use[i].wall_ns)
			continue;
		most_ns = use[i].queue_most_ns;
		pool->queue = use[i].queue;
	}
}

bool
pools_find_busy(const struct view *view, const struct own *own, struct pool *out)
{
	const struct profile *profile = view_profile(view);
	const size_t threads = profile_thread_count(profile);
	const double run_ns = (double)profile_wall_ns(profile);
	struct thread_use *use = xcalloc(threads + 1, sizeof(*use));
	bool found;

	for (size_t i = 0; i < threads; i++)
		use[i].begins = UINT32_MAX;
	for (size_t i = 0; i < profile_entry_count(profile); i++) {
		const struct profile_entry *entry = profile_entry(profile, i);

		if (!profile_thread(profile, entry->thread)->is_green)
			add_entry(view, own, entry, &use[entry->thread]);
	}
	for (size_t i = 0; i < threads; i++)
		divide_unknown(&use[i]);
	found = find_pool(use, threads, run_ns, out);
	if (found)
		find_queue(use, threads, out);
	free(use);
	return found;
}
