/* SPDX-License-Identifier: MIT */
/* by_pointer.c - follows the frame pointers of JIT code and of code without unwind tables. */
#include "unwind/guess_internal.h"

/*
 * Returns true when the frame pointer register may contain another value: the walk's last frame was
 * not found by frame pointer, and its address is either outside of code or in code of a file that
 * could not be opened (a deleted file whose mapping may not be opened). Code of such a file most
 * likely has unwind tables, which cannot be read, and uses the register for other values.
 */
static bool
is_unproven(struct walk *walk)
{
	const struct mapping *mapping = maps_find(walk->maps, walk_lookup(walk));
	const struct chain *chain = walk->chain;

	if (chain->frame[chain->count - 1].origin == FRAME_POINTER)
		return false;
	return mapping == NULL ||
	       (mapping->image == NULL &&
		modules_at(maps_modules(walk->maps), mapping->module)->kind == MODULE_OTHER);
}

/* Reads the two words of a frame record. Returns false when it cannot. If they are not in the
 * copied stack, beyond_copy is then set, and the next samples copy more of the stack; if
 * is_unproven() is true, no_info is set instead. */
static bool
read_record(struct walk *walk, uint64_t fp, uint64_t *saved, uint64_t *address)
{
	if (walk_read_word(walk, fp, saved) && walk_read_word(walk, fp + 8, address))
		return true;
	/* If the register contains another value, each sample would ask for a larger copy, which
	 * would rarely contain a frame record. */
	if (walk->beyond_copy && is_unproven(walk)) {
		walk->beyond_copy = false;
		walk->no_info = true;
	}
	return false;
}

/*
 * Ends the walk at a frame pointer or return address of zero, which marks the thread's first
 * function. When is_unproven(), a zero shows nothing: no_info is set, and the result is
 * ADVANCE_STUCK.
 */
static enum advance
end_at_zero(struct walk *walk)
{
	if (!is_unproven(walk))
		return ADVANCE_DONE;
	walk->no_info = true;
	return ADVANCE_STUCK;
}

/*
 * Makes one step only, because the caller may have unwind tables, which are preferred. The frame
 * pointer points to a record of two words, the caller's frame pointer and the return address, on
 * x86-64 as on aarch64; a zero marks the outermost frame (System V ABI 3.4.1, AAPCS64 6.4.6).
 */
static enum advance
advance_one(void *state, struct walk *walk)
{
	uint64_t fp, saved, address;

	(void)state;
	if (!regs_get(&walk->regs, regs_fp_number, &fp)) {
		walk->missing_register = true;
		return ADVANCE_STUCK;
	}
	if (walk->exact && guess_frameless(walk))
		return ADVANCE_STUCK;
	if (fp == 0)
		return end_at_zero(walk);
	/* The stack grows down, so the record is above the stack pointer. */
	if (fp < walk->regs.sp || fp % sizeof(uint64_t) != 0)
		return ADVANCE_STUCK;
	if (!read_record(walk, fp, &saved, &address))
		return ADVANCE_STUCK;
	if (address == 0)
		return end_at_zero(walk);
	if (maps_find(walk->maps, address - 1) == NULL)
		return ADVANCE_STUCK;
	if (!chain_add(walk->chain, address, fp + 16, FRAME_POINTER, false))
		return ADVANCE_FULL;
	/* The other registers of the caller are not known. */
	regs_set_sp_pc(&walk->regs, fp + 16, address);
	regs_set(&walk->regs, regs_fp_number, saved);
	walk->exact = false;
	return ADVANCE_STUCK;
}

const struct unwind_method unwind_by_pointer = {
	.advance = advance_one,
};
