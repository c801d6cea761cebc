/* SPDX-License-Identifier: MIT */
/*
 * resident.h - finds the pages of a process that are in memory, so that reading them cannot block.
 *
 * A page that is not in memory has to be fetched first: from a disk, over a network, from a file
 * system in user space (FUSE) or from userfaultfd(2), whose pages a thread of the target may have
 * to provide. The tracer may hold that thread, and process_vm_readv(2) would then never return.
 */
#ifndef WALLSAMPLE_TRACER_RESIDENT_H
#define WALLSAMPLE_TRACER_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>

#include "wallsample/base/memory.h"
#include "wallsample/process/process.h"

struct resident {
	const struct process *process; /* borrowed */
	int fd;       /* pagemap of the program that the process executed at the open; -1: none */
	bool unknown; /* this kernel has no pagemap, or does not permit to read it */
};

/* One call of resident_pages covers this number of pages of MEMORY_PAGE bytes. */
#define RESIDENT_PAGES 32
#define RESIDENT_BYTES (RESIDENT_PAGES * MEMORY_PAGE)

void resident_init(struct resident *resident, const struct process *process);
void resident_release(struct resident *resident);
/* Opens pagemap again if the process has called exec. To be called periodically, while no thread is
 * held. */
void resident_renew(struct resident *resident);

/*
 * Returns a set of bits: bit n is set if page n from `address` on, a multiple of RESIDENT_BYTES, is
 * in memory or, with `swapped`, in swap. All bits are set if `unknown` is, none if the read fails.
 * Takes 0.4 us.
 */
uint32_t resident_pages(const struct resident *resident, uint64_t address, bool swapped);

#endif
