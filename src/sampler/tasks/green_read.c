/* SPDX-License-Identifier: MIT */
/* green_read.c - reads structures and stacks of green tasks. */
#include "sampler/tasks/green_internal.h"
#include "sampler/threads_internal.h"
#include "wallsample/tracer/process_memory.h"

/* Number of ranges of RESIDENT_BYTES whose resident pages are remembered during one call of
 * green_read_memory: tasks lie close to each other. */
#define WINDOWS 16

/* --- resident pages ------------------------------------------------------------------------ */

struct window {
	uint64_t start;
	uint32_t pages;
	bool known;
};

/* True if the whole piece is in memory (or in swap, unless all threads are stopped). `windows` has
 * the resident pages of the ranges that were last looked up. */
static bool
is_resident(const struct green_tasks *green, struct window windows[WINDOWS],
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
				.start = start,
				.known = true,
				.pages = resident_pages(&green->process->memory.resident, start,
							!green->holding),
			};
		if ((window->pages >> (page - start) / MEMORY_PAGE & 1) == 0)
			return false;
	}
	return true;
}

size_t
green_read_memory(struct green_tasks *green, const struct memory_piece *piece, size_t count,
		  void *to)
{
	struct window windows[WINDOWS] = { { .known = false } };
	size_t resident = 0;

	if (!green->holding && green->run->late_count == 0)
		return memory_read_pieces(green->process->process->pid, piece, count, to);
	if (count > MEMORY_PIECES_MOST)
		count = MEMORY_PIECES_MOST;
	while (resident < count && is_resident(green, windows, &piece[resident]))
		resident++;
	return target_memory_read_pieces(&green->process->memory, green->process->process->pid,
					 piece, resident, to);
}

void
green_read_pieces(struct green_tasks *green, const struct memory_piece *piece, size_t count,
		  uint8_t *to, bool *got)
{
	for (size_t at = 0; at < count;) {
		const size_t whole = green_read_memory(green, piece + at, count - at, to);

		/* Skips the piece after the `whole` ones, which cannot be read. */
		for (size_t i = 0; i <= whole && at < count; i++, at++) {
			got[at] = i < whole;
			to += piece[at].size;
		}
	}
}

/* --- structures ------------------------------------------------------------------------------ */

bool
green_is_wanted(const struct green_tasks *green)
{
	const struct run *run = green->run;

	/* If only selected threads are sampled, tasks that no thread runs are not. */
	return green->process->runtimes != NULL && !run->config.threads_only &&
	       run->context.selected == NULL && green->last_tick != run->tick.number;
}

bool
green_is_held(const struct green_tasks *green)
{
	return green->held_count > 0 && green->held_tick == green->run->tick.number;
}

void
green_read_now(struct green_tasks *green, const uint32_t *slot, size_t count,
	       struct green_task *out)
{
	runtimes_read_green_tasks(green->process->runtimes, slot, count, out);
	green->run->stats.green_looks += count;
}

void
green_read(struct green_tasks *green, const uint32_t *slot, size_t count, struct green_task *out)
{
	if (!green_is_held(green)) {
		green_read_now(green, slot, count, out);
		return;
	}
	for (size_t i = 0; i < count; i++)
		out[i] = slot[i] < green->held_count ?
				 green->held[slot[i]] :
				 (struct green_task){ .state = GREEN_TASK_NONE };
}
