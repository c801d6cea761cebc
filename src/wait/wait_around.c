/* SPDX-License-Identifier: MIT */
/* wait_around.c - the memory around the word of a futex. */
#include "wait/wait_internal.h"

/* The smallest page size: bytes of the word's own page can be read if the word can. */
#define PIECE UINT64_C(4096)

static bool
read_range(struct futex_wait *wait, uint64_t start, uint64_t end)
{
	const struct memory *memory = &wait->source->memory;

	wait->start = start;
	wait->size = (size_t)(end - start);
	if (memory_read(memory, start, wait->bytes, wait->size))
		return true;
	wait->size = 0;
	return false;
}

bool
futex_wait_read(struct futex_wait *wait)
{
	const uint64_t word = wait->word, piece = word & ~(PIECE - 1);
	uint64_t start, end;

	wait->size = 0;
	/* The kernel demands an aligned word; the range must not wrap around. */
	if (word % 4 != 0 || word < PIECE || word > UINT64_MAX - 2 * PIECE)
		return false;
	start = word - AROUND_BEFORE;
	end = word + AROUND_AFTER;
	if (read_range(wait, start, end))
		return true;
	start = start < piece ? piece : start;
	end = end > piece + PIECE ? piece + PIECE : end;
	return (end - start < AROUND_BEFORE + AROUND_AFTER) && read_range(wait, start, end);
}

bool
around_has(const struct futex_wait *wait, int from, int to)
{
	const int64_t before = (int64_t)(wait->word - wait->start);

	return wait->size != 0 && before + from >= 0 && before + to <= (int64_t)wait->size;
}

uint32_t
around_u32(const struct futex_wait *wait, int offset)
{
	if (!around_has(wait, offset, offset + 4))
		return 0;
	return bytes_u32(wait->bytes + (int64_t)(wait->word - wait->start) + offset);
}

uint64_t
around_u64(const struct futex_wait *wait, int offset)
{
	if (!around_has(wait, offset, offset + 8))
		return 0;
	return bytes_u64(wait->bytes + (int64_t)(wait->word - wait->start) + offset);
}
