/* SPDX-License-Identifier: MIT */
/*
 * memory.h - reading the memory of a target through a function.
 *
 * Backends: the live process (process_vm_readv), a snapshot (stack bytes, then the module's
 * file), a core file, and plain arrays in tests.
 */
#ifndef WALLSAMPLE_BASE_MEMORY_H
#define WALLSAMPLE_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A page of the target: the smallest unit that can be readable or not. */
#define MEMORY_PAGE ((size_t)4096)

struct memory {
	/* Copies all `size` bytes at `address` of the target, or returns false. */
	bool (*read)(void *context, uint64_t address, void *to, size_t size);
	void *context;
};

/*
 * Copies `size` bytes at `address` of the target to `to`. False when one of them cannot be read
 * or the range exceeds the address space; then the contents of `to` are undefined.
 */
bool memory_read(const struct memory *memory, uint64_t address, void *to, size_t size);

#endif
