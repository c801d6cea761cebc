/* SPDX-License-Identifier: MIT */
/* green_tasks.c - reads the green tasks (green_task.h) that no thread runs, once a tick. */
#include <stdlib.h>

#include "sampler/tasks/green_internal.h"
#include "sampler/threads_internal.h"

/* Most slots for tasks that are read at a tick, except in a dump; this number takes 20 ms. Of more
 * slots a random part is read. */
#define GREEN_MOST 20000
/* A task whose count of runs (green_task.runs) is that of its last unwinding counts as unchanged,
 * and its stack is not read. But once in this number of ticks it is read, because the count wraps
 * at 256. */
#define CHECK_TICKS 16

struct green_tasks *
green_create(struct run *run, struct sampled_process *process)
{
	struct green_tasks *green = xcalloc(1, sizeof(*green));

	green->run = run;
	green->process = process;
	green->stride = 1;
	snapshot_init(&green->snapshot);
	chain_init(&green->chain);
	return green;
}

void
green_free(struct green_tasks *green)
{
	table_release(&green->by_address);
	table_release(&green->waits);
	table_release(&green->crowds);
	snapshot_release(&green->snapshot);
	chain_release(&green->chain);
	free(green->guess);
	free(green->known);
	free(green->bytes);
	free(green->held);
	free(green->held_stack);
	free(green->held_bytes);
	free(green->second);
	free(green);
}

/* --- readings ------------------------------------------------------------------------------- */

static struct sampled_thread *
thread_of(struct green_tasks *green, const struct green_task *task)
{
	return task->tid > 0 ? threads_find(&green->run->threads, task->tid) : NULL;
}

/* True if the sample of the thread that runs the task is also the task's sample, or will be when it
 * is completed. */
static bool
is_with_thread(struct green_tasks *green, const struct green_task *task,
	       const struct known_green *known)
{
	const struct sampled_thread *thread = thread_of(green, task);

	if (known->carried == green->run->tick.number)
		return true;
	if (thread == NULL)
		return false;
	/* The thread still sleeps in this task, or is not observed at this tick, or its stop is
	 * late. */
	return thread->green_task == known->record ||
	       thread->last_tick != green->run->tick.number || thread->late != NULL;
}

/* Handles a reading of a task. If no thread was sampled with the task at this tick, adds its
 * sample, or keeps the reading for green_collect, or keeps the slot for a second reading. `again`:
 * this was the second reading. */
static void
take_reading(struct green_tasks *green, uint32_t slot, const struct green_task *task, bool again)
{
	struct green_reading *reading = &green->reading[green->readings];

	*reading = (struct green_reading){ .slot = slot, .value = *task };
	reading->known = green_find(green, task,
				    runtimes_green_task_words(green->process->runtimes, slot),
				    green->guess[slot]);
	green->guess[slot] = reading->known;
	if (green_known(green, reading)->carried == green->run->tick.number)
		return;
	switch (task->state) {
	case GREEN_TASK_NONE:
		return;
	case GREEN_TASK_RUNNING:
	case GREEN_TASK_CALLING:
		if (is_with_thread(green, task, green_known(green, reading)))
			return;
		break;
	case GREEN_TASK_READY:
	case GREEN_TASK_WAITING:
		if (task->counts_runs && green_is_in_place(green, reading) &&
		    (green->run->tick.number + reading->known) % CHECK_TICKS != 0)
			green_add_sample(green, reading, green_known(green, reading)->stack);
		else
			green->readings++;
		return;
	case GREEN_TASK_MOVING:
		break;
	}
	if (!again)
		green->slot[green->again++] = slot;
	else
		/* TASK_MOVED: the stack is being moved, or a thread of the list began to run the
		 * task after that thread was sampled. TASK_UNCAUGHT: the thread that runs the task
		 * is not known. */
		green_fail(green, reading,
			   task->state == GREEN_TASK_MOVING || thread_of(green, task) != NULL ?
				   FAILURE_TASK_MOVED :
				   FAILURE_TASK_UNCAUGHT);
}

/*
 * Reads some tasks a second time: those that ran on a thread whose sample is of another task, and
 * those whose stack was being moved. They began to run, or to be moved, during this tick, and may
 * wait again by now.
 */
static void
read_again(struct green_tasks *green)
{
	const size_t count = green->again;

	green->again = 0;
	if (count == 0)
		return;
	green_read(green, green->slot, count, green->batch);
	for (size_t i = 0; i < count; i++)
		if (green->batch[i].state != GREEN_TASK_NONE)
			take_reading(green, green->slot[i], &green->batch[i], true);
}

static void
green_read_slots(struct green_tasks *green, size_t count)
{
	green_read(green, green->slot, count, green->batch);
	green->again = 0;
	for (size_t i = 0; i < count; i++) {
		if (green->batch[i].state == GREEN_TASK_NONE)
			continue;
		green->parked += green->batch[i].state != GREEN_TASK_RUNNING &&
				 green->batch[i].state != GREEN_TASK_CALLING;
		green->ready += green->batch[i].state == GREEN_TASK_READY;
		/* take_reading writes only green->slot[green->again], and green->again <= i: it
		 * overwrites no slot that is still to be used. */
		take_reading(green, green->slot[i], &green->batch[i], false);
	}
	green_collect(green);
	late_serve(green->run);
	/* The second readings need calls of their own, because one call of
	 * runtimes_read_green_tasks reads slots in ascending order. */
	read_again(green);
	green_collect(green);
}

void
green_forget(struct green_tasks *green)
{
	table_clear(&green->by_address);
	table_clear(&green->waits);
	green->count = 0;
}

static void
make_room(struct green_tasks *green, size_t slots)
{
	green->guess = xgrow(green->guess, &green->guess_capacity, slots, sizeof(*green->guess));
	while (green->guesses < slots)
		green->guess[green->guesses++] = UINT32_MAX;
}

static void
green_read_all(struct green_tasks *green, size_t slots)
{
	size_t count = 0;

	green->stride = 1;
	if (!green->run->config.all_green)
		green->stride = ((uint64_t)slots + GREEN_MOST - 1) / GREEN_MOST *
				green->run->pace.thin;
	green->parked = green->ready = 0;
	table_clear(&green->crowds);
	/* One random slot of each `stride` slots: tasks of one kind may be in every n-th slot, if
	 * the program creates kinds of tasks in turns, and fixed slots would favour one kind. */
	for (uint64_t from = 0; from < slots; from += green->stride) {
		const uint64_t at = from + rng_next(&green->run->rng) % green->stride;

		if (at >= slots)
			break;
		green->slot[count++] = (uint32_t)at;
		if (count == GREEN_AT_ONCE) {
			green_read_slots(green, count);
			late_serve(green->run);
			count = 0;
		}
	}
	if (count > 0)
		green_read_slots(green, count);
}

static void
read_tick(struct green_tasks *green, size_t slots)
{
	struct run_stats *stats = &green->run->stats;

	green->last_tick = green->run->tick.number;
	make_room(green, slots);
	green_read_all(green, slots);
	profile_set_ready(green->run->profile, (uint32_t)(green->ready * green->stride));
	if (green->parked * green->stride > stats->green_most)
		stats->green_most = (uint32_t)(green->parked * green->stride);
	if (green->stride > stats->green_thinnest)
		stats->green_thinnest = (uint32_t)green->stride;
	/*
	 * All known tasks are dropped when there are more than twice as many as slots: most of them
	 * have ended, or their structure lies elsewhere by now. They are dropped after all tasks
	 * were read, because reading needs `carried` of the tasks that threads ran at this tick.
	 */
	if (green->count > 2 * slots + GREEN_AT_ONCE)
		green_forget(green);
}

void
green_tick(struct green_tasks *green)
{
	size_t slots;

	if (!green_is_wanted(green))
		return;
	slots = green_is_held(green) ? green->held_count :
				       runtimes_green_task_slots(green->process->runtimes);
	if (slots > 0)
		read_tick(green, slots);
}
