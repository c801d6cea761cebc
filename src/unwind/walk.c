/* SPDX-License-Identifier: MIT */
/* walk.c - reads memory for a walk, from the copied stack or from the process, and appends
 * frames. */
#include "unwind/unwind_method_internal.h"
#include "wallsample/tracer/process_memory.h"

/* Addresses up to this number of bytes above the start of the copied stack are taken to be in the
 * same stack. */
#define STACK_FAR (UINT64_C(1) << 30)

static size_t
read_page(const struct snapshot *snapshot, uint64_t address, uint8_t *to)
{
	const struct memory *memory = snapshot->memory;

	if (memory == NULL)
		return memory_read_process(snapshot->tid, address, to, LIVE_PAGE);
	return memory_read(memory, address, to, LIVE_PAGE) ? LIVE_PAGE : 0;
}

/* Returns the bytes of a page from `address` on, from the cache if this walk has put the page
 * there, and stores their number in *size; 0 when the page is not readable. */
static const uint8_t *
cached_page(const struct walk *walk, struct live_cache *cache, uint64_t address, size_t *size)
{
	uint64_t base = address / LIVE_PAGE * LIVE_PAGE;
	size_t slot = base / LIVE_PAGE % LIVE_PAGES;
	size_t offset = (size_t)(address - base);

	if (cache->page[slot].walk != cache->walk || cache->page[slot].address != base) {
		cache->page[slot].walk = cache->walk;
		cache->page[slot].address = base;
		cache->page[slot].size = read_page(walk->snapshot, base, cache->page[slot].bytes);
	}
	*size = cache->page[slot].size > offset ? cache->page[slot].size - offset : 0;
	return cache->page[slot].bytes + offset;
}

static bool
read_live(struct walk *walk, uint64_t address, uint64_t *value)
{
	const uint8_t *bytes;
	size_t size;

	if (walk->live == NULL)
		return false;
	bytes = cached_page(walk, walk->live, address, &size);
	/* Words of a stack are aligned, so none crosses a page boundary. */
	if (size < sizeof(*value))
		return false;
	memcpy(value, bytes, sizeof(*value));
	walk->read_live = true;
	return true;
}

size_t
walk_read_code(struct walk *walk, uint64_t address, void *to, size_t size)
{
	size_t done = 0;

	while (walk->code != NULL && done < size) {
		size_t there;
		const uint8_t *bytes = cached_page(walk, walk->code, address + done, &there);

		if (there == 0)
			break;
		if (there > size - done)
			there = size - done;
		memcpy((uint8_t *)to + done, bytes, there);
		done += there;
	}
	return done;
}

bool
walk_read_word(struct walk *walk, uint64_t address, uint64_t *value)
{
	const struct snapshot *snapshot = walk->snapshot;
	uint64_t above = address - snapshot->stack_address;
	bool same_stack = above < STACK_FAR;
	bool in_copy = above + sizeof(*value) <= snapshot->stack_size;

	if (walk_read_copy(walk, address, value))
		return true;
	if (snapshot->live_limit > 0 && (!same_stack || above < snapshot->live_limit) &&
	    read_live(walk, address, value))
		return true;
	if (same_stack && !in_copy && !snapshot_is_whole(snapshot))
		walk->beyond_copy = true;
	else
		walk->bad_memory = true;
	return false;
}

bool
walk_add(struct walk *walk, const struct regs *caller, enum frame_origin origin, bool exact)
{
	if (!chain_add(walk->chain, caller->pc, caller->sp, origin, exact))
		return false;
	walk->regs = *caller;
	walk->exact = exact;
	return true;
}

bool
walk_add_caller(struct walk *walk, uint64_t sp, uint64_t pc, enum frame_origin origin)
{
	struct regs caller = walk->regs;

	regs_set_caller(&caller, sp, pc);
	return walk_add(walk, &caller, origin, false);
}

bool
walk_add_return(struct walk *walk, uint64_t sp, uint64_t pc, enum frame_origin origin)
{
	struct regs caller = walk->regs;

	regs_set(&caller, regs_sp_number, sp);
	caller.sp = sp;
	caller.pc = pc;
	return walk_add(walk, &caller, origin, false);
}

uint64_t
walk_lookup(const struct walk *walk)
{
	return walk->exact ? walk->regs.pc : walk->regs.pc - 1;
}
