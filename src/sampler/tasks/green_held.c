/* SPDX-License-Identifier: MIT */
/* green_held.c - copies green tasks (green_task.h) while all running threads are stopped, for a
 * dump. */
#include "sampler/tasks/green_internal.h"
#include "sampler/threads_internal.h"
#include "wallsample/tracer/process_memory.h"

/* If the runtimes have more slots for tasks than this, no task is copied. */
#define HELD_MOST 2000
/* Longest time for copying, in which the target is stopped. Copies that take longer are
 * discarded. */
#define HELD_MOST_NS (20 * NS_PER_MS)
/* Most bytes of a stack that are copied. If the stack is larger, which is rare, unwinding reads the
 * other bytes afterwards, and the result is checked. */
#define HELD_STACK ((size_t)16 << 10)

/* Reads the structures of the tasks in the slots from `first` on, at most GREEN_AT_ONCE of them,
 * into `out`. Returns their number. */
static size_t
read_batch(struct green_tasks *green, size_t first, size_t slots, struct green_task *out)
{
	size_t count = 0;

	while (first + count < slots && count < GREEN_AT_ONCE) {
		green->slot[count] = (uint32_t)(first + count);
		count++;
	}
	runtimes_read_green_tasks(green->process->runtimes, green->slot, count, out);
	return count;
}

void
green_rehearse(struct green_tasks *green)
{
	const struct sampler_config *config = &green->run->config;
	size_t slots;

	if (!green_is_wanted(green) || !config->all_green || !config->stop_all)
		return;
	slots = runtimes_green_task_slots(green->process->runtimes);
	for (size_t at = 0; slots <= HELD_MOST && at < slots;)
		at += read_batch(green, at, slots, green->batch);
}

/* Returns the number of bytes of the task's stack that are copied; 0 if it has no stack to copy. */
static size_t
stack_size(const struct green_task *task)
{
	uint64_t size;

	if ((task->state != GREEN_TASK_READY && task->state != GREEN_TASK_WAITING) ||
	    task->pc == 0 || task->sp < task->stack_low || task->sp >= task->stack_high)
		return 0;
	size = task->stack_high - task->sp;
	return size < HELD_STACK ? (size_t)size : HELD_STACK;
}

/* Copies the stacks of the `count` tasks from held[first] on to held_bytes, after the `used` bytes
 * that are there. Returns the new number of used bytes. */
static size_t
hold_stacks(struct green_tasks *green, size_t first, size_t count, size_t used)
{
	struct memory_piece piece[GREEN_AT_ONCE];
	bool got[GREEN_AT_ONCE];
	size_t all = used;

	for (size_t i = 0; i < count; i++) {
		const struct green_task *task = &green->held[first + i];

		piece[i] = (struct memory_piece){ .address = task->sp, .size = stack_size(task) };
		green->held_stack[first + i].at = all;
		all += piece[i].size;
	}
	green->held_bytes = xgrow(green->held_bytes, &green->held_bytes_capacity, all + 1, 1);
	green_read_pieces(green, piece, count, green->held_bytes + used, got);
	for (size_t i = 0; i < count; i++)
		green->held_stack[first + i].size = got[i] ? piece[i].size : 0;
	return all;
}

/* Copies the structures and stacks of all tasks. Returns false if that takes more than
 * HELD_MOST_NS. */
static bool
hold_all(struct green_tasks *green, size_t slots)
{
	const uint64_t until_ns = clock_now_ns() + HELD_MOST_NS;
	size_t used = 0;

	green->held = xgrow(green->held, &green->held_capacity, slots, sizeof(*green->held));
	green->held_stack = xgrow(green->held_stack, &green->held_stack_capacity, slots,
				  sizeof(*green->held_stack));
	for (size_t first = 0; first < slots;) {
		const size_t count = read_batch(green, first, slots, green->held + first);

		used = hold_stacks(green, first, count, used);
		first += count;
		if (clock_now_ns() >= until_ns)
			return false;
	}
	return true;
}

void
green_while_held(struct green_tasks *green)
{
	size_t slots;

	if (!green_is_wanted(green) || !green->run->config.all_green)
		return;
	green->holding = true;
	runtimes_hold(green->process->runtimes, true);
	slots = runtimes_green_task_slots(green->process->runtimes);
	green->held_count = 0;
	if (slots > 0 && slots <= HELD_MOST && hold_all(green, slots)) {
		green->held_count = slots;
		green->held_tick = green->run->tick.number;
		green->run->stats.green_looks += slots;
	}
	runtimes_hold(green->process->runtimes, false);
	green->holding = false;
}
