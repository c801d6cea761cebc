/* SPDX-License-Identifier: MIT */
/* green_sample.c - the samples of tasks that no thread runs: their stacks, as they were twice. */
#include <string.h>

#include "sampler/pipeline_internal.h"
#include "wallsample/tracer/memory.h"

/* Bytes of a stack that was not walked before: of most that wait this is all (1 us). */
#define STACK_GUESS ((size_t)1 << 10)
/* More of a stack than this is read for itself, when it is walked. */
#define STACK_TOGETHER ((size_t)16 << 10)
/* At one that moves while it is read. */
#define ATTEMPTS 3
/* A walk takes some ten microseconds, and a thread that stops late stands still meanwhile. */
#define WALKS_UNSERVED 16

bool
tasks_are_held(const struct sampler *sampler)
{
	return sampler->tasks.held_count > 0 && sampler->tasks.held_tick == sampler->tick;
}

static void
look_now(struct sampler *sampler, const uint32_t *slot, size_t count, struct green_task *out)
{
	runtimes_read_green_tasks(sampler->runtimes, slot, count, out);
	sampler->stats.task_looks += count;
}

void
tasks_look(struct sampler *sampler, const uint32_t *slot, size_t count, struct green_task *out)
{
	const struct tasks *tasks = &sampler->tasks;

	if (!tasks_are_held(sampler)) {
		look_now(sampler, slot, count, out);
		return;
	}
	for (size_t i = 0; i < count; i++)
		out[i] = slot[i] < tasks->held_count ?
				 tasks->held[slot[i]] :
				 (struct green_task){ .state = GREEN_TASK_NONE };
}

/* --- samples -------------------------------------------------------------------------------- */

struct tracked_task *
task_tracked(struct sampler *sampler, const struct task_sight *sight)
{
	return &sampler->tasks.task[sight->of];
}

/* What it waits for, as its runtime says; others that wait for the same are counted. */
static uint32_t
wait_of(struct sampler *sampler, const struct green_task *task)
{
	struct tasks *tasks = &sampler->tasks;
	struct profile_wait wait = { .kind = WAIT_TASK, .object = FRAME_NONE };
	const char *text;
	uint32_t *id, *crowd;
	bool added;

	if (task->state != GREEN_TASK_WAITING)
		return 0;
	id = table_place(&tasks->waits, task->reason, 0, 0, &added);
	if (added) {
		text = runtimes_green_task_reason(sampler->runtimes, task->reason);
		if (text[0] != '\0')
			wait.object = profile_intern_named(sampler->profile, text);
		*id = profile_add_wait(sampler->profile, &wait);
	}
	crowd = table_place(&tasks->crowds, *id, 0, 0, NULL);
	if (++*crowd <= UINT32_MAX / tasks->stride)
		profile_raise_most(sampler->profile, *id, *crowd * (uint32_t)tasks->stride);
	return *id;
}

void
task_add_sample(struct sampler *sampler, const struct task_sight *sight, uint32_t stack)
{
	const int64_t samples = (int64_t)sampler->tasks.stride;
	const uint32_t wait = wait_of(sampler, &sight->task);
	struct tracked_task *of = task_tracked(sampler, sight);
	const struct profile_entry entry = {
		.thread = of->unit,
		.stack = stack,
		.state = sight->task.state == GREEN_TASK_READY ? RUN_READY :
			 sight->task.state == GREEN_TASK_WAITING ? RUN_SLEEPING : RUN_UNKNOWN,
		.syscall = SYSCALL_NONE,
		.wait = wait,
		.gil = GIL_UNKNOWN,
		.samples = samples,
		.ns[WEIGHT_WALL] = samples * (int64_t)sampler->span_ns,
	};

	sampler->stats.thread_samples += (uint64_t)samples;
	sampler->stats.task_samples += (uint64_t)samples;
	profile_set_waiting(sampler->profile, of->unit, sight->task.waiting_ns);
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

void
task_fail(struct sampler *sampler, const struct task_sight *sight, enum sample_failure failure)
{
	task_add_sample(sampler, sight, stack_of_failure(sampler, failure));
	sampler->stats.failed[failure] += sampler->tasks.stride;
	if (failure != FAILURE_TASK_FINISHED)
		sampler->stats.task_failures += sampler->tasks.stride;
}

/* --- stacks --------------------------------------------------------------------------------- */

bool
task_is_in_place(struct sampler *sampler, const struct task_sight *sight)
{
	const struct tracked_task *of = task_tracked(sampler, sight);
	const struct green_task *task = &sight->task;

	return of->size > 0 && of->pc == task->pc && of->sp == task->sp && of->fp == task->fp &&
	       of->runs == task->runs && of->generation == maps_generation(sampler->maps);
}

/* How much of its stack is copied with others'. */
static size_t
bytes_wanted(struct sampler *sampler, const struct task_sight *sight)
{
	const struct green_task *task = &sight->task;
	const struct tracked_task *of = task_tracked(sampler, sight);
	const bool same = of->size > 0 && of->pc == task->pc && of->sp == task->sp;
	size_t size = same || of->size > STACK_GUESS ? of->size : STACK_GUESS;

	if (task->pc == 0 || task->sp < task->stack_low || task->sp >= task->stack_high)
		return 0;
	if (size > task->stack_high - task->sp)
		size = (size_t)(task->stack_high - task->sp);
	return size < STACK_TOGETHER ? size : STACK_TOGETHER;
}

static void
take_held_stacks(struct tasks *tasks)
{
	for (size_t i = 0; i < tasks->sights; i++) {
		struct task_sight *sight = &tasks->sight[i];

		sight->bytes = tasks->held_bytes + tasks->held_at[sight->slot];
		sight->size = tasks->held_size[sight->slot];
	}
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
	const struct tracked_task *of = task_tracked(sampler, sight);

	if (!task_is_in_place(sampler, sight))
		return false;
	/* To read more than was copied with others' costs less than to walk it. */
	if (of->size > sight->size)
		return task_stack_is(sampler, of->sp, of->size, of->sum);
	return of->sum == task_bytes_sum(sight->bytes, of->size);
}

static void
remember(struct sampler *sampler, const struct task_sight *sight)
{
	struct tracked_task *of = task_tracked(sampler, sight);

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
	struct green_task now;

	task_walk(sampler, sight, runtimes_green_task_words(sampler->runtimes, sight->slot));
	if (sight->more) {
		look_now(sampler, &sight->slot, 1, &now);
		if (!green_task_is_same(&sight->task, &now) ||
		    !task_stack_is(sampler, now.sp, sight->size, sight->sum)) {
			task_fail(sampler, sight, FAILURE_TASK_MOVED);
			return;
		}
	}
	remember(sampler, sight);
	task_add_sample(sampler, sight, sight->stack);
}

/* Looks at it alone: that takes a few microseconds, in which few tasks move. */
static bool
try_again(struct sampler *sampler, struct task_sight *sight)
{
	struct tasks *tasks = &sampler->tasks;
	struct memory_piece piece;
	struct green_task now[2];
	bool got[2];

	look_now(sampler, &sight->slot, 1, &now[0]);
	if (now[0].id != sight->task.id)
		now[0].state = GREEN_TASK_NONE;
	sight->task.state = now[0].state;
	if (now[0].state != GREEN_TASK_READY && now[0].state != GREEN_TASK_WAITING)
		return false;
	sight->task = now[0];
	sight->size = piece.size = bytes_wanted(sampler, sight);
	piece.address = sight->task.sp;
	sight->bytes = tasks->second;
	task_read_pieces(sampler, &piece, 1, tasks->second, &got[0]);
	look_now(sampler, &sight->slot, 1, &now[1]);
	task_read_pieces(sampler, &piece, 1, tasks->second + STACK_TOGETHER, &got[1]);
	if (!got[0] || !got[1] || piece.size == 0 || !green_task_is_same(&now[0], &now[1]) ||
	    memcmp(sight->bytes, tasks->second + STACK_TOGETHER, piece.size) != 0)
		return false;
	sight->of = task_find(sampler, &sight->task,
			      runtimes_green_task_words(sampler->runtimes, sight->slot), sight->of);
	return true;
}

static void
take_moved(struct sampler *sampler, struct task_sight *sight)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		if (try_again(sampler, sight)) {
			take(sampler, sight);
			return;
		}
		if (sight->task.state == GREEN_TASK_NONE)
			break;
	}
	task_fail(sampler, sight,
	     sight->task.state == GREEN_TASK_NONE ? FAILURE_TASK_FINISHED : FAILURE_TASK_MOVED);
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
	uint32_t slot[TASKS_AT_ONCE];
	bool got[TASKS_AT_ONCE];
	size_t count = 0, all = 2 * STACK_TOGETHER, at = 0, offset = 2 * STACK_TOGETHER;

	for (size_t i = 0; i < tasks->sights; i++) {
		const struct task_sight *sight = &tasks->sight[i];

		if (!sight->fresh)
			continue;
		piece[count] = (struct memory_piece){ sight->task.sp, sight->size };
		slot[count++] = sight->slot;
		all += sight->size;
	}
	if (count == 0)
		return;
	tasks->second = xgrow(tasks->second, &tasks->second_capacity, all, 1);
	tasks_look(sampler, slot, count, tasks->look);
	task_read_pieces(sampler, piece, count, tasks->second + offset, got);
	for (size_t i = 0; i < tasks->sights; i++) {
		struct task_sight *sight = &tasks->sight[i];

		if (!sight->fresh)
			continue;
		if (at % WALKS_UNSERVED == WALKS_UNSERVED - 1)
			late_serve(sampler);
		sight->fresh = got[at] && green_task_is_same(&sight->task, &tasks->look[at]) &&
			       memcmp(sight->bytes, tasks->second + offset, sight->size) == 0;
		offset += piece[at++].size;
		if (sight->fresh)
			take(sampler, sight);
		else
			take_moved(sampler, sight);
	}
}

/* The stacks of all sights, and their samples. */
void
tasks_collect(struct sampler *sampler)
{
	struct tasks *tasks = &sampler->tasks;

	if (tasks_are_held(sampler))
		take_held_stacks(tasks);
	else
		copy_stacks(sampler);
	for (size_t i = 0; i < tasks->sights; i++) {
		struct task_sight *sight = &tasks->sight[i];

		if (is_as_before(sampler, sight))
			task_add_sample(sampler, sight, task_tracked(sampler, sight)->stack);
		else if (sight->size == 0)
			task_fail(sampler, sight, FAILURE_UNREADABLE);
		else if (tasks_are_held(sampler))
			take(sampler, sight);
		else
			sight->fresh = true;
	}
	check_fresh(sampler);
	tasks->sights = 0;
}
