/* SPDX-License-Identifier: MIT */
/*
 * resident.h - finds the pages of a process that are in memory, so that reading them cannot block.
 *
 * A page that is not in memory has to be fetched first: from a disk, over a network, from a file
 * system in user space (FUSE) or from userfaultfd(2). A thread of the target may have to provide
 * the page: if the tracer keeps that thread stopped, process_vm_readv(2) never returns.
 */
#ifndef WALLSAMPLE_TRACER_RESIDENT_H
#define WALLSAMPLE_TRACER_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>

#include "wallsample/base/memory.h"
#include "wallsample/process/process.h"

struct resident {
	const struct process *process; /* borrowed */
	/* /proc/PID/pagemap; -1: not open. After an exec it has to be opened again, because it
	 * belongs to the address space of the old program. */
	int fd;
	bool unknown; /* this kernel has no pagemap, or does not permit to read it */
};

/* One call of resident_pages covers this number of pages of MEMORY_PAGE bytes. */
#define RESIDENT_PAGES 32
#define RESIDENT_BYTES (RESIDENT_PAGES * MEMORY_PAGE)

void resident_init(struct resident *resident, const struct process *process);
void resident_release(struct resident *resident);
/* Opens pagemap again if the process has called exec. To be called periodically, while the tracer
 * keeps no thread stopped. */
void resident_renew(struct resident *resident);

/*
 * Returns a set of bits: bit n is set if page n from `address` on, a multiple of RESIDENT_BYTES, is
 * in memory or, with `swapped`, in swap. Returns all bits set if resident->unknown is true, and
 * none if pagemap cannot be read. Takes 0.4 us.
 */
uint32_t resident_pages(const struct resident *resident, uint64_t address, bool swapped);

#endif
