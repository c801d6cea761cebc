/* SPDX-License-Identifier: MIT */
/* green_sample.c - samples of green tasks that no thread runs, from two equal readings. */
#include <string.h>

#include "sampler/tasks/green_internal.h"
#include "sampler/threads_internal.h"
#include "wallsample/tracer/process_memory.h"

/* Bytes read of a stack that was never unwound: most waiting tasks have no more (1 us). */
#define STACK_GUESS ((size_t)1 << 10)
/* Most bytes of a stack read in one call with others; the rest is read when it is unwound. */
#define STACK_TOGETHER ((size_t)16 << 10)
/* Most further readings of a task that changed between two readings. */
#define ATTEMPTS 3
/* Stacks unwound between two late_serve: one takes some ten microseconds. */
#define WALKS_UNSERVED 16

/* --- samples -------------------------------------------------------------------------------- */

struct known_task *
green_known(struct green_tasks *green, const struct green_sight *sight)
{
	return &green->task[sight->of];
}

/* Returns the wait for the runtime's reason, and counts the tasks that have it. */
static uint32_t
wait_of(struct green_tasks *green, const struct green_task *task)
{
	struct profile_wait wait = { .kind = WAIT_TASK, .object = FRAME_NONE };
	const char *text;
	uint32_t *id, *crowd;
	bool added;

	if (task->state != GREEN_TASK_WAITING)
		return 0;
	id = table_insert(&green->waits, task->reason, 0, 0, &added);
	if (added) {
		text = runtimes_green_task_reason(green->process->runtimes, task->reason);
		if (text[0] != '\0')
			wait.object = profile_intern_named(green->profile, text);
		*id = profile_add_wait(green->profile, &wait);
	}
	crowd = table_insert(&green->crowds, *id, 0, 0, NULL);
	if (++*crowd <= UINT32_MAX / green->stride)
		profile_raise_most(green->profile, *id, *crowd * (uint32_t)green->stride);
	return *id;
}

void
green_add_sample(struct green_tasks *green, const struct green_sight *sight, uint32_t stack)
{
	const int64_t samples = (int64_t)green->stride;
	const uint32_t wait = wait_of(green, &sight->task);
	struct known_task *of = green_known(green, sight);
	const struct profile_entry entry = {
		.thread = of->unit,
		.stack = stack,
		.state = sight->task.state == GREEN_TASK_READY   ? RUN_READY :
			 sight->task.state == GREEN_TASK_WAITING ? RUN_SLEEPING :
								   RUN_UNKNOWN,
		.syscall = SYSCALL_NONE,
		.wait = wait,
		.gil = GIL_UNKNOWN,
		.samples = samples,
		.ns[WEIGHT_WALL] = samples * (int64_t)green->tick->span_ns,
	};

	green->stats->thread_samples += (uint64_t)samples;
	green->stats->task_samples += (uint64_t)samples;
	profile_set_waiting(green->profile, of->unit, sight->task.waiting_ns);
	if (of->entry_state == sight->task.state && of->entry_stack == stack &&
	    of->entry_wait == wait) {
		profile_add_again(green->profile, of->entry, samples, entry.ns[WEIGHT_WALL]);
		return;
	}
	of->entry = profile_add(green->profile, &entry);
	of->entry_state = sight->task.state;
	of->entry_stack = stack;
	of->entry_wait = wait;
}

void
green_fail(struct green_tasks *green, const struct green_sight *sight, enum sample_failure failure)
{
	green_add_sample(green, sight, stacks_failure(&green->process->stacks, failure));
	green->stats->failed[failure] += green->stride;
	if (failure != FAILURE_TASK_FINISHED)
		green->stats->task_failures += green->stride;
}

/* --- stacks --------------------------------------------------------------------------------- */

bool
green_is_in_place(struct green_tasks *green, const struct green_sight *sight)
{
	const struct known_task *of = green_known(green, sight);
	const struct green_task *task = &sight->task;

	return of->size > 0 && of->pc == task->pc && of->sp == task->sp && of->fp == task->fp &&
	       of->runs == task->runs && of->generation == maps_generation(green->process->maps);
}

/* Returns the bytes of the task's stack that are read in one call with others. */
static size_t
bytes_wanted(struct green_tasks *green, const struct green_sight *sight)
{
	const struct green_task *task = &sight->task;
	const struct known_task *of = green_known(green, sight);
	const bool same = of->size > 0 && of->pc == task->pc && of->sp == task->sp;
	size_t size = same || of->size > STACK_GUESS ? of->size : STACK_GUESS;

	if (task->pc == 0 || task->sp < task->stack_low || task->sp >= task->stack_high)
		return 0;
	if (size > task->stack_high - task->sp)
		size = (size_t)(task->stack_high - task->sp);
	return size < STACK_TOGETHER ? size : STACK_TOGETHER;
}

static void
take_held_stacks(struct green_tasks *green)
{
	for (size_t i = 0; i < green->sights; i++) {
		struct green_sight *sight = &green->sight[i];

		sight->bytes = green->held_bytes + green->held_at[sight->slot];
		sight->size = green->held_size[sight->slot];
	}
}

static void
copy_stacks(struct green_tasks *green)
{
	struct memory_piece piece[TASKS_AT_ONCE];
	bool got[TASKS_AT_ONCE];
	size_t all = 0;

	for (size_t i = 0; i < green->sights; i++) {
		piece[i].address = green->sight[i].task.sp;
		piece[i].size = bytes_wanted(green, &green->sight[i]);
		all += piece[i].size;
	}
	green->bytes = xgrow(green->bytes, &green->bytes_capacity, all + 1, 1);
	green_read_pieces(green, piece, green->sights, green->bytes, got);
	all = 0;
	for (size_t i = 0; i < green->sights; i++) {
		green->sight[i].bytes = green->bytes + all;
		green->sight[i].size = got[i] ? piece[i].size : 0;
		all += piece[i].size;
	}
}

/* True if registers, mappings and stack bytes are those of the last unwinding. */
static bool
is_as_before(struct green_tasks *green, const struct green_sight *sight)
{
	const struct known_task *of = green_known(green, sight);

	if (!green_is_in_place(green, sight))
		return false;
	/* Reading the rest costs less than unwinding. */
	if (of->size > sight->size)
		return green_stack_is(green, of->sp, of->size, of->sum);
	return of->sum == green_sum(sight->bytes, of->size);
}

static void
remember(struct green_tasks *green, const struct green_sight *sight)
{
	struct known_task *of = green_known(green, sight);

	of->pc = sight->task.pc;
	of->sp = sight->task.sp;
	of->fp = sight->task.fp;
	of->runs = sight->task.runs;
	of->size = sight->size;
	of->sum = sight->sum;
	of->stack = sight->stack;
	of->generation = maps_generation(green->process->maps);
}

/* Unwinds a confirmed copy and adds the sample. */
static void
add_changed(struct green_tasks *green, struct green_sight *sight)
{
	struct green_task now;

	green_unwind(green, sight,
		     runtimes_green_task_words(green->process->runtimes, sight->slot));
	if (sight->more) {
		green_look_now(green, &sight->slot, 1, &now);
		if (!green_task_is_same(&sight->task, &now) ||
		    !green_stack_is(green, now.sp, sight->size, sight->sum)) {
			green_fail(green, sight, FAILURE_TASK_MOVED);
			return;
		}
	}
	remember(green, sight);
	green_add_sample(green, sight, sight->stack);
}

/* Reads one task alone, twice: that takes a few microseconds, in which few tasks run. */
static bool
try_again(struct green_tasks *green, struct green_sight *sight)
{
	struct memory_piece piece;
	struct green_task now[2];
	bool got[2];

	green_look_now(green, &sight->slot, 1, &now[0]);
	if (now[0].id != sight->task.id)
		now[0].state = GREEN_TASK_NONE;
	sight->task.state = now[0].state;
	if (now[0].state != GREEN_TASK_READY && now[0].state != GREEN_TASK_WAITING)
		return false;
	sight->task = now[0];
	sight->size = piece.size = bytes_wanted(green, sight);
	piece.address = sight->task.sp;
	sight->bytes = green->second;
	green_read_pieces(green, &piece, 1, green->second, &got[0]);
	green_look_now(green, &sight->slot, 1, &now[1]);
	green_read_pieces(green, &piece, 1, green->second + STACK_TOGETHER, &got[1]);
	if (!got[0] || !got[1] || piece.size == 0 || !green_task_is_same(&now[0], &now[1]) ||
	    memcmp(sight->bytes, green->second + STACK_TOGETHER, piece.size) != 0)
		return false;
	sight->of = green_find(green, &sight->task,
			       runtimes_green_task_words(green->process->runtimes, sight->slot),
			       sight->of);
	return true;
}

static void
add_moved(struct green_tasks *green, struct green_sight *sight)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		if (try_again(green, sight)) {
			add_changed(green, sight);
			return;
		}
		if (sight->task.state == GREEN_TASK_NONE)
			break;
	}
	green_fail(green, sight,
		   sight->task.state == GREEN_TASK_NONE ? FAILURE_TASK_FINISHED :
							  FAILURE_TASK_MOVED);
}

/*
 * Confirms changed tasks. The structure of a task that ran and waits at the same place again is the
 * same, but half of its stack may have been copied before it ran and half after. So the stack is
 * copied, the structure read again, and the stack copied again: both must be unchanged. An error
 * remains only if both copies are torn at the same byte.
 */
static void
check_changed(struct green_tasks *green)
{
	struct memory_piece piece[TASKS_AT_ONCE];
	uint32_t slot[TASKS_AT_ONCE];
	bool got[TASKS_AT_ONCE];
	size_t count = 0, all = 2 * STACK_TOGETHER, at = 0, offset = 2 * STACK_TOGETHER;

	for (size_t i = 0; i < green->sights; i++) {
		const struct green_sight *sight = &green->sight[i];

		if (!sight->changed)
			continue;
		piece[count] = (struct memory_piece){ sight->task.sp, sight->size };
		slot[count++] = sight->slot;
		all += sight->size;
	}
	if (count == 0)
		return;
	green->second = xgrow(green->second, &green->second_capacity, all, 1);
	green_look(green, slot, count, green->look);
	green_read_pieces(green, piece, count, green->second + offset, got);
	for (size_t i = 0; i < green->sights; i++) {
		struct green_sight *sight = &green->sight[i];

		if (!sight->changed)
			continue;
		if (at % WALKS_UNSERVED == WALKS_UNSERVED - 1)
			late_serve(green->late);
		sight->changed = got[at] && green_task_is_same(&sight->task, &green->look[at]) &&
				 memcmp(sight->bytes, green->second + offset, sight->size) == 0;
		offset += piece[at++].size;
		if (sight->changed)
			add_changed(green, sight);
		else
			add_moved(green, sight);
	}
}

void
green_collect(struct green_tasks *green)
{
	if (green_are_held(green))
		take_held_stacks(green);
	else
		copy_stacks(green);
	for (size_t i = 0; i < green->sights; i++) {
		struct green_sight *sight = &green->sight[i];

		if (is_as_before(green, sight))
			green_add_sample(green, sight, green_known(green, sight)->stack);
		else if (sight->size == 0)
			green_fail(green, sight, FAILURE_UNREADABLE);
		else if (green_are_held(green))
			add_changed(green, sight);
		else
			sight->changed = true;
	}
	check_changed(green);
	green->sights = 0;
}
