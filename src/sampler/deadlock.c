/* SPDX-License-Identifier: MIT */
/*
 * deadlock.c - follows each waiter to who has what it waits for. Reads of different threads are of
 * different moments, so that a ring may be one that never was: it counts when it is there twice,
 * for the same things, and none of its threads has run in between.
 */
#include "deadlock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sampler_state.h"

/* Between two looks. What is never released can wait. */
#define LOOK_NS (100 * NS_PER_MS)
/* Before the look that confirms, where there is no later tick. */
#define PAUSE_NS 20000000L

#define NOBODY UINT32_MAX

/* The threads of a moment: `next` of each is who has what it waits for. */
struct graph {
	uint32_t *next;  /* index in sampler->thread, or NOBODY */
	uint32_t *ring;  /* the number of the ring that its way ends in; NOBODY: none */
	bool *in_ring;
	uint32_t rings;
	size_t count;
};

void
deadlocks_release(struct deadlocks *deadlocks)
{
	free(deadlocks->seen);
}

static uint32_t
index_of_tid(const struct sampler *sampler, pid_t tid)
{
	size_t low = 0, high = sampler->thread_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (sampler->thread[middle]->watch.tid == tid)
			return (uint32_t)middle;
		if (sampler->thread[middle]->watch.tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return NOBODY;
}

/* A wait that ends by itself is none that lasts. */
static bool
can_be_stuck(const struct tracked *thread)
{
	return thread->asleep && thread->wait.id != 0 && !thread->wait.what.timed &&
	       wait_kind_has_owner(thread->wait.what.kind);
}

static void
find_holders(struct sampler *sampler, struct graph *graph)
{
	for (size_t i = 0; i < graph->count; i++) {
		const struct tracked *thread = sampler->thread[i];
		const struct wait_owner *owner;

		graph->next[i] = graph->ring[i] = NOBODY;
		if (!can_be_stuck(thread))
			continue;
		owner = waits_owner(sampler, &thread->wait.what);
		if (owner->holder == HOLDER_THREAD)
			graph->next[i] = index_of_tid(sampler, owner->tid);
	}
}

/* Each way is walked once: it ends where there is no holder, on an earlier way, or in a ring. */
static void
find_rings(struct graph *graph)
{
	/* The way that came by; 0: none. */
	uint32_t *walk = xcalloc(graph->count + 1, sizeof(*walk));

	for (uint32_t start = 0; start < graph->count; start++) {
		uint32_t at = start, ring = NOBODY;

		while (at != NOBODY && walk[at] == 0) {
			walk[at] = start + 1;
			at = graph->next[at];
		}
		if (at != NOBODY && walk[at] == start + 1) {
			ring = graph->rings++;
			for (uint32_t i = at; !graph->in_ring[i]; i = graph->next[i])
				graph->in_ring[i] = true;
		} else if (at != NOBODY) {
			ring = graph->ring[at];
		}
		for (uint32_t i = start; i != NOBODY && walk[i] == start + 1 &&
					 graph->ring[i] == NOBODY && ring != NOBODY;
		     i = graph->next[i])
			graph->ring[i] = ring;
	}
	free(walk);
}

/* --- is it the same as the last time? ------------------------------------------------- */

/* As it is at this moment; false: it has run since it was seen to wait. */
static bool
see(struct sampler *sampler, struct tracked *thread, struct ring_thread *out)
{
	struct sched sched;

	*out = (struct ring_thread){ .tid = thread->watch.tid, .object = thread->wait.what.object };
	if (watch_read_sched(&thread->watch, sampler->process, &sched) != LOOK_OK)
		return false;
	out->switches = sched.switches;
	return sched.switches == thread->sched.switches;
}

static bool
was_seen(const struct deadlocks *deadlocks, const struct ring_thread *thread)
{
	for (size_t i = 0; i < deadlocks->seen_count; i++) {
		const struct ring_thread *seen = &deadlocks->seen[i];

		if (seen->tid == thread->tid)
			return seen->object == thread->object && seen->switches == thread->switches;
	}
	return false;
}

/* The ring in its order, then those behind it. */
static void
tell(struct sampler *sampler, const struct graph *graph, uint32_t ring, uint32_t first)
{
	struct profile_stuck *stuck = xcalloc(graph->count, sizeof(*stuck));
	size_t count = 0, in_ring;
	uint32_t at = first;

	do {
		stuck[count++].thread = at;
		at = graph->next[at];
	} while (at != first);
	in_ring = count;
	for (uint32_t i = 0; i < graph->count; i++)
		if (graph->ring[i] == ring && !graph->in_ring[i])
			stuck[count++].thread = i;
	for (size_t i = 0; i < count; i++) {
		struct tracked *thread = sampler->thread[stuck[i].thread];

		if (thread->profile_thread == UINT32_MAX)
			thread_enter_profile(sampler, thread);
		stuck[i] = (struct profile_stuck){ .thread = thread->profile_thread,
						   .wait = thread->wait.id,
						   .stack = thread->stack };
	}
	profile_add_deadlock(sampler->profile, stuck, count, in_ring);
	free(stuck);
}

/* The threads of all rings are what the next look compares with. */
static void
judge(struct sampler *sampler, const struct graph *graph)
{
	struct deadlocks *deadlocks = &sampler->deadlocks;
	struct deadlocks now = { .seen = NULL };

	for (uint32_t ring = 0; ring < graph->rings; ring++) {
		uint32_t first = NOBODY;
		bool lasts = true;

		for (uint32_t i = 0; i < graph->count; i++) {
			struct ring_thread thread;

			if (!graph->in_ring[i] || graph->ring[i] != ring)
				continue;
			first = first == NOBODY ? i : first;
			lasts &= see(sampler, sampler->thread[i], &thread) &&
				 was_seen(deadlocks, &thread);
			now.seen = xgrow(now.seen, &now.seen_capacity, now.seen_count + 1,
					 sizeof(*now.seen));
			now.seen[now.seen_count++] = thread;
		}
		if (lasts && first != NOBODY)
			tell(sampler, graph, ring, first);
	}
	free(deadlocks->seen);
	deadlocks->seen = now.seen;
	deadlocks->seen_count = now.seen_count;
	deadlocks->seen_capacity = now.seen_capacity;
}

static void
look(struct sampler *sampler)
{
	const size_t count = sampler->thread_count;
	struct graph graph = {
		.next = xcalloc(count + 1, sizeof(*graph.next)),
		.ring = xcalloc(count + 1, sizeof(*graph.ring)),
		.in_ring = xcalloc(count + 1, sizeof(*graph.in_ring)),
		.count = count,
	};

	find_holders(sampler, &graph);
	find_rings(&graph);
	judge(sampler, &graph);
	free(graph.next);
	free(graph.ring);
	free(graph.in_ring);
}

void
deadlocks_tick(struct sampler *sampler)
{
	if (sampler->tick_ns < sampler->deadlocks.next_ns)
		return;
	sampler->deadlocks.next_ns = sampler->tick_ns + LOOK_NS;
	look(sampler);
}

void
deadlocks_last(struct sampler *sampler)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	look(sampler);
	if (sampler->deadlocks.seen_count == 0)
		return;
	nanosleep(&pause, NULL);
	waits_forget_owners(sampler);
	look(sampler);
}
