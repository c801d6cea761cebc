/* SPDX-License-Identifier: MIT */
/* green_sample.c - makes samples of the green tasks (green_task.h) that no thread runs. The stack
 * of a task that has changed is unwound only if two readings of it are equal, or if it was copied
 * while all threads were stopped. */
#include <string.h>

#include "sampler/tasks/green_internal.h"
#include "sampler/threads_internal.h"
#include "wallsample/tracer/process_memory.h"

/* Bytes that are read of a stack that was never unwound; the read takes 1 us. Most waiting tasks
 * use no more stack. */
#define STACK_GUESS ((size_t)1 << 10)
/* Most bytes of a stack that are read in one call with the stacks of other tasks; further bytes are
 * read when the stack is unwound. */
#define STACK_TOGETHER ((size_t)16 << 10)
/* Most times that a task that changed between two readings is read again, alone. */
#define ATTEMPTS 3
/* Number of stacks unwound between two calls of late_serve: to unwind one takes some ten
 * microseconds. */
#define WALKS_UNSERVED 16

/* --- samples -------------------------------------------------------------------------------- */

struct known_green *
green_known(struct green_tasks *green, const struct green_reading *reading)
{
	return &green->known[reading->known];
}

/* Returns the wait of the profile for the reason for which the task waits. */
static uint32_t
wait_for_reason(struct green_tasks *green, uint32_t reason)
{
	struct profile_wait wait = { .kind = WAIT_GREEN, .object = FRAME_NONE };
	const char *text;
	bool added;
	uint32_t *id = table_insert(&green->waits, reason, 0, 0, &added);

	if (added) {
		text = runtimes_green_task_reason(green->process->runtimes, reason);
		if (text[0] != '\0')
			wait.object = profile_intern_named(green->run->profile, text);
		*id = profile_add_wait(green->run->profile, &wait);
	}
	return *id;
}

/* Returns the wait of the profile for the descriptor for which a task waits, of which the bytes of
 * its stack are a confirmed reading; 0: it waits for none. */
static uint32_t
wait_for_descriptor(struct green_tasks *green, const struct green_reading *reading)
{
	struct wait what = { .kind = WAIT_DESCRIPTOR };
	struct profile_wait wait = { .object = FRAME_NONE };

	what.fd = runtimes_green_task_descriptor(green->process->runtimes, &reading->value,
						 reading->bytes, reading->size, &what.writes);
	if (what.fd < 0 || green->process->waits == NULL)
		return 0;
	wait.object = waits_descriptor(green->process->waits, NULL, &what);
	wait.kind = what.kind;
	return wait.object != FRAME_NONE ? profile_add_wait(green->run->profile, &wait) : 0;
}

/* Returns the wait of the profile for what the task waits, and counts the task in that wait; 0 if
 * the task does not wait. */
static uint32_t
wait_of(struct green_tasks *green, const struct green_reading *reading)
{
	const struct known_green *known = green_known(green, reading);
	uint32_t id, *crowd;

	if (reading->value.state != GREEN_TASK_WAITING)
		return 0;
	id = green_is_in_place(green, reading) && known->descriptor_wait != 0 ?
		     known->descriptor_wait :
		     wait_for_reason(green, reading->value.reason);
	crowd = table_insert(&green->crowds, id, 0, 0, NULL);
	if (++*crowd <= UINT32_MAX / green->stride)
		profile_raise_most(green->run->profile, id, *crowd * (uint32_t)green->stride);
	return id;
}

void
green_add_sample(struct green_tasks *green, const struct green_reading *reading, uint32_t stack)
{
	const int64_t samples = (int64_t)green->stride;
	const uint32_t wait = wait_of(green, reading);
	struct known_green *known = green_known(green, reading);
	const struct profile_entry entry = {
		.thread = known->record,
		.stack = stack,
		.state = reading->value.state == GREEN_TASK_READY   ? RUN_READY :
			 reading->value.state == GREEN_TASK_WAITING ? RUN_SLEEPING :
								      RUN_UNKNOWN,
		.syscall = SYSCALL_NONE,
		.wait = wait,
		.gil = GIL_UNKNOWN,
		.samples = samples,
		.ns[WEIGHT_WALL] = samples * (int64_t)green->run->tick.span_ns,
	};

	green->run->stats.thread_samples += (uint64_t)samples;
	green->run->stats.green_samples += (uint64_t)samples;
	profile_set_waiting(green->run->profile, known->record, reading->value.waiting_ns);
	if (known->entry_state == reading->value.state && known->entry_stack == stack &&
	    known->entry_wait == wait) {
		profile_add_again(green->run->profile, known->entry, samples,
				  entry.ns[WEIGHT_WALL]);
		return;
	}
	known->entry = profile_add(green->run->profile, &entry);
	known->entry_state = reading->value.state;
	known->entry_stack = stack;
	known->entry_wait = wait;
}

void
green_fail(struct green_tasks *green, const struct green_reading *reading,
	   enum sample_failure failure)
{
	green_add_sample(green, reading, stacks_failure(&green->process->stacks, failure));
	green->run->stats.failed[failure] += green->stride;
	if (failure != FAILURE_TASK_FINISHED)
		green->run->stats.green_failures += green->stride;
}

/* --- stacks --------------------------------------------------------------------------------- */

bool
green_is_in_place(struct green_tasks *green, const struct green_reading *reading)
{
	const struct known_green *known = green_known(green, reading);
	const struct green_task *task = &reading->value;

	return known->size > 0 && known->pc == task->pc && known->sp == task->sp &&
	       known->fp == task->fp && known->runs == task->runs &&
	       known->generation == maps_generation(green->process->maps);
}

/* Returns the number of bytes of the task's stack that are read in one call with the stacks of
 * other tasks; 0 if its stack pointer is not on its stack. */
static size_t
bytes_wanted(struct green_tasks *green, const struct green_reading *reading)
{
	const struct green_task *task = &reading->value;
	const struct known_green *known = green_known(green, reading);
	const bool same = known->size > 0 && known->pc == task->pc && known->sp == task->sp;
	size_t size = same || known->size > STACK_GUESS ? known->size : STACK_GUESS;

	if (task->pc == 0 || task->sp < task->stack_low || task->sp >= task->stack_high)
		return 0;
	if (size > task->stack_high - task->sp)
		size = (size_t)(task->stack_high - task->sp);
	return size < STACK_TOGETHER ? size : STACK_TOGETHER;
}

static void
take_held_stacks(struct green_tasks *green)
{
	for (size_t i = 0; i < green->readings; i++) {
		struct green_reading *reading = &green->reading[i];

		reading->bytes = green->held_bytes + green->held_stack[reading->slot].at;
		reading->size = green->held_stack[reading->slot].size;
	}
}

static void
copy_stacks(struct green_tasks *green)
{
	struct memory_piece piece[GREEN_AT_ONCE];
	bool got[GREEN_AT_ONCE];
	size_t all = 0;

	for (size_t i = 0; i < green->readings; i++) {
		piece[i].address = green->reading[i].value.sp;
		piece[i].size = bytes_wanted(green, &green->reading[i]);
		all += piece[i].size;
	}
	green->bytes = xgrow(green->bytes, &green->bytes_capacity, all + 1, 1);
	green_read_pieces(green, piece, green->readings, green->bytes, got);
	all = 0;
	for (size_t i = 0; i < green->readings; i++) {
		green->reading[i].bytes = green->bytes + all;
		green->reading[i].size = got[i] ? piece[i].size : 0;
		all += piece[i].size;
	}
}

/* True if the task's registers and stack bytes and the mappings are as they were when its stack was
 * last unwound. */
static bool
is_as_before(struct green_tasks *green, const struct green_reading *reading)
{
	const struct known_green *known = green_known(green, reading);

	if (!green_is_in_place(green, reading))
		return false;
	/* To read all bytes again costs less than unwinding. */
	if (known->size > reading->size)
		return green_stack_is(green, known->sp, known->size, known->hash);
	return known->hash == green_hash(reading->bytes, known->size);
}

static void
remember(struct green_tasks *green, const struct green_reading *reading)
{
	struct known_green *known = green_known(green, reading);

	known->pc = reading->value.pc;
	known->sp = reading->value.sp;
	known->fp = reading->value.fp;
	known->runs = reading->value.runs;
	known->size = reading->size;
	known->hash = reading->hash;
	known->stack = reading->stack;
	known->generation = maps_generation(green->process->maps);
}

/* Unwinds the stack of a confirmed reading, and adds the sample. */
static void
add_changed(struct green_tasks *green, struct green_reading *reading)
{
	struct green_task now;
	const uint32_t descriptor_wait = wait_for_descriptor(green, reading);

	green_unwind(green, reading,
		     runtimes_green_task_words(green->process->runtimes, reading->slot));
	if (reading->more) {
		green_read_now(green, &reading->slot, 1, &now);
		if (!green_task_is_same(&reading->value, &now) ||
		    !green_stack_is(green, now.sp, reading->size, reading->hash)) {
			green_fail(green, reading, FAILURE_TASK_MOVED);
			return;
		}
	}
	remember(green, reading);
	green_known(green, reading)->descriptor_wait = descriptor_wait;
	green_add_sample(green, reading, reading->stack);
}

/* Reads one task alone, twice, into *reading. That takes a few microseconds, in which few tasks
 * run. Returns false if the two readings differ, or if the task is neither READY nor WAITING.
 * task.state is set in any case; NONE: the task has ended. */
static bool
try_again(struct green_tasks *green, struct green_reading *reading)
{
	struct memory_piece piece;
	struct green_task now[2];
	bool got[2];

	green_read_now(green, &reading->slot, 1, &now[0]);
	if (now[0].id != reading->value.id)
		now[0].state = GREEN_TASK_NONE;
	reading->value.state = now[0].state;
	if (now[0].state != GREEN_TASK_READY && now[0].state != GREEN_TASK_WAITING)
		return false;
	reading->value = now[0];
	reading->size = piece.size = bytes_wanted(green, reading);
	piece.address = reading->value.sp;
	reading->bytes = green->second;
	green_read_pieces(green, &piece, 1, green->second, &got[0]);
	green_read_now(green, &reading->slot, 1, &now[1]);
	green_read_pieces(green, &piece, 1, green->second + STACK_TOGETHER, &got[1]);
	if (!got[0] || !got[1] || piece.size == 0 || !green_task_is_same(&now[0], &now[1]) ||
	    memcmp(reading->bytes, green->second + STACK_TOGETHER, piece.size) != 0)
		return false;
	reading->known = green_find(green, &reading->value,
				    runtimes_green_task_words(green->process->runtimes,
							      reading->slot),
				    reading->known);
	return true;
}

static void
add_moved(struct green_tasks *green, struct green_reading *reading)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		if (try_again(green, reading)) {
			add_changed(green, reading);
			return;
		}
		if (reading->value.state == GREEN_TASK_NONE)
			break;
	}
	green_fail(green, reading,
		   reading->value.state == GREEN_TASK_NONE ? FAILURE_TASK_FINISHED :
							     FAILURE_TASK_MOVED);
}

/*
 * Confirms the readings of the tasks that have changed since their last unwinding. The structure of
 * a task that ran and waits at the same place again is unchanged, but one part of its stack may
 * have been copied before the task ran and another part after it. So the stack is copied
 * (copy_stacks), the structure read again, and the stack copied again: both structures and both
 * copies must be equal. A mixed copy stays undetected only if both copies are mixed at the same
 * byte.
 */
static void
check_changed(struct green_tasks *green)
{
	struct memory_piece piece[GREEN_AT_ONCE];
	uint32_t slot[GREEN_AT_ONCE];
	bool got[GREEN_AT_ONCE];
	size_t count = 0, all = 2 * STACK_TOGETHER, at = 0, offset = 2 * STACK_TOGETHER;

	for (size_t i = 0; i < green->readings; i++) {
		const struct green_reading *reading = &green->reading[i];

		if (!reading->changed)
			continue;
		piece[count] = (struct memory_piece){ reading->value.sp, reading->size };
		slot[count++] = reading->slot;
		all += reading->size;
	}
	if (count == 0)
		return;
	green->second = xgrow(green->second, &green->second_capacity, all, 1);
	green_read(green, slot, count, green->batch);
	green_read_pieces(green, piece, count, green->second + offset, got);
	for (size_t i = 0; i < green->readings; i++) {
		struct green_reading *reading = &green->reading[i];

		if (!reading->changed)
			continue;
		if (at % WALKS_UNSERVED == WALKS_UNSERVED - 1)
			late_serve(green->run);
		reading->changed = got[at] &&
				   green_task_is_same(&reading->value, &green->batch[at]) &&
				   memcmp(reading->bytes, green->second + offset, reading->size) ==
					   0;
		offset += piece[at++].size;
		if (reading->changed)
			add_changed(green, reading);
		else
			add_moved(green, reading);
	}
}

void
green_collect(struct green_tasks *green)
{
	if (green_is_held(green))
		take_held_stacks(green);
	else
		copy_stacks(green);
	for (size_t i = 0; i < green->readings; i++) {
		struct green_reading *reading = &green->reading[i];

		if (is_as_before(green, reading))
			green_add_sample(green, reading, green_known(green, reading)->stack);
		else if (reading->size == 0)
			green_fail(green, reading, FAILURE_UNREADABLE);
		else if (green_is_held(green))
			add_changed(green, reading);
		else
			reading->changed = true;
	}
	check_changed(green);
	green->readings = 0;
}
