/* SPDX-License-Identifier: MIT */
/* green_tasks.c - reads the green tasks that no thread runs, once a tick. */
#include <stdlib.h>

#include "sampler/tasks/green_internal.h"
#include "sampler/threads_internal.h"

/* Most tasks read at a tick, 20 ms of work; of more tasks a random part is read. */
#define TASKS_MOST 20000
/* A stack that the task's count of runs shows as unchanged is still read once in this number of
 * ticks: the count is modulo 256. */
#define CHECK_TICKS 16

void
green_init(struct green_tasks *green)
{
	green->stride = 1;
	table_init(&green->by_address);
	table_init(&green->waits);
	table_init(&green->crowds);
	snapshot_init(&green->snapshot);
	chain_init(&green->chain);
}

void
green_release(struct green_tasks *green)
{
	table_release(&green->by_address);
	table_release(&green->waits);
	table_release(&green->crowds);
	snapshot_release(&green->snapshot);
	chain_release(&green->chain);
	free(green->of_slot);
	free(green->task);
	free(green->bytes);
	free(green->held);
	free(green->held_size);
	free(green->held_at);
	free(green->held_bytes);
	free(green->second);
}

/* --- readings ------------------------------------------------------------------------------- */

static struct sampled_thread *
thread_of(struct green_tasks *green, const struct green_task *task)
{
	return task->tid > 0 ? threads_find(green->threads, task->tid) : NULL;
}

/* True if the sample of the task's thread belongs to the task, now or when it is completed. */
static bool
is_with_thread(struct green_tasks *green, const struct green_task *task,
	       const struct known_task *of)
{
	const struct sampled_thread *thread = thread_of(green, task);

	if (of->carried == green->tick->number)
		return true;
	if (thread == NULL)
		return false;
	/* The thread still sleeps, or is not observed at this tick, or its stop is late. */
	return thread->green_task == of->unit || thread->last_tick != green->tick->number ||
	       thread->late != NULL;
}

static void
see(struct green_tasks *green, uint32_t slot, const struct green_task *task, bool again)
{
	struct green_sight *sight = &green->sight[green->sights];

	*sight = (struct green_sight){ .slot = slot, .task = *task };
	sight->of = green_find(green, task,
			       runtimes_green_task_words(green->process->runtimes, slot),
			       green->of_slot[slot]);
	green->of_slot[slot] = sight->of;
	if (green_known(green, sight)->carried == green->tick->number)
		return;
	switch (task->state) {
	case GREEN_TASK_NONE:
		return;
	case GREEN_TASK_RUNNING:
	case GREEN_TASK_CALLING:
		if (is_with_thread(green, task, green_known(green, sight)))
			return;
		break;
	case GREEN_TASK_READY:
	case GREEN_TASK_WAITING:
		if (task->counts_runs && green_is_in_place(green, sight) &&
		    (green->tick->number + sight->of) % CHECK_TICKS != 0)
			green_add_sample(green, sight, green_known(green, sight)->stack);
		else
			green->sights++;
		return;
	case GREEN_TASK_MOVING:
		break;
	}
	if (!again)
		green->slot[green->again++] = slot;
	else
		/* The sample of its thread is of an earlier moment. */
		green_fail(green, sight,
			   task->state == GREEN_TASK_MOVING || thread_of(green, task) != NULL ?
				   FAILURE_TASK_MOVED :
				   FAILURE_TASK_UNCAUGHT);
}

/*
 * Reads tasks a second time that run on a thread whose sample belongs to another task, or whose
 * stack is being moved: they began that just now, and may wait again.
 */
static void
read_again(struct green_tasks *green)
{
	const size_t count = green->again;

	green->again = 0;
	if (count == 0)
		return;
	green_look(green, green->slot, count, green->look);
	for (size_t i = 0; i < count; i++)
		if (green->look[i].state != GREEN_TASK_NONE)
			see(green, green->slot[i], &green->look[i], true);
}

static void
look_at_slots(struct green_tasks *green, size_t count)
{
	green_look(green, green->slot, count, green->look);
	green->again = 0;
	for (size_t i = 0; i < count; i++) {
		if (green->look[i].state == GREEN_TASK_NONE)
			continue;
		green->parked += green->look[i].state != GREEN_TASK_RUNNING &&
				 green->look[i].state != GREEN_TASK_CALLING;
		green->ready += green->look[i].state == GREEN_TASK_READY;
		/* green->slot is written up to green->again <= i alone. */
		see(green, green->slot[i], &green->look[i], false);
	}
	green_collect(green);
	late_serve(green->late);
	/* In a call of its own: a call reads slots in ascending order. */
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
	green->of_slot = xgrow(green->of_slot, &green->of_slot_capacity, slots,
			       sizeof(*green->of_slot));
	while (green->of_slots < slots)
		green->of_slot[green->of_slots++] = UINT32_MAX;
}

static void
look_at_all(struct green_tasks *green, size_t slots)
{
	size_t count = 0;

	green->stride = 1;
	if (!green->all)
		green->stride = ((uint64_t)slots + TASKS_MOST - 1) / TASKS_MOST * green->pace->thin;
	green->parked = green->ready = 0;
	table_clear(&green->crowds);
	/* One random slot of each `stride`: a fixed one would favour tasks created in turns. */
	for (uint64_t from = 0; from < slots; from += green->stride) {
		const uint64_t at = from + rng_next(green->rng) % green->stride;

		if (at >= slots)
			break;
		green->slot[count++] = (uint32_t)at;
		if (count == TASKS_AT_ONCE) {
			look_at_slots(green, count);
			late_serve(green->late);
			count = 0;
		}
	}
	if (count > 0)
		look_at_slots(green, count);
}

static void
tick(struct green_tasks *green, size_t slots)
{
	struct run_stats *stats = green->stats;

	green->last_tick = green->tick->number;
	make_room(green, slots);
	look_at_all(green, slots);
	profile_set_ready(green->profile, (uint32_t)(green->ready * green->stride));
	if (green->parked * green->stride > stats->tasks_most)
		stats->tasks_most = (uint32_t)(green->parked * green->stride);
	if (green->stride > stats->tasks_thinnest)
		stats->tasks_thinnest = (uint32_t)green->stride;
	/* Most known tasks have ended or moved. Not before the reading, which needs the tasks that
	 * threads carried at this tick. */
	if (green->count > 2 * slots + TASKS_AT_ONCE)
		green_forget(green);
}

void
green_tick(struct green_tasks *green)
{
	size_t slots;

	if (!green_are_wanted(green))
		return;
	slots = green_are_held(green) ? green->held_count :
					runtimes_green_task_slots(green->process->runtimes);
	if (slots > 0)
		tick(green, slots);
}
