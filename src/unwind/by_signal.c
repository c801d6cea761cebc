/* SPDX-License-Identifier: MIT */
/*
 * by_signal.c - from a signal handler's return code to what the signal interrupted.
 *
 * The kernel's frame has the same shape whoever wrote the code that returns through it,
 * so that this needs no tables (musl has none) and no expressions (glibc's are).
 */
#include "unwind/unwind_method_internal.h"

static enum advance
advance(void *state, struct walk *walk)
{
	const struct mapping *mapping = maps_find(walk->maps, walk->regs.pc);
	struct regs interrupted;

	(void)state;
	if (mapping == NULL || mapping->image == NULL ||
	    !arch_is_signal_trampoline(mapping->image, walk->regs.pc - mapping->bias))
		return ADVANCE_STUCK;
	/* No call led to the trampoline: the kernel has pushed its address. */
	walk->chain->frame[walk->chain->count - 1].exact = true;
	if (!arch_signal_registers(walk, walk->regs.sp, &interrupted))
		return ADVANCE_STUCK;
	if (!chain_add(walk->chain, interrupted.pc, interrupted.sp, FRAME_CFI, true))
		return ADVANCE_FULL;
	walk->regs = interrupted;
	walk->exact = true;
	return ADVANCE_STUCK;
}

const struct unwind_method unwind_by_signal = {
	.name = "signal frames",
	.advance = advance,
};
