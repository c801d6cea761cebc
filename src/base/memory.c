/* SPDX-License-Identifier: MIT */
/* memory.c - checks the address range of a read from the target's memory. */
#include "wallsample/base/memory.h"

bool
memory_read(const struct memory *memory, uint64_t address, void *to, size_t size)
{
	if (size > 0 && address > UINT64_MAX - (size - 1))
		return false;
	return memory->read(memory->context, address, to, size);
}
