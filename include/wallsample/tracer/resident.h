/* SPDX-License-Identifier: MIT */
/*
 * resident.h - which pages of a process are in memory, so that reading them does not block.
 *
 * Any other page has to be fetched first: from a disk, over a network, from a file system in user
 * space (FUSE) or from userfaultfd(2), whose page a thread of the target may have to provide. That
 * may be a thread that the tracer holds, and process_vm_readv(2) would wait without a bound.
 */
#ifndef WALLSAMPLE_TRACER_RESIDENT_H
#define WALLSAMPLE_TRACER_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>

#include "wallsample/base/memory.h"
#include "wallsample/process/process.h"

struct resident {
	const struct process *process; /* borrowed */
	int fd;       /* its pagemap, of the program executed at the time of the open; or -1 */
	bool unknown; /* this kernel has no pagemap, or does not permit to read it */
};

/* One question covers this number of pages of MEMORY_PAGE bytes. */
#define RESIDENT_PAGES 32
#define RESIDENT_BYTES (RESIDENT_PAGES * MEMORY_PAGE)

void resident_init(struct resident *resident, const struct process *process);
void resident_release(struct resident *resident);
/* Opens pagemap again after an exec. To be called now and then, while no thread is held. */
void resident_renew(struct resident *resident);

/*
 * Bit n: page n from `address` on, a multiple of RESIDENT_BYTES, is in memory, or, with `swapped`,
 * in swap. All bits where pagemap cannot be read. Takes 0.4 us.
 */
uint32_t resident_pages(const struct resident *resident, uint64_t address, bool swapped);

#endif
