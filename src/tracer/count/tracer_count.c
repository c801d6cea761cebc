/* SPDX-License-Identifier: MIT */
/* tracer_count.c - begins and ends the counting of executions by breakpoints, and clears every
 * breakpoint at the end. */
#include "wallsample/tracer/tracer_count.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/count/counting_internal.h"
#include "tracer/stop_internal.h"

/* Longest time for which counting_begin waits until every thread has stopped once. A thread that
 * stops later gets its breakpoints then. */
#define BEGIN_BOUND_NS NS_PER_SEC

/* Interval at which tracer_count_stop interrupts again the threads that have not stopped yet. */
#define LEAVE_ROUND_NS (20 * NS_PER_MS)

/* Seizes the threads of `tids` that are not seized yet. Returns the number that were seized. */
static size_t
seize_new(struct tracer *tracer, const pid_t *tids, size_t count)
{
	struct counting *counting = tracer->counting;
	const size_t before = counting->tracees.count;

	for (size_t i = 0; i < count; i++) {
		if (counting_has(tracer, tids[i]))
			continue;
		if (counting_seize(tracer, tids[i]) == EPERM)
			counting->refused = true;
		else if (counting_has(tracer, tids[i]))
			stop_interrupt(tids[i]);
	}
	return counting->tracees.count - before;
}

/* Seizes all threads. Reads the list of threads until all in it are seized, because a thread that
 * is not seized yet may create another during the reading. */
static void
seize_all(struct tracer *tracer)
{
	pid_t *tids = NULL;
	size_t capacity = 0, count;

	do
		count = process_list_all_threads(tracer->process, &tids, &capacity);
	while (seize_new(tracer, tids, count) > 0);
	free(tids);
	tracer->quiet = false;
}

static size_t
count_unset(const struct tracees *tracees)
{
	size_t unset = 0;

	for (size_t i = 0; i < tracees->count; i++)
		unset += !tracees->item[i].set;
	return unset;
}

static void
counting_begin(struct tracer *tracer)
{
	struct counting *counting = tracer->counting;
	struct waiting waiting = { .deadline_ns = clock_now_ns() + BEGIN_BOUND_NS };

	counting->state = COUNT_RUNNING;
	counting->ending = false;
	seize_all(tracer);
	while (count_unset(&counting->tracees) > 0 && counting->error == 0 &&
	       tracer_wait_once(tracer, &waiting, 0))
		;
	watchdog_set(&tracer->watchdog, 0);
	if (counting->tracees.count == 0 && counting->state == COUNT_RUNNING)
		counting->state = COUNT_GONE;
}

static int
explain_failure(const struct counting *counting, pid_t pid, struct error *err)
{
	if (counting->error == ENOSPC)
		return error_set(err, ERROR_SYSTEM,
				 "cannot set hardware breakpoints in process %d: others use them "
				 "(a debugger, perf), or the processor has fewer",
				 (int)pid);
	if (counting->error != 0)
		return error_set(err, ERROR_SYSTEM,
				 "cannot set hardware breakpoints in process %d: %s", (int)pid,
				 strerror(counting->error));
	if (counting->refused)
		return error_set(err, ERROR_NOT_PERMITTED,
				 "the threads of process %d cannot be traced for good: another "
				 "tracer has them, or it is not permitted",
				 (int)pid);
	return error_set(err, ERROR_NO_PROCESS, "process %d has gone", (int)pid);
}

static void
counting_forget(struct tracer *tracer)
{
	free(tracer->counting->tracees.item);
	free(tracer->counting);
	tracer->counting = NULL;
}

int
tracer_count(struct tracer *tracer, const uint64_t *address, size_t count, struct error *err)
{
	struct counting *counting = xcalloc(1, sizeof(*counting));
	int rc = 0;

	if (count > TRACER_COUNT_MOST)
		count = TRACER_COUNT_MOST;
	counting->breakpoints.count = count;
	for (size_t i = 0; i < count; i++)
		counting->breakpoints.address[i] = address[i];
	counting->tracees.load = tracer->seized.load;
	tracer->counting = counting;
	counting_begin(tracer);
	if (counting->error != 0 || counting->tracees.count == 0) {
		rc = explain_failure(counting, tracer->process->pid, err);
		tracer_count_stop(tracer, UINT64_MAX);
		counting_forget(tracer);
	}
	return rc;
}

void
tracer_counts(const struct tracer *tracer, uint64_t total[TRACER_COUNT_MOST])
{
	for (size_t i = 0; i < TRACER_COUNT_MOST; i++)
		total[i] = tracer->counting != NULL ? tracer->counting->total[i] : 0;
}

enum tracer_count_end
tracer_count_state(const struct tracer *tracer)
{
	return tracer->counting != NULL ? tracer->counting->state : COUNT_OFF;
}

/* Interrupts all threads; drops those that are no longer tracees. */
static void
interrupt_all(struct tracees *tracees)
{
	for (size_t i = tracees->count; i-- > 0;)
		if (!stop_interrupt(tracees->item[i].tid))
			tracees_remove(tracees, tracees->item[i].tid);
}

/* Interrupts and adds the threads that the kernel has seized at their creation, and that have not
 * stopped yet. One that the list lacks would be left stopped. */
static void
find_new_tracees(struct tracer *tracer)
{
	pid_t *tids = NULL;
	size_t capacity = 0, count = process_list_all_threads(tracer->process, &tids, &capacity);

	for (size_t i = 0; i < count; i++)
		if (!counting_has(tracer, tids[i]) && stop_interrupt(tids[i]))
			tracees_add(&tracer->counting->tracees, tids[i]);
	free(tids);
}

size_t
tracer_count_stop(struct tracer *tracer, uint64_t bound_ns)
{
	struct counting *counting = tracer->counting;
	const uint64_t began = clock_now_ns();

	if (counting == NULL || counting->state != COUNT_RUNNING)
		return 0;
	tracer_release_all_held(tracer);
	counting->ending = true;
	find_new_tracees(tracer);
	while (counting->tracees.count > 0 && counting->state == COUNT_RUNNING &&
	       clock_now_ns() - began < bound_ns) {
		struct waiting waiting = { .deadline_ns = clock_now_ns() + LEAVE_ROUND_NS };

		interrupt_all(&counting->tracees);
		while (counting->tracees.count > 0 && tracer_wait_once(tracer, &waiting, 0))
			;
		watchdog_set(&tracer->watchdog, 0);
		find_new_tracees(tracer);
	}
	return counting->state == COUNT_RUNNING ? counting->tracees.count : 0;
}

void
counting_resume(struct tracer *tracer)
{
	if (tracer->counting != NULL && tracer->counting->state == COUNT_RUNNING)
		counting_begin(tracer);
}

void
counting_free(struct tracer *tracer)
{
	if (tracer->counting == NULL)
		return;
	/* The next hit of a breakpoint that is left would end the target: this waits without a
	 * bound. */
	tracer_count_stop(tracer, UINT64_MAX);
	counting_forget(tracer);
}
