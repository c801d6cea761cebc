/* SPDX-License-Identifier: MIT */
/*
 * jit_elf_internal.h - ELF files in a target's memory that a compiler handed to debuggers.
 *
 * Two shapes are known. One is a program's: it has segments, and its addresses are those in
 * the target. The other is an object file (ET_REL) whose loaded sections were given their
 * addresses and nothing else: symbols count from their sections, unwind tables and DWARF are
 * not relocated. It is converted to the first shape; then addresses in the image are those in
 * the target.
 *
 * All bytes are the target's and may be anything.
 */
#ifndef WALLSAMPLE_JIT_OBJECTS_JIT_ELF_INTERNAL_H
#define WALLSAMPLE_JIT_OBJECTS_JIT_ELF_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/memory.h"
#include "wallsample/elf/image.h"

#define JIT_ELF_RANGES 256

struct jit_elf_range { /* [start, end): code, in the target's addresses */
	uint64_t start, end;
};

struct jit_elf {
	struct image *image; /* owned; NULL when there is none. A user that keeps it sets NULL */
	struct jit_elf_range range[JIT_ELF_RANGES];
	size_t range_count;
	bool has_tables; /* unwind tables */
	const char *why; /* without an image: a fixed text */
};

/*
 * Makes the image of `bytes` (of xmalloc), which it takes over. Code is read from the target
 * (`memory`, may be NULL), because an object file has it unrelocated. False, with `why`, when
 * the bytes are no such file.
 */
bool jit_elf_open(struct jit_elf *elf, uint8_t *bytes, size_t size, const struct memory *memory);
void jit_elf_release(struct jit_elf *elf);

/* --- text-relative unwind tables, as LuaJIT's (jit_frames.c) ------------------------------- */

/*
 * Rewrites the .eh_frame of `size` bytes at the address `address` from addresses that count
 * from the code at `text` (DW_EH_PE_textrel of the Linux Standard Base, which libdw cannot
 * resolve) to addresses that count from their own position. Entries of other encodings, and
 * damaged ones, are not changed.
 */
void jit_frames_settle(uint8_t *bytes, uint64_t size, uint64_t address, uint64_t text);

/* --- recognising a file without reading all of it (jit_fingerprint.c) ---------------------- */

/*
 * Sizes of the two ends of a file that its fingerprint covers, besides address and size. At one
 * of them are the section headers, which hold the addresses of the code.
 */
#define JIT_HEAD_SIZE ((uint64_t)1 << 10)
#define JIT_TAIL_SIZE ((uint64_t)4 << 10)

struct jit_ends {
	uint64_t head, tail; /* sizes; the tail does not overlap the head */
};

struct jit_ends jit_ends_of(uint64_t size);
uint64_t jit_fingerprint_of(const uint8_t *head, const uint8_t *tail, struct jit_ends ends);
/* Continues the hash `hash` of preceding bytes. */
uint64_t jit_hash_bytes(uint64_t hash, const uint8_t *bytes, size_t size);

#endif
