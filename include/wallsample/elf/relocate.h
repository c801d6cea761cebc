/* SPDX-License-Identifier: MIT */
/*
 * relocate.h - the few relocations that unwind tables and DWARF of object files need.
 *
 * LLVM's JIT hands debuggers the object file as the compiler wrote it: its sections have
 * addresses, but .eh_frame and .debug_* are not relocated.
 */
#ifndef WALLSAMPLE_ELF_RELOCATE_H
#define WALLSAMPLE_ELF_RELOCATE_H

#include <stdbool.h>
#include <stdint.h>

struct relocation {
	uint32_t type; /* ELF64_R_TYPE */
	uint8_t size;  /* bytes that are written: 4 or 8 */
	bool relative; /* to the place that is written: S + A - P, else S + A */
};

/* e_machine of files that can be relocated: that of this program. */
extern const uint16_t relocate_machine;

/* The relocation of a type; NULL when data sections do not need it. */
const struct relocation *relocate_find(uint32_t type);

#endif
