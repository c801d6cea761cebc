/* SPDX-License-Identifier: MIT */
/* jit_fingerprint.c - hashes of files and of their ends. */
#include "jit/objects/jit_elf_internal.h"

#include <string.h>

#include "wallsample/base/table.h"

uint64_t
jit_hash_bytes(uint64_t hash, const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
		size_t part = size - at < sizeof(uint64_t) ? size - at : sizeof(uint64_t);
		uint64_t word = 0;

		memcpy(&word, bytes + at, part);
		hash = hash_u64(hash ^ word) + at;
	}
	return hash;
}

struct jit_ends
jit_ends_of(uint64_t size)
{
	struct jit_ends ends = { .head = size < JIT_HEAD_SIZE ? size : JIT_HEAD_SIZE };

	ends.tail = size - ends.head < JIT_TAIL_SIZE ? size - ends.head : JIT_TAIL_SIZE;
	return ends;
}

uint64_t
jit_fingerprint_of(const uint8_t *head, const uint8_t *tail, struct jit_ends ends)
{
	return jit_hash_bytes(jit_hash_bytes(1, head, ends.head), tail, ends.tail);
}
