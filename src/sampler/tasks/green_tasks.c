/* SPDX-License-Identifier: MIT */
/* green_tasks.c - looks at the tasks that no thread runs, once a tick. */
#include "sampler/tasks/green_internal.h"

#include <stdlib.h>

#include "sampler/pipeline_internal.h"

/* Of more than so many a random part is looked at each tick: 20 ms of work. */
#define TASKS_MOST 20000
/* A stack that is as it was, by how often its task has run, is read all the same once in so many
 * ticks: the count is one modulo 256. */
#define CHECK_TICKS 16

void
tasks_init(struct tasks *tasks)
{
	*tasks = (struct tasks){ .stride = 1 };
	table_init(&tasks->by_address);
	table_init(&tasks->waits);
	table_init(&tasks->crowds);
	snapshot_init(&tasks->snapshot);
	chain_init(&tasks->chain);
}

void
tasks_release(struct tasks *tasks)
{
	table_release(&tasks->by_address);
	table_release(&tasks->waits);
	table_release(&tasks->crowds);
	snapshot_release(&tasks->snapshot);
	chain_release(&tasks->chain);
	free(tasks->of_slot);
	free(tasks->task);
	free(tasks->bytes);
	free(tasks->held);
	free(tasks->held_size);
	free(tasks->held_at);
	free(tasks->held_bytes);
	free(tasks->second);
}

/* --- looks ---------------------------------------------------------------------------------- */

static struct tracked *
thread_of(struct sampler *sampler, const struct green_task *task)
{
	return task->tid > 0 ? thread_of_tid(sampler, task->tid) : NULL;
}

/* Its sample is, or will be, that of its thread. */
static bool
is_with_thread(struct sampler *sampler, const struct green_task *task,
	       const struct tracked_task *of)
{
	const struct tracked *thread = thread_of(sampler, task);

	if (of->carried == sampler->tick)
		return true;
	if (thread == NULL)
		return false;
	/* It sleeps since before, or is not looked at now, or has not stopped yet. */
	return thread->task == of->unit || thread->last_tick != sampler->tick ||
	       thread->late != NULL;
}

static void
see(struct sampler *sampler, uint32_t slot, const struct green_task *task, bool again)
{
	struct tasks *tasks = &sampler->tasks;
	struct task_sight *sight = &tasks->sight[tasks->sights];

	*sight = (struct task_sight){ .slot = slot, .task = *task };
	sight->of = task_find(sampler, task, runtimes_green_task_words(sampler->runtimes, slot),
			      tasks->of_slot[slot]);
	tasks->of_slot[slot] = sight->of;
	if (task_tracked(sampler, sight)->carried == sampler->tick)
		return;
	switch (task->state) {
	case GREEN_TASK_NONE:
		return;
	case GREEN_TASK_RUNNING:
	case GREEN_TASK_CALLING:
		if (is_with_thread(sampler, task, task_tracked(sampler, sight)))
			return;
		break;
	case GREEN_TASK_READY:
	case GREEN_TASK_WAITING:
		if (task->counts_runs && task_is_in_place(sampler, sight) &&
		    (sampler->tick + sight->of) % CHECK_TICKS != 0)
			task_add_sample(sampler, sight, task_tracked(sampler, sight)->stack);
		else
			tasks->sights++;
		return;
	case GREEN_TASK_MOVING:
		break;
	}
	if (!again)
		tasks->slot[tasks->again++] = slot;
	else
		/* Its thread had a sample, of what it did before it took this one up. */
		task_fail(sampler, sight,
			  task->state == GREEN_TASK_MOVING || thread_of(sampler, task) != NULL ?
				  FAILURE_TASK_MOVED : FAILURE_TASK_UNCAUGHT);
}

/*
 * A task that runs on a thread whose sample is another's, or whose stack is being moved, has begun
 * to just now: by the time that it is looked at again it may wait for the next thing.
 */
static void
look_again(struct sampler *sampler)
{
	struct tasks *tasks = &sampler->tasks;
	const size_t count = tasks->again;

	tasks->again = 0;
	if (count == 0)
		return;
	tasks_look(sampler, tasks->slot, count, tasks->look);
	for (size_t i = 0; i < count; i++)
		if (tasks->look[i].state != GREEN_TASK_NONE)
			see(sampler, tasks->slot[i], &tasks->look[i], true);
}

static void
look_at_slots(struct sampler *sampler, size_t count)
{
	struct tasks *tasks = &sampler->tasks;

	tasks_look(sampler, tasks->slot, count, tasks->look);
	tasks->again = 0;
	for (size_t i = 0; i < count; i++) {
		if (tasks->look[i].state == GREEN_TASK_NONE)
			continue;
		tasks->parked += tasks->look[i].state != GREEN_TASK_RUNNING &&
				 tasks->look[i].state != GREEN_TASK_CALLING;
		tasks->ready += tasks->look[i].state == GREEN_TASK_READY;
		/* tasks->slot is written up to tasks->again <= i alone. */
		see(sampler, tasks->slot[i], &tasks->look[i], false);
	}
	tasks_collect(sampler);
	late_serve(sampler);
	/* By themselves: slots are looked at in ascending order. */
	look_again(sampler);
	tasks_collect(sampler);
}

void
tasks_forget(struct tasks *tasks)
{
	table_clear(&tasks->by_address);
	table_clear(&tasks->waits);
	tasks->count = 0;
}

static void
make_room(struct tasks *tasks, size_t slots)
{
	tasks->of_slot = xgrow(tasks->of_slot, &tasks->of_slot_capacity, slots,
			       sizeof(*tasks->of_slot));
	while (tasks->of_slots < slots)
		tasks->of_slot[tasks->of_slots++] = UINT32_MAX;
}

static void
look_at_all(struct sampler *sampler, size_t slots)
{
	struct tasks *tasks = &sampler->tasks;
	size_t count = 0;

	tasks->stride = 1;
	if (!sampler->config.all_tasks)
		tasks->stride = ((uint64_t)slots + TASKS_MOST - 1) / TASKS_MOST *
				sampler->pace.thin;
	tasks->parked = tasks->ready = 0;
	table_clear(&tasks->crowds);
	/* Any one of so many in a row: those that were made in turns are not seen in turns. */
	for (uint64_t from = 0; from < slots; from += tasks->stride) {
		const uint64_t at = from + rng_next(&sampler->rng) % tasks->stride;

		if (at >= slots)
			break;
		tasks->slot[count++] = (uint32_t)at;
		if (count == TASKS_AT_ONCE) {
			look_at_slots(sampler, count);
			late_serve(sampler);
			count = 0;
		}
	}
	if (count > 0)
		look_at_slots(sampler, count);
}

/* Who wants certain threads alone has no use for what runs on none. */
bool
tasks_are_wanted(const struct sampler *sampler)
{
	return sampler->runtimes != NULL && !sampler->config.threads_only &&
	       sampler->config.selected == NULL && sampler->tasks.last_tick != sampler->tick;
}

static void
tick(struct sampler *sampler, size_t slots)
{
	struct tasks *tasks = &sampler->tasks;
	struct run_stats *stats = &sampler->stats;

	tasks->last_tick = sampler->tick;
	make_room(tasks, slots);
	look_at_all(sampler, slots);
	profile_set_ready(sampler->profile, (uint32_t)(tasks->ready * tasks->stride));
	if (tasks->parked * tasks->stride > stats->tasks_most)
		stats->tasks_most = (uint32_t)(tasks->parked * tasks->stride);
	if (tasks->stride > stats->tasks_thinnest)
		stats->tasks_thinnest = (uint32_t)tasks->stride;
	/* So many have ended, or live no more at their address. Not before: who was carried at this
	 * tick is among what is known. */
	if (tasks->count > 2 * slots + TASKS_AT_ONCE)
		tasks_forget(tasks);
}

void
tasks_tick(struct sampler *sampler)
{
	size_t slots;

	if (!tasks_are_wanted(sampler))
		return;
	slots = tasks_are_held(sampler) ? sampler->tasks.held_count :
					  runtimes_green_task_slots(sampler->runtimes);
	if (slots > 0)
		tick(sampler, slots);
}
