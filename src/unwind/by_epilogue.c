/* SPDX-License-Identifier: MIT */
/*
 * by_epilogue.c - unwinds JIT code that is about to return, by decoding its instructions.
 *
 * Small trampolines of JIT code have neither unwind tables nor a frame pointer, and only return
 * after the call that they make: the instructions at the return address of this call show the size
 * of the frame.
 */
#include "unwind/unwind_method_internal.h"

static enum advance
advance_one(void *state, struct walk *walk)
{
	const struct mapping *mapping = maps_find(walk->maps, walk_lookup(walk));
	uint8_t code[ARCH_EPILOGUE_BYTES];
	uint64_t frame, sp, address;
	size_t size;

	(void)state;
	if (mapping == NULL || mapping->image != NULL)
		return ADVANCE_STUCK;
	size = walk_read_code(walk, walk->regs.pc, code, sizeof(code));
	if (!arch_is_epilogue(code, size, &frame))
		return ADVANCE_STUCK;
	sp = walk->regs.sp + frame;
	if (sp < walk->regs.sp || !walk_read_word(walk, sp, &address))
		return ADVANCE_STUCK;
	if (address == 0 || maps_find(walk->maps, address - 1) == NULL)
		return ADVANCE_STUCK;
	return walk_add_return(walk, sp + sizeof(address), address, FRAME_EPILOGUE) ?
		       ADVANCE_STUCK :
		       ADVANCE_FULL;
}

const struct unwind_method unwind_by_epilogue = {
	.advance = advance_one,
};
