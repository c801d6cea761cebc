/* SPDX-License-Identifier: MIT */
/* look.c - looks at threads while a tick takes the CPUs of the target. */
#include "sampler/look_internal.h"

#include <stdlib.h>

#include "sampler/occupy_internal.h"
#include "sampler/pipeline_internal.h"

/* Most due threads whose last switch is read, at 3 us each, and most of the threads that the search
 * finds runnable. Reading ends earlier once a thread is found for each CPU: the limit
 * matters if many threads wait for a CPU, or fall asleep often. */
#define SWITCHES_MOST 24

/* Most threads that a search reads, at 1.5 us each, and the time after the tick was due at which it
 * ends: the stops have to be requested before the occupation ends at HOLD_NS
 * (occupier_internal.h). */
#define SEARCH_MOST 48
#define SEARCH_NS (200 * NS_PER_US)

/* Reads the thread's counters. Reads its system call, too, if it was not asleep at its last
 * observation or has been scheduled in since. Returns false if they cannot be read, or if the
 * thread is late, held, or without schedstat. */
static bool
look_read(const struct observation *observation, struct look *look)
{
	struct sampled_thread *thread = observation->thread;
	const struct process *process = thread->process->process;

	*look = (struct look){ .settled = false };
	/* The counts of a status file do not tell whether a thread runs: sched_parse_status. */
	if (thread->late != NULL || thread->held || thread->watch.source != SCHED_FROM_SCHEDSTAT ||
	    watch_read_sched(&thread->watch, process, &look->sched) != WATCH_OK)
		return false;
	look->at_ns = clock_now_ns();
	look->taken = !thread->asleep || look->sched.switches != thread->sched.switches;
	return !look->taken || thread_read_call(thread, &look->sched, &look->call) == WATCH_OK;
}

void
look_compare(struct observation *observation, const struct sched *sched, struct syscall_info *call)
{
	const struct look *look = &observation->look;

	if (!look->taken || look->sched.switches != sched->switches)
		return;
	if (!look->call.running && call->running) {
		*call = look->call;
		observation->restless = true;
	} else if (look->call.running && look->sched.cpu_ns != sched->cpu_ns) {
		observation->occupied = OCCUPIED_RAN;
	}
}

void
look_first(const struct run *run, struct observation *observation)
{
	struct look look;

	if (!look_read(observation, &look))
		return;
	look.woken = !look.taken && thread_is_woken(run, observation->thread);
	observation->look = look;
}

static void
settle(const struct run *run, struct observation *observation)
{
	const struct look *first = &observation->look;
	struct look look;

	if (!look_read(observation, &look))
		return;
	if (look.taken)
		look_compare(observation, &look.sched, &look.call);
	/* A thread that was still asleep at the first look was woken during the occupation, and
	 * counts as asleep. */
	look.woken = !look.taken && (first->at_ns == 0 || first->woken) &&
		     thread_is_woken(run, observation->thread);
	look.settled = true;
	observation->look = look;
}

/* True if the thread may have been on a CPU. Of the sleeping threads only restless ones count: the
 * others fall asleep so seldom that a reading is not worth its time. */
static bool
is_candidate(const struct run *run, const struct observation *observation, bool running)
{
	const struct look *look = &observation->look;

	return look->settled && look->taken && look->call.running == running &&
	       (running || observe_restless(run, observation->thread, &look->sched));
}

/* Sets observation.occupied of a thread. */
static void
find_switch(const struct run *run, struct observation *one)
{
	const struct process *process = one->thread->process->process;
	uint64_t switched_ns = 0;

	/* The value is 0 for a thread that the kernel has moved to another CPU since. */
	if (occupy_missing(run->occupy) > 0 &&
	    (!watch_read_switch(&one->thread->watch, process, &switched_ns) || switched_ns == 0))
		return;
	occupy_find(run->occupy, switched_ns, !one->look.call.running, &one->occupied);
}

/*
 * Sets observation.occupied of the threads that lost their CPU to wallsample, or fell asleep while
 * wallsample waited for it. Runnable threads are examined first. If one thread is found for each
 * CPU, the other runnable threads were waiting for a CPU.
 */
static void
find_occupied(const struct run *run, struct observation *observation, size_t count)
{
	unsigned reads = 0;

	for (size_t i = 0; i < 2 * count; i++) {
		const bool running = i < count;
		struct observation *one = &observation[running ? i : i - count];
		const bool missing = occupy_missing(run->occupy) > 0;

		if (!is_candidate(run, one, running) || reads >= SWITCHES_MOST ||
		    (!missing && !running))
			continue;
		reads += missing;
		find_switch(run, one);
	}
}

/* Makes the settled look at all threads, and finds out which of them were on a CPU when the timers
 * of the tick expired (observation.occupied). */
static void
settle_all(const struct run *run, struct observation *observation, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i % OBSERVED_AT_ONCE == 0)
			late_serve(run);
		settle(run, &observation[i]);
	}
	find_occupied(run, observation, count);
}

/* --- threads that are not due ------------------------------------------------------------ */

bool
look_seeks(const struct sampled_thread *thread)
{
	return thread->seen && thread->asleep && !thread->woken && !thread->backed_off &&
	       thread->selected && !thread->excluded && !thread->gone && thread->late == NULL &&
	       !thread->held;
}

static bool
is_sought(const struct run *run, const struct sampled_thread *thread)
{
	return thread->next_tick > run->tick.number && look_seeks(thread);
}

static size_t
count_sought(const struct run *run)
{
	size_t count = 0;

	for (size_t i = 0; i < run->threads.count; i++)
		count += is_sought(run, run->threads.thread[i]);
	return count;
}

/* Reads sought threads in the order of the list, from a random one on, until SEARCH_MOST are read
 * or SEARCH_NS have passed since the tick was due. Begins observations in `out` of the runnable
 * ones; *count: their number. Returns the number of threads read; each of the `sought` threads has
 * the same chance to be one of them. */
static size_t
look_for_runnable(struct run *run, size_t sought, struct observation *out, size_t *count)
{
	const struct thread_list *threads = &run->threads;
	size_t skip = rng_next(&run->rng) % sought, first = 0, read = 0;

	while (!is_sought(run, threads->thread[first]) || skip-- > 0)
		first++;
	*count = 0;
	for (size_t i = 0; i < threads->count && read < SEARCH_MOST; i++) {
		struct sampled_thread *thread = threads->thread[(first + i) % threads->count];
		struct observation *one = &out[*count];

		if (!is_sought(run, thread))
			continue;
		if (clock_now_ns() > run->occupied_ns[0] + SEARCH_NS)
			break;
		if (++read % OBSERVED_AT_ONCE == 0)
			late_serve(run);
		if (!watch_is_runnable(&thread->watch, thread->process->process))
			continue;
		*one = select_observation(&run->tick, thread);
		one->look.settled = look_read(one, &one->look);
		*count += is_candidate(run, one, true);
	}
	return read;
}

/* Keeps those of the runnable threads that were on a CPU. Returns their number. Sets *examined to
 * the number of threads in the random part of all that is examined. */
static size_t
keep_occupied(struct run *run, struct observation *observation, size_t count, size_t *examined)
{
	const size_t first = count > 0 ? rng_next(&run->rng) % count : 0;
	size_t kept = 0;

	*examined = count < SWITCHES_MOST ? count : SWITCHES_MOST;
	for (size_t i = 0; i < *examined && occupy_missing(run->occupy) > 0; i++)
		find_switch(run, &observation[(first + i) % count]);
	for (size_t i = 0; i < count; i++)
		if (observation[i].occupied == OCCUPIED_RUNNING)
			observation[kept++] = observation[i];
	return kept;
}

/*
 * Finds threads that were on a CPU when the timers expired and are not due (because of
 * --max-overhead). Appends them to the `count` observations of due threads, and returns the new
 * number. Sets tick.searched (looks_take).
 */
static size_t
search(struct run *run, struct observation *observation, size_t count)
{
	const size_t sought = count < LOOKS_MOST ? count_sought(run) : 0;
	size_t read = sought < SEARCH_MOST ? sought : SEARCH_MOST;
	size_t runnable = 0, examined = 0, kept = 0;

	if (sought == 0)
		return count;
	if (occupy_missing(run->occupy) > 0) {
		read = look_for_runnable(run, sought, observation + count, &runnable);
		kept = keep_occupied(run, observation + count, runnable, &examined);
	}
	run->tick.searched = (double)read / (double)sought;
	if (runnable > 0)
		run->tick.searched *= (double)examined / (double)runnable;
	return count + kept;
}

/* --- a tick ---------------------------------------------------------------------------------- */

/* True if the thread is to be observed while the CPUs are occupied: it is runnable, was on a CPU,
 * or will soon leave its stack. */
static bool
is_first(const struct run *run, const struct observation *observation)
{
	const struct look *look = &observation->look;

	return look->taken && (look->call.running || observation->occupied == OCCUPIED_RUNNING ||
			       observation->occupied == OCCUPIED_RAN || observation->restless ||
			       (observation->thread->seen &&
				observe_restless(run, observation->thread, &look->sched)));
}

/* Moves the observations that are to be made first to the front; stores where the others are. */
static void
divide(struct looks *looks, const struct run *run)
{
	looks->first = 0;
	for (size_t i = 0; i < looks->count; i++) {
		const struct observation one = looks->item[i];

		if (!is_first(run, &one))
			continue;
		one.thread->first_tick = run->tick.number;
		looks->item[i] = looks->item[looks->first];
		looks->item[looks->first++] = one;
	}
	for (size_t i = looks->first; i < looks->count; i++) {
		looks->item[i].thread->look_tick = run->tick.number;
		looks->item[i].thread->look_at = (uint32_t)i;
	}
}

void
looks_take(struct looks *looks, struct run *run, bool all)
{
	size_t first = 0;

	if (looks->item == NULL)
		looks->item = xcalloc(LOOKS_MOST + SEARCH_MOST, sizeof(*looks->item));
	looks->count = select_due(run, all, looks->item, LOOKS_MOST);
	while (occupy_arriving(run->occupy)) {
		late_serve(run);
		if (first < looks->count)
			look_first(run, &looks->item[first++]);
	}
	occupy_span(run->occupy, run->occupied_ns);
	if (occupy_is_complete(run->occupy)) {
		settle_all(run, looks->item, looks->count);
		if (run->searches && !all)
			looks->count = search(run, looks->item, looks->count);
	}
	divide(looks, run);
}

void
looks_use(const struct looks *looks, const struct run *run, struct observation *observation,
	  size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct observation *to = &observation[i];
		const struct observation *from = &looks->item[to->thread->look_at];

		if (to->thread->look_tick != run->tick.number)
			continue;
		to->look = from->look;
		/* The thread may have run since this look. If it then slept in a known stack, the
		 * sample is that of this sleep, and the look stays valid. */
		to->look.settled &= !to->look.taken;
	}
}

void
looks_release(struct looks *looks)
{
	free(looks->item);
}
