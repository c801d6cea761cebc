/* SPDX-License-Identifier: MIT */
/*
 * jit_print_internal.h - by what a file in the target's memory is recognised without reading all
 * of it.
 */
#ifndef WALLSAMPLE_JIT_OBJECTS_JIT_PRINT_INTERNAL_H
#define WALLSAMPLE_JIT_OBJECTS_JIT_PRINT_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

/*
 * Besides its place and size: its ends. At one or the other are the section headers, which
 * hold the addresses of the code.
 */
#define JIT_HEAD_SIZE ((uint64_t)1 << 10)
#define JIT_TAIL_SIZE ((uint64_t)4 << 10)

struct jit_ends {
	uint64_t head, tail; /* sizes; the tail does not overlap the head */
};

struct jit_ends jit_ends_of(uint64_t size);
uint64_t jit_print_of(const uint8_t *head, const uint8_t *tail, struct jit_ends ends);
/* The hash of bytes that come after others with the hash `hash`. */
uint64_t jit_hash_bytes(uint64_t hash, const uint8_t *bytes, size_t size);

#endif
