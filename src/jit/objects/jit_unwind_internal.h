/* SPDX-License-Identifier: MIT */
/*
 * jit_unwind_internal.h - unwind tables that compilers in the target register with libunwind.
 *
 * _U_dyn_info_list is a list of code with, for each piece, a sorted table of where the entries of
 * its functions are (struct unw_dyn_info of libunwind's <libunwind-dynamic.h>). A JIT
 * compiler enters what it generates. The list is a local symbol; a function that is exported tells
 * where it is. There are no names in it: it serves for code that nothing else tells of.
 */
#ifndef WALLSAMPLE_JIT_OBJECTS_JIT_UNWIND_INTERNAL_H
#define WALLSAMPLE_JIT_OBJECTS_JIT_UNWIND_INTERNAL_H

#include "jit/objects/jit_list_internal.h"
#include "wallsample/elf/image.h"

/* Of the tables of a piece of code, and of the code. */
#define JIT_UNWIND_MOST (UINT64_C(1) << 20)
#define JIT_UNWIND_CODE_MOST (UINT64_C(16) << 20)

/* Where the list is, by the code of _U_dyn_info_list_addr at `vaddr`; 0: that cannot be told. */
uint64_t jit_unwind_address(const struct image *image, uint64_t vaddr);

/* As of a descriptor. */
bool jit_unwind_read(struct jit_reader *reader, uint64_t address,
		     struct jit_descriptor *descriptor);
/* As jit_list_walk: what is listed is the unwind tables, with `start` and `end` of their code. */
enum jit_walk jit_unwind_walk(struct jit_reader *reader, uint64_t address,
			      const struct jit_descriptor *before, size_t most,
			      struct jit_listed **listed, size_t *capacity, size_t *count);

/* Makes an object file of tables, which it takes over, as jit_elf_open wants one. */
uint8_t *jit_unwind_wrap(uint8_t *tables, const struct jit_listed *listed, uint64_t *size);

#endif
