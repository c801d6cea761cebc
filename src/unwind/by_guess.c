/* SPDX-License-Identifier: MIT */
/* by_guess.c - looks through the stack for what might be a frame, when nothing says. */
#include "unwind_method.h"

/* How far up to look, in words: the frames of system call wrappers are small. */
#define GUESS_WORDS 2048

static bool
is_code(struct walk *walk, uint64_t address)
{
	return address != 0 && maps_find(walk->maps, address - 1) != NULL;
}

/* The last word that may be looked at. */
static uint64_t
scan_end(const struct walk *walk)
{
	const struct snapshot *snapshot = walk->snapshot;
	uint64_t end = snapshot->stack_address + snapshot->stack_size;
	uint64_t most = walk->regs.sp + GUESS_WORDS * sizeof(uint64_t);

	return most < end ? most : end;
}

static bool
read_pair(const struct walk *walk, uint64_t address, uint64_t pair[2])
{
	return snapshot_read(walk->snapshot, address, pair, 2 * sizeof(pair[0]));
}

bool
guess_frame_record(struct walk *walk, bool strict, uint64_t *cursor, uint64_t *record)
{
	uint64_t end = scan_end(walk);

	for (uint64_t at = *cursor; at < end; at += sizeof(uint64_t)) {
		uint64_t pair[2], next[2];

		if (!read_pair(walk, at, pair))
			break;
		if (strict ? pair[0] <= at || !read_pair(walk, pair[0], next) ||
				     !is_code(walk, next[1])
			   : pair[0] > 1)
			continue;
		if (!is_code(walk, pair[1]))
			continue;
		*record = at;
		*cursor = at + sizeof(uint64_t);
		return true;
	}
	return false;
}

bool
guess_return_address(struct walk *walk, uint64_t *cursor, uint64_t *address)
{
	uint64_t end = scan_end(walk);

	for (uint64_t at = *cursor; at < end; at += sizeof(uint64_t)) {
		const struct mapping *mapping;
		uint64_t value;

		if (!snapshot_read(walk->snapshot, at, &value, sizeof(value)))
			break;
		if (value == 0)
			continue;
		mapping = maps_find(walk->maps, value - 1);
		if (mapping == NULL || mapping->image == NULL ||
		    !arch_is_return_address(mapping->image, value - mapping->bias))
			continue;
		*address = value;
		*cursor = at + sizeof(uint64_t);
		return true;
	}
	return false;
}
