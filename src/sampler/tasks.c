/* SPDX-License-Identifier: MIT */
/* tasks.c - the samples of tasks that no thread runs. */
#include "tasks.h"

#include <stdlib.h>
#include <string.h>

#include "sampler_state.h"
#include "wallsample/memory.h"

/* Of more than so many a random part is looked at each tick: 20 ms of work. */
#define TASKS_MOST 20000

/* Bytes of a stack that was not walked before: of most that wait this is all (1 us). */
#define STACK_GUESS ((size_t)1 << 10)
/* A stack that is as it was, by how often its task has run, is read all the same once in so many
 * ticks: the count is one modulo 256. */
#define CHECK_TICKS 16
/* More of a stack than this is read for itself, when it is walked. */
#define STACK_TOGETHER ((size_t)16 << 10)

/* At one that moves while it is read. */
#define ATTEMPTS 3

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
	free(tasks->second);
}

static void
look(struct sampler *sampler, const uint32_t *slot, size_t count, struct task *out)
{
	runtimes_look_at_tasks(sampler->runtimes, slot, count, out);
	sampler->stats.task_looks += count;
}

/* --- samples -------------------------------------------------------------------------------- */

static struct tracked_task *
tracked_of(struct sampler *sampler, const struct task_sight *sight)
{
	return &sampler->tasks.task[sight->of];
}

/* What it waits for, as its runtime says; others that wait for the same are counted. */
static uint32_t
wait_of(struct sampler *sampler, const struct task *task)
{
	struct tasks *tasks = &sampler->tasks;
	struct profile_wait wait = { .kind = WAIT_TASK, .object = FRAME_NONE };
	const char *text;
	uint32_t *id, *crowd;
	bool added;

	if (task->state != TASK_WAITING)
		return 0;
	id = table_place(&tasks->waits, task->reason, 0, 0, &added);
	if (added) {
		text = runtimes_task_reason(sampler->runtimes, task->reason);
		if (text[0] != '\0')
			wait.object = profile_intern_named(sampler->profile, text);
		*id = profile_add_wait(sampler->profile, &wait);
	}
	crowd = table_place(&tasks->crowds, *id, 0, 0, NULL);
	if (++*crowd <= UINT32_MAX / tasks->stride)
		profile_raise_most(sampler->profile, *id, *crowd * (uint32_t)tasks->stride);
	return *id;
}

static void
add_sample(struct sampler *sampler, const struct task_sight *sight, uint32_t stack)
{
	const int64_t samples = (int64_t)sampler->tasks.stride;
	const uint32_t wait = wait_of(sampler, &sight->task);
	struct tracked_task *of = tracked_of(sampler, sight);
	const struct profile_entry entry = {
		.thread = of->unit,
		.stack = stack,
		.state = sight->task.state == TASK_READY ? RUN_READY :
			 sight->task.state == TASK_WAITING ? RUN_SLEEPING : RUN_UNKNOWN,
		.syscall = SYSCALL_NONE,
		.wait = wait,
		.gil = GIL_UNKNOWN,
		.samples = samples,
		.ns[WEIGHT_WALL] = samples * (int64_t)sampler->span_ns,
	};

	sampler->stats.thread_samples += (uint64_t)samples;
	if (of->entry_state == sight->task.state && of->entry_stack == stack &&
	    of->entry_wait == wait) {
		profile_add_again(sampler->profile, of->entry, samples, entry.ns[WEIGHT_WALL]);
		return;
	}
	of->entry = profile_add(sampler->profile, &entry);
	of->entry_state = sight->task.state;
	of->entry_stack = stack;
	of->entry_wait = wait;
}

static void
fail(struct sampler *sampler, const struct task_sight *sight, enum sample_failure failure)
{
	add_sample(sampler, sight, stack_of_failure(sampler, failure));
	sampler->stats.failed[failure] += sampler->tasks.stride;
}

/* --- stacks --------------------------------------------------------------------------------- */

static bool
is_in_place(struct sampler *sampler, const struct task_sight *sight)
{
	const struct tracked_task *of = tracked_of(sampler, sight);
	const struct task *task = &sight->task;

	return of->size > 0 && of->pc == task->pc && of->sp == task->sp && of->fp == task->fp &&
	       of->runs == task->runs && of->generation == maps_generation(sampler->maps);
}

/* How much of its stack is copied with others'. */
static size_t
bytes_wanted(struct sampler *sampler, const struct task_sight *sight)
{
	const struct task *task = &sight->task;
	const struct tracked_task *of = tracked_of(sampler, sight);
	const bool same = of->size > 0 && of->pc == task->pc && of->sp == task->sp;
	size_t size = same || of->size > STACK_GUESS ? of->size : STACK_GUESS;

	if (task->pc == 0 || task->sp < task->stack_low || task->sp >= task->stack_high)
		return 0;
	if (size > task->stack_high - task->sp)
		size = (size_t)(task->stack_high - task->sp);
	return size < STACK_TOGETHER ? size : STACK_TOGETHER;
}

static void
copy_stacks(struct sampler *sampler)
{
	struct tasks *tasks = &sampler->tasks;
	struct memory_piece piece[TASKS_AT_ONCE];
	bool got[TASKS_AT_ONCE];
	size_t all = 0;

	for (size_t i = 0; i < tasks->sights; i++) {
		piece[i].address = tasks->sight[i].task.sp;
		piece[i].size = bytes_wanted(sampler, &tasks->sight[i]);
		all += piece[i].size;
	}
	tasks->bytes = xgrow(tasks->bytes, &tasks->bytes_capacity, all + 1, 1);
	task_read_pieces(sampler, piece, tasks->sights, tasks->bytes, got);
	all = 0;
	for (size_t i = 0; i < tasks->sights; i++) {
		tasks->sight[i].bytes = tasks->bytes + all;
		tasks->sight[i].size = got[i] ? piece[i].size : 0;
		all += piece[i].size;
	}
}

/* Is all that its stack was walked from as it was then? */
static bool
is_as_before(struct sampler *sampler, const struct task_sight *sight)
{
	const struct tracked_task *of = tracked_of(sampler, sight);

	if (!is_in_place(sampler, sight))
		return false;
	/* To read more than was copied with others' costs less than to walk it. */
	if (of->size > sight->size)
		return task_stack_is(sampler, of->sp, of->size, of->sum);
	return of->sum == task_bytes_sum(sight->bytes, of->size);
}

static void
remember(struct sampler *sampler, const struct task_sight *sight)
{
	struct tracked_task *of = tracked_of(sampler, sight);

	of->pc = sight->task.pc;
	of->sp = sight->task.sp;
	of->fp = sight->task.fp;
	of->runs = sight->task.runs;
	of->size = sight->size;
	of->sum = sight->sum;
	of->stack = sight->stack;
	of->generation = maps_generation(sampler->maps);
}

/* What was copied is of one moment. */
static void
take(struct sampler *sampler, struct task_sight *sight)
{
	struct task now;

	task_walk(sampler, sight, runtimes_task_words(sampler->runtimes, sight->slot));
	if (sight->more) {
		look(sampler, &sight->slot, 1, &now);
		if (!task_is_same(&sight->task, &now) ||
		    !task_stack_is(sampler, now.sp, sight->size, sight->sum)) {
			fail(sampler, sight, FAILURE_TASK_MOVED);
			return;
		}
	}
	remember(sampler, sight);
	add_sample(sampler, sight, sight->stack);
}

/* Looks at it alone: that takes a few microseconds, in which few tasks move. */
static bool
try_again(struct sampler *sampler, struct task_sight *sight)
{
	struct tasks *tasks = &sampler->tasks;
	struct memory_piece piece;
	struct task now[2];
	bool got[2];

	look(sampler, &sight->slot, 1, &now[0]);
	if (now[0].id != sight->task.id)
		now[0].state = TASK_NONE;
	sight->task.state = now[0].state;
	if (now[0].state != TASK_READY && now[0].state != TASK_WAITING)
		return false;
	sight->task = now[0];
	sight->size = piece.size = bytes_wanted(sampler, sight);
	piece.address = sight->task.sp;
	sight->bytes = tasks->second;
	task_read_pieces(sampler, &piece, 1, tasks->second, &got[0]);
	look(sampler, &sight->slot, 1, &now[1]);
	task_read_pieces(sampler, &piece, 1, tasks->second + STACK_TOGETHER, &got[1]);
	return got[0] && got[1] && piece.size > 0 && task_is_same(&now[0], &now[1]) &&
	       memcmp(sight->bytes, tasks->second + STACK_TOGETHER, piece.size) == 0;
}

static void
take_moved(struct sampler *sampler, struct task_sight *sight)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		if (try_again(sampler, sight)) {
			take(sampler, sight);
			return;
		}
		if (sight->task.state == TASK_NONE)
			break;
	}
	fail(sampler, sight,
	     sight->task.state == TASK_NONE ? FAILURE_TASK_FINISHED : FAILURE_TASK_MOVED);
}

/*
 * Of a task that was resumed, and waits at the same place again, the structure says the same, and
 * its stack may have been copied half before and half after. So the stack is copied, the structure
 * read again, and the stack copied again: both are to be as they were. They would have to be torn
 * at the same byte both times.
 */
static void
check_fresh(struct sampler *sampler)
{
	struct tasks *tasks = &sampler->tasks;
	struct memory_piece piece[TASKS_AT_ONCE];
	bool got[TASKS_AT_ONCE];
	size_t count = 0, all = 2 * STACK_TOGETHER, at = 0, offset = 2 * STACK_TOGETHER;

	for (size_t i = 0; i < tasks->sights; i++) {
		const struct task_sight *sight = &tasks->sight[i];

		if (!sight->fresh)
			continue;
		piece[count] = (struct memory_piece){ sight->task.sp, sight->size };
		tasks->slot[count++] = sight->slot;
		all += sight->size;
	}
	if (count == 0)
		return;
	tasks->second = xgrow(tasks->second, &tasks->second_capacity, all, 1);
	look(sampler, tasks->slot, count, tasks->look);
	task_read_pieces(sampler, piece, count, tasks->second + offset, got);
	for (size_t i = 0; i < tasks->sights; i++) {
		struct task_sight *sight = &tasks->sight[i];

		if (!sight->fresh)
			continue;
		sight->fresh = got[at] && task_is_same(&sight->task, &tasks->look[at]) &&
			       memcmp(sight->bytes, tasks->second + offset, sight->size) == 0;
		offset += piece[at++].size;
		if (sight->fresh)
			take(sampler, sight);
		else
			take_moved(sampler, sight);
	}
}

/* The stacks of all sights, and their samples. */
static void
collect(struct sampler *sampler)
{
	struct tasks *tasks = &sampler->tasks;

	copy_stacks(sampler);
	for (size_t i = 0; i < tasks->sights; i++) {
		struct task_sight *sight = &tasks->sight[i];

		if (is_as_before(sampler, sight))
			add_sample(sampler, sight, tracked_of(sampler, sight)->stack);
		else if (sight->size == 0)
			fail(sampler, sight, FAILURE_UNREADABLE);
		else
			sight->fresh = true;
	}
	check_fresh(sampler);
	tasks->sights = 0;
}

/* --- looks ---------------------------------------------------------------------------------- */

/* Its sample is, or will be, that of its thread. */
static bool
is_with_thread(struct sampler *sampler, const struct task *task, const struct tracked_task *of)
{
	const struct tracked *thread = task->tid > 0 ? thread_of_tid(sampler, task->tid) : NULL;

	if (of->carried == sampler->tick)
		return true;
	if (thread == NULL)
		return false;
	/* It sleeps since before, or is not looked at now, or has not stopped yet. */
	return thread->task == of->unit || thread->last_tick != sampler->tick ||
	       thread->late != NULL;
}

static void
see(struct sampler *sampler, uint32_t slot, const struct task *task, bool again)
{
	struct tasks *tasks = &sampler->tasks;
	struct task_sight *sight = &tasks->sight[tasks->sights];

	*sight = (struct task_sight){ .slot = slot, .task = *task };
	sight->of = task_find(sampler, task, runtimes_task_words(sampler->runtimes, slot),
			      tasks->of_slot[slot]);
	tasks->of_slot[slot] = sight->of;
	if (tracked_of(sampler, sight)->carried == sampler->tick)
		return;
	switch (task->state) {
	case TASK_NONE:
		return;
	case TASK_RUNNING:
	case TASK_CALLING:
		if (is_with_thread(sampler, task, tracked_of(sampler, sight)))
			return;
		break;
	case TASK_READY:
	case TASK_WAITING:
		if (task->counts_runs && is_in_place(sampler, sight) &&
		    (sampler->tick + sight->of) % CHECK_TICKS != 0)
			add_sample(sampler, sight, tracked_of(sampler, sight)->stack);
		else
			tasks->sights++;
		return;
	case TASK_MOVING:
		break;
	}
	if (!again)
		tasks->slot[tasks->again++] = slot;
	else
		fail(sampler, sight, task->state == TASK_MOVING ? FAILURE_TASK_MOVED :
								  FAILURE_TASK_UNCAUGHT);
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
	look(sampler, tasks->slot, count, tasks->look);
	for (size_t i = 0; i < count; i++)
		if (tasks->look[i].state != TASK_NONE)
			see(sampler, tasks->slot[i], &tasks->look[i], true);
}

static void
look_at_slots(struct sampler *sampler, size_t count)
{
	struct tasks *tasks = &sampler->tasks;

	look(sampler, tasks->slot, count, tasks->look);
	tasks->again = 0;
	for (size_t i = 0; i < count; i++) {
		if (tasks->look[i].state == TASK_NONE)
			continue;
		tasks->alive++;
		tasks->ready += tasks->look[i].state == TASK_READY;
		/* tasks->slot is written up to tasks->again <= i alone. */
		see(sampler, tasks->slot[i], &tasks->look[i], false);
	}
	look_again(sampler);
	collect(sampler);
}

/* What is known of so many that have ended, or live no more at their address, is forgotten. */
static void
forget(struct tasks *tasks, size_t slots)
{
	if (tasks->count <= 2 * slots + TASKS_AT_ONCE)
		return;
	table_clear(&tasks->by_address);
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

	tasks->stride = ((uint64_t)slots + TASKS_MOST - 1) / TASKS_MOST * sampler->pace.thin;
	tasks->alive = tasks->ready = 0;
	table_clear(&tasks->crowds);
	for (uint64_t at = rng_next(&sampler->rng) % tasks->stride; at < slots;
	     at += tasks->stride) {
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

void
tasks_tick(struct sampler *sampler)
{
	struct tasks *tasks = &sampler->tasks;
	struct sampler_stats *stats = &sampler->stats;
	size_t slots;

	/* Who wants certain threads alone has no use for what runs on none. */
	if (sampler->runtimes == NULL || sampler->config.threads_only ||
	    sampler->config.selected != NULL)
		return;
	slots = runtimes_task_slots(sampler->runtimes);
	if (slots == 0)
		return;
	make_room(tasks, slots);
	look_at_all(sampler, slots);
	profile_set_ready(sampler->profile, (uint32_t)(tasks->ready * tasks->stride));
	if (tasks->alive * tasks->stride > stats->tasks_most)
		stats->tasks_most = (uint32_t)(tasks->alive * tasks->stride);
	if (tasks->stride > stats->tasks_thinnest)
		stats->tasks_thinnest = (uint32_t)tasks->stride;
	/* Not before: who was carried at this tick is among what is known. */
	forget(tasks, slots);
}
