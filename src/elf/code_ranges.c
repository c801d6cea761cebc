/* SPDX-License-Identifier: MIT */
/* code_ranges.c - the ranges of functions, from the entries of unwind tables. */
#include "wallsample/elf/code_ranges.h"

#include "wallsample/elf/frame_entry.h"

bool
code_range(const struct image *image, uint64_t vaddr, uint64_t *start, uint64_t *size)
{
	struct frame_entry entry;

	if (!frame_entry_search(image, vaddr, &entry))
		return false;
	*start = entry.start;
	*size = entry.size;
	return true;
}
