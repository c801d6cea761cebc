/* SPDX-License-Identifier: MIT */
/*
 * green_task.c - what all kinds of green tasks share: texts, comparison, reads of many pieces of
 * memory.
 */
#include "wallsample/runtime/green_task.h"

#include "runtime/runtime_kind_internal.h"

const char *
green_task_state_text(enum green_task_state state)
{
	static const char *const texts[] = {
#define X(name, text) [GREEN_TASK_##name] = text,
		GREEN_TASK_STATES(X)
#undef X
	};

	return texts[state];
}

bool
green_task_is_same(const struct green_task *one, const struct green_task *other)
{
	return one->id == other->id && one->address == other->address &&
	       one->state == other->state && one->tid == other->tid && one->pc == other->pc &&
	       one->sp == other->sp && one->stack_low == other->stack_low &&
	       one->stack_high == other->stack_high && one->runs == other->runs &&
	       one->entry == other->entry && one->created_at == other->created_at;
}

/*
 * A call of config->read_pieces ends at the first unreadable piece; the next call begins with the
 * piece after that one.
 */
void
runtime_read_pieces(const struct runtime_tools *tools, const struct memory_piece *piece,
		    size_t count, uint8_t *to, bool *got)
{
	const struct runtimes_config *config = tools->config;

	for (size_t at = 0; at < count;) {
		size_t asked = 1, whole, i;

		if (config->read_pieces != NULL) {
			asked = count - at < MEMORY_PIECES_MOST ? count - at : MEMORY_PIECES_MOST;
			whole = config->read_pieces(config->context, piece + at, asked, to);
		} else {
			whole = memory_read(&tools->memory, piece[at].address, to, piece[at].size);
		}
		for (i = 0; i < asked && i <= whole; i++, at++) {
			got[at] = i < whole;
			to += piece[at].size;
		}
	}
}
