/* SPDX-License-Identifier: MIT */
/* walk.c - the memory that a walk reads: the copied stack, then the sleeping process. */
#include <string.h>

#include "unwind_method.h"
#include "wallsample/memory.h"

/* An address this far above the stack pointer may still be of the same stack. */
#define STACK_FAR (UINT64_C(1) << 30)

static bool
read_live(struct walk *walk, uint64_t address, uint64_t *value)
{
	struct live_cache *live = walk->live;
	uint64_t base = address / LIVE_PAGE * LIVE_PAGE;
	size_t slot = base / LIVE_PAGE % LIVE_PAGES;
	uint64_t offset = address - base;

	if (live == NULL)
		return false;
	if (live->page[slot].walk != live->walk || live->page[slot].address != base) {
		live->page[slot].walk = live->walk;
		live->page[slot].address = base;
		live->page[slot].size = memory_read_process(walk->snapshot->tid, base,
							    live->page[slot].bytes, LIVE_PAGE);
	}
	/* Words of a stack are aligned: none lies across two pages. */
	if (offset + sizeof(*value) > live->page[slot].size)
		return false;
	memcpy(value, live->page[slot].bytes + offset, sizeof(*value));
	walk->read_live = true;
	return true;
}

bool
walk_read_word(struct walk *walk, uint64_t address, uint64_t *value)
{
	const struct snapshot *snapshot = walk->snapshot;
	uint64_t above = address - snapshot->stack_address;
	bool same_stack = above < STACK_FAR;

	if (walk_read_copy(walk, address, value))
		return true;
	if (snapshot->live_limit > 0 && (!same_stack || above < snapshot->live_limit) &&
	    read_live(walk, address, value))
		return true;
	if (same_stack && !snapshot_is_whole(snapshot))
		walk->beyond_copy = true;
	else
		walk->bad_memory = true;
	return false;
}

uint64_t
walk_lookup(const struct walk *walk)
{
	return walk->exact ? walk->regs.pc : walk->regs.pc - 1;
}
