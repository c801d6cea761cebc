/* SPDX-License-Identifier: MIT */
/* process_memory.h - reads the memory of a live process with process_vm_readv(2), without stopping
 * it. */
#ifndef WALLSAMPLE_TRACER_PROCESS_MEMORY_H
#define WALLSAMPLE_TRACER_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/base/memory.h"

/*
 * Reads up to `size` bytes from `address` on, in one call, up to the first page that is not
 * readable. `tid` is any living thread of the process, whose first thread may have exited before
 * the others. Returns the number of bytes; 0, with errno set, when the first byte is not readable
 * or the thread has exited.
 */
size_t memory_read_process(pid_t tid, uint64_t address, void *to, size_t size);

/*
 * Reads the `count` pages at the addresses page[] in one call, one after the other into `to`. For
 * pages in a CPU cache this takes 0.7 us per page, a separate call for each page 2 us. Stops at the
 * first page that is not readable. Returns the number of pages read.
 */
#define MEMORY_PAGES_MOST 256 /* largest number per call: more are not read */
size_t memory_read_pages(pid_t tid, const uint64_t *page, size_t count, void *to);

struct memory_piece {
	uint64_t address;
	size_t size;
};

/*
 * Reads pieces of any size in one call, one after the other into `to`; takes a third of a
 * microsecond per piece. Stops at the first piece that is not readable as a whole. Returns the
 * number of pieces read completely.
 */
#define MEMORY_PIECES_MOST 512 /* largest number per call: more are not read */
size_t memory_read_pieces(pid_t tid, const struct memory_piece *piece, size_t count, void *to);

#endif
