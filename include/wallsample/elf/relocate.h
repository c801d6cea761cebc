/* SPDX-License-Identifier: MIT */
/*
 * relocate.h - the few relocations that unwind tables and DWARF of object files need.
 *
 * LLVM's JIT gives debuggers a copy of the compiler's object file in which only the addresses of
 * the sections were set: .eh_frame and .debug_* are not relocated.
 */
#ifndef WALLSAMPLE_ELF_RELOCATE_H
#define WALLSAMPLE_ELF_RELOCATE_H

#include <stdbool.h>
#include <stdint.h>

struct relocation {
	uint32_t type; /* ELF64_R_TYPE */
	uint8_t size;  /* number of bytes that are written: 4 or 8 */
	/* True when the value is S + A - P (symbol + addend - address that is written to); false
	 * when it is S + A. */
	bool relative;
};

/* e_machine of the files that can be relocated: files for the architecture that wallsample is built
 * for. */
extern const uint16_t relocate_machine;

/* Returns the description of a relocation type; NULL for types that .eh_frame and .debug_* do not
 * use. */
const struct relocation *relocate_find(uint32_t type);

#endif
