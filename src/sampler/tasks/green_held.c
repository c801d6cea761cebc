/* SPDX-License-Identifier: MIT */
/* green_held.c - what is read of tasks while threads stand still, and how. */
#include "sampler/pipeline_internal.h"
#include "wallsample/tracer/memory.h"

/* So many are read while all threads are held: more only afterwards. */
#define HELD_MOST 2000
/* The target stands still for so long at most; what was read by then is forgotten. */
#define HELD_MOST_NS (20 * NS_PER_MS)
/* Bytes of a stack: of the few that are larger the rest is read afterwards, and checked. */
#define HELD_STACK ((size_t)16 << 10)
/* Parts of memory of which is remembered what is there: tasks lie close to one another. */
#define WINDOWS 16

/* --- what is there -------------------------------------------------------------------------- */

struct window {
	uint64_t start;
	uint32_t pages;
	bool known;
};

static bool
is_there(const struct sampler *sampler, struct window windows[WINDOWS],
	 const struct memory_piece *piece)
{
	const uint64_t end = piece->address + piece->size;

	if (end < piece->address)
		return false;
	for (uint64_t page = piece->address - piece->address % MEMORY_PAGE; page < end;
	     page += MEMORY_PAGE) {
		const uint64_t start = page - page % RESIDENT_BYTES;
		struct window *window = &windows[start / RESIDENT_BYTES % WINDOWS];

		if (!window->known || window->start != start)
			*window = (struct window){
				.start = start, .known = true,
				.pages = resident_pages(&sampler->resident, start,
							!sampler->tasks.holding),
			};
		if ((window->pages >> (page - start) / MEMORY_PAGE & 1) == 0)
			return false;
	}
	return true;
}

size_t
tasks_read_memory(struct sampler *sampler, const struct memory_piece *piece, size_t count, void *to)
{
	struct window windows[WINDOWS] = { { .known = false } };
	size_t there = 0;

	if (!sampler->tasks.holding && sampler->late_count == 0)
		return memory_read_pieces(sampler->process->pid, piece, count, to);
	if (count > MEMORY_PIECES_MOST)
		count = MEMORY_PIECES_MOST;
	while (there < count && is_there(sampler, windows, &piece[there]))
		there++;
	return memory_read_pieces(sampler->process->pid, piece, there, to);
}

/* --- while they are held -------------------------------------------------------------------- */

/* What a dump's tasks are read with is looked up, and in the caches, before anybody is held. */
void
tasks_rehearse(struct sampler *sampler)
{
	struct tasks *tasks = &sampler->tasks;
	size_t slots;

	if (!tasks_are_wanted(sampler) || !sampler->config.all_tasks || !sampler->config.stop_all)
		return;
	slots = runtimes_green_task_slots(sampler->runtimes);
	for (size_t at = 0; slots <= HELD_MOST && at < slots;) {
		size_t count = 0;

		while (at < slots && count < TASKS_AT_ONCE)
			tasks->slot[count++] = (uint32_t)at++;
		runtimes_read_green_tasks(sampler->runtimes, tasks->slot, count, tasks->look);
	}
}

static void
make_room(struct tasks *tasks, size_t slots)
{
	size_t capacity = tasks->held_capacity;

	tasks->held = xgrow(tasks->held, &capacity, slots, sizeof(*tasks->held));
	capacity = tasks->held_capacity;
	tasks->held_size = xgrow(tasks->held_size, &capacity, slots, sizeof(*tasks->held_size));
	capacity = tasks->held_capacity;
	tasks->held_at = xgrow(tasks->held_at, &capacity, slots, sizeof(*tasks->held_at));
	tasks->held_capacity = capacity;
}

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

/* Copies the stacks of `count` of them, behind `used` bytes that there are; returns the new sum. */
static size_t
hold_stacks(struct sampler *sampler, size_t first, size_t count, size_t used)
{
	struct tasks *tasks = &sampler->tasks;
	struct memory_piece piece[TASKS_AT_ONCE];
	bool got[TASKS_AT_ONCE];
	size_t all = used;

	for (size_t i = 0; i < count; i++) {
		const struct green_task *task = &tasks->held[first + i];

		piece[i] = (struct memory_piece){ .address = task->sp, .size = stack_size(task) };
		tasks->held_at[first + i] = all;
		all += piece[i].size;
	}
	tasks->held_bytes = xgrow(tasks->held_bytes, &tasks->held_bytes_capacity, all + 1, 1);
	task_read_pieces(sampler, piece, count, tasks->held_bytes + used, got);
	for (size_t i = 0; i < count; i++)
		tasks->held_size[first + i] = got[i] ? piece[i].size : 0;
	return all;
}

/* False: it takes too long. */
static bool
hold_all(struct sampler *sampler, size_t slots)
{
	const uint64_t until_ns = clock_now_ns() + HELD_MOST_NS;
	struct tasks *tasks = &sampler->tasks;
	size_t used = 0;

	make_room(tasks, slots);
	for (size_t first = 0; first < slots;) {
		size_t count = 0;

		while (first + count < slots && count < TASKS_AT_ONCE) {
			tasks->slot[count] = (uint32_t)(first + count);
			count++;
		}
		runtimes_read_green_tasks(sampler->runtimes, tasks->slot, count,
					  tasks->held + first);
		used = hold_stacks(sampler, first, count, used);
		first += count;
		if (clock_now_ns() >= until_ns)
			return false;
	}
	return true;
}

void
tasks_while_held(struct sampler *sampler)
{
	struct tasks *tasks = &sampler->tasks;
	size_t slots;

	if (!tasks_are_wanted(sampler) || !sampler->config.all_tasks)
		return;
	tasks->holding = true;
	runtimes_hold(sampler->runtimes, true);
	slots = runtimes_green_task_slots(sampler->runtimes);
	tasks->held_count = 0;
	if (slots > 0 && slots <= HELD_MOST && hold_all(sampler, slots)) {
		tasks->held_count = slots;
		tasks->held_tick = sampler->tick;
		sampler->stats.task_looks += slots;
	}
	runtimes_hold(sampler->runtimes, false);
	tasks->holding = false;
}
