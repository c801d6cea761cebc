/* SPDX-License-Identifier: MIT */
/*
 * by_signal.c - steps from a signal handler's return trampoline to the interrupted code.
 *
 * The kernel defines the layout of the signal frame, so this step needs neither unwind tables (musl
 * has none for its trampoline) nor CFI expressions (glibc's tables have them for its trampoline).
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
	/* The trampoline was not called: the kernel pushed its address. So the address is exact. */
	walk->chain->frame[walk->chain->count - 1].exact = true;
	if (!arch_signal_registers(walk, walk->regs.sp, &interrupted))
		return ADVANCE_STUCK;
	return walk_add(walk, &interrupted, FRAME_CFI, true) ? ADVANCE_STUCK : ADVANCE_FULL;
}

const struct unwind_method unwind_by_signal = {
	.advance = advance,
};
