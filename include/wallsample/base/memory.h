/* SPDX-License-Identifier: MIT */
/*
 * memory.h - the interface by which modules read the memory of a target.
 *
 * Implementations read a live process (process_vm_readv), a snapshot (the copied stack, else the
 * file of a module), a core file, or an array in tests.
 */
#ifndef WALLSAMPLE_BASE_MEMORY_H
#define WALLSAMPLE_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Smallest size of a page of memory. Either all bytes of an aligned block of this size are
 * readable, or none is.
 */
#define MEMORY_PAGE ((size_t)4096)

struct memory {
	/* Copies `size` bytes at `address` of the target to `to`; returns false if a byte is
	 * unreadable. */
	bool (*read)(void *context, uint64_t address, void *to, size_t size);
	void *context; /* first argument of `read` */
};

/*
 * Copies `size` bytes at `address` of the target to `to`. Returns false if a byte cannot be read or
 * the range exceeds the address space; the contents of `to` are then undefined.
 */
bool memory_read(const struct memory *memory, uint64_t address, void *to, size_t size);

#endif
