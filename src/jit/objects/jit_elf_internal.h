/* SPDX-License-Identifier: MIT */
/*
 * jit_elf_internal.h - makes an image of an ELF file that a compiler in the target handed to
 * debuggers.
 *
 * Two shapes are known. One is a program's: it has segments, and its addresses are those in
 * the target. The other is an object file (ET_REL) whose loaded sections were given their
 * addresses and nothing else: symbols count from their sections, unwind tables and
 * DWARF are not relocated. It is brought into the first shape, so that nobody else needs
 * to know of the second: addresses in the image then are those in the target.
 *
 * All bytes are the target's, who may have written anything.
 */
#ifndef WALLSAMPLE_JIT_OBJECTS_JIT_ELF_INTERNAL_H
#define WALLSAMPLE_JIT_OBJECTS_JIT_ELF_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/elf/image.h"

#define JIT_ELF_RANGES 256

struct jit_elf_range { /* code, in the target's addresses */
	uint64_t start, end;
};

struct jit_elf {
	struct image *image; /* NULL when there is none; whoever takes it sets this to NULL */
	struct jit_elf_range range[JIT_ELF_RANGES];
	size_t range_count;
	bool has_tables;     /* unwind tables */
	const char *why;     /* no image: a fixed text */
};

/* How memory of the target is read: all `size` bytes, or false. */
struct jit_elf_memory {
	bool (*read)(void *context, uint64_t address, void *to, size_t size);
	void *context;
};

/*
 * Takes over `bytes` (of xmalloc). Code is read from the target (`memory`, may be NULL), because
 * an object file has it unrelocated. False, with `why`, when it is no such file.
 */
bool jit_elf_open(struct jit_elf *elf, uint8_t *bytes, size_t size,
		  const struct jit_elf_memory *memory);
void jit_elf_release(struct jit_elf *elf);

#endif
