/* SPDX-License-Identifier: MIT */
/*
 * jit_elf_internal.h - opens ELF files that a JIT compiler in the target has made for debuggers.
 *
 * The files have one of two forms. A program has segments, and its addresses are those in the
 * target. In an object file (ET_REL) only the loaded sections have addresses: its symbols count
 * from the start of their sections, and its unwind tables and DWARF are not relocated. An object
 * file is converted into a program, so that all addresses are those in the target.
 *
 * The bytes are the target's and may have any contents.
 */
#ifndef WALLSAMPLE_JIT_OBJECTS_JIT_ELF_INTERNAL_H
#define WALLSAMPLE_JIT_OBJECTS_JIT_ELF_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/memory.h"
#include "wallsample/elf/image.h"

/* Most ranges of code that are kept of one file; further ones are ignored. */
#define JIT_ELF_RANGES 256

struct jit_elf_range { /* code at [start, end), addresses in the target */
	uint64_t start, end;
};

struct jit_elf {
	/* the caller releases it or takes it over; NULL: the file cannot be used */
	struct image *image;
	struct jit_elf_range range[JIT_ELF_RANGES];
	size_t range_count;
	bool has_tables; /* the file has unwind tables */
	const char *why; /* why the file cannot be used, a constant text; NULL when it can */
};

/*
 * Opens the file in `bytes`, which the caller has allocated with xmalloc, and which this function
 * frees or moves into elf->image. The code in an object file is replaced by the relocated code at
 * the same address of the target, read from `memory`; it is not if `memory` is NULL. Returns false,
 * with elf->why set, when the file cannot be used.
 */
bool jit_elf_open(struct jit_elf *elf, uint8_t *bytes, size_t size, const struct memory *memory);
/* Frees the image. */
void jit_elf_release(struct jit_elf *elf);

#endif
