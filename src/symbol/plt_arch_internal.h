/* SPDX-License-Identifier: MIT */
/*
 * plt_arch_internal.h - what the code of a PLT stub says about where it jumps, one record for
 * each architecture.
 *
 * All of them are built everywhere: a recording may be named on another machine than the one it
 * was made on.
 */
#ifndef WALLSAMPLE_SYMBOL_PLT_ARCH_INTERNAL_H
#define WALLSAMPLE_SYMBOL_PLT_ARCH_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one stub tells: the GOT slot that it jumps through, or its number in .rela.plt. */
struct plt_jump {
	bool is_index;
	uint64_t value; /* vaddr of the slot, or the number */
};

struct plt_arch {
	uint16_t machine;                         /* e_machine */
	uint32_t jump_slot, glob_dat, irelative;  /* types of relocation */
	size_t step;                              /* stubs begin at multiples of this */
	size_t size;                              /* of a stub where the section does not say */
	/*
	 * Reads the stub that begins with `code`, at `vaddr`; false when none begins there.
	 * Looks at no more than `size` bytes.
	 */
	bool (*decode)(const uint8_t *code, size_t size, uint64_t vaddr, struct plt_jump *jump);
};

extern const struct plt_arch plt_arch_x86_64;
extern const struct plt_arch plt_arch_aarch64;

#endif
