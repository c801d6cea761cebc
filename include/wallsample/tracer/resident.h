/* SPDX-License-Identifier: MIT */
/*
 * resident.h - which pages of a process are in memory, so that to read them waits for nobody.
 *
 * Any other page comes from a disk or over a network first, from a file system that somebody has
 * written (FUSE), or from userfaultfd(2): then somebody in the target may have to provide it, who
 * may be the very thread that we hold. process_vm_readv(2) waits as long as that takes.
 */
#ifndef WALLSAMPLE_TRACER_RESIDENT_H
#define WALLSAMPLE_TRACER_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>

#include "wallsample/tracer/memory.h"
#include "wallsample/process/process.h"

struct resident {
	const struct process *process; /* borrowed */
	int fd;       /* its pagemap, tied to the program that it was when it was opened; or -1 */
	bool unknown; /* this kernel has none */
};

/* A question is about so many pages of MEMORY_PAGE bytes. */
#define RESIDENT_PAGES 32
#define RESIDENT_BYTES (RESIDENT_PAGES * MEMORY_PAGE)

void resident_init(struct resident *resident, const struct process *process);
void resident_release(struct resident *resident);
/* To be called now and then, while nothing is held: the process may have begun another program. */
void resident_renew(struct resident *resident);

/*
 * Bit n: the nth page from the address on, a multiple of RESIDENT_BYTES, is in memory, or with
 * `swapped` comes from nowhere but swap. All, where nobody can tell. Takes 0.4 us.
 */
uint32_t resident_pages(const struct resident *resident, uint64_t address, bool swapped);

#endif
