/* SPDX-License-Identifier: MIT */
/*
 * maps.h - the executable mappings of the target, and which module each is of.
 *
 * Reading /proc/PID/maps costs 20 us for a small program and milliseconds for one
 * with thousands of threads (each stack is a line), so it is read when an
 * address is unknown, not each tick. Linux 6.11 and later answer for one address
 * in 0.4 us (PROCMAP_QUERY), which keeps a wild address from costing a whole read.
 */
#ifndef WALLSAMPLE_PROCESS_MAPS_H
#define WALLSAMPLE_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/process/module.h"
#include "wallsample/process/process.h"

struct mapping {
	uint64_t start, end; /* [start, end) in the target, executable */
	uint64_t offset;     /* of start in the file */
	uint32_t module;     /* never MODULE_NONE */
	uint64_t bias;       /* address in the target = vaddr in the image + bias */
	uint64_t low, high;  /* where the whole image lies in the target; equal if no image */
	const struct image *image; /* the module's; NULL when it has none */
	uint64_t checked;    /* the maps' own: the tick in which the kernel last confirmed it */
};

struct address_range {
	uint64_t start, size;
};

struct maps;

/*
 * Reads the mappings of `process` (both borrowed for the life of the maps).
 * Never fails: a process that has gone has no mappings.
 */
struct maps *maps_create(const struct process *process, struct modules *modules);
/*
 * The mappings of a process that is no more, as a core file has them: they stay what they are.
 * Copied; of two that overlap the first stays, and they come in ascending order. `process` tells
 * who it was, and nothing is read through it.
 */
struct maps *maps_create_fixed(const struct process *process, struct modules *modules,
			       const struct mapping *mapping, size_t count);
void maps_free(struct maps *maps);

/*
 * The mapping that holds the address, or NULL. An unknown address makes it look
 * again, at a bounded cost: by PROCMAP_QUERY, else by reading everything at most
 * once between two calls of maps_tick.
 * The pointer is valid until the generation changes.
 */
const struct mapping *maps_find(struct maps *maps, uint64_t address);

/*
 * One of the mappings of the image whose data, initialised or not, holds the address; NULL: none
 * is known. It goes through all of them.
 */
const struct mapping *maps_find_data(const struct maps *maps, uint64_t address);

/*
 * To be called once a tick: allows a new look. Where the kernel can be asked about one address,
 * the first use of a mapping in a tick asks whether it is still what it was, so that a
 * library that took another's place is noticed; elsewhere everything is read again often
 * enough for that (ten times a second, or 100 times what reading cost, whichever is longer).
 */
void maps_tick(struct maps *maps, uint64_t now_ns);

/*
 * Reads everything now: after exec. A process that is exiting shows no mappings any
 * more; then the last ones stay, because its last snapshots are still to be unwound.
 */
void maps_refresh(struct maps *maps);

/*
 * Code that the target made and describes: mappings of modules of kind JIT, as many as there are
 * now (they are copied). They lie over executable memory without an image: there
 * maps_find tells of them. A file's code stays what it is, whatever the target says, and where
 * nothing is mapped there is no code. Of two that overlap the earlier in the array stays.
 */
void maps_set_objects(struct maps *maps, const struct mapping *object, size_t count);

/* A number that changes whenever any mapping did: what caches compare. */
uint64_t maps_generation(const struct maps *maps);

/* All of them: those of the kernel in ascending order, then the objects likewise. */
size_t maps_count(const struct maps *maps);
const struct mapping *maps_at(const struct maps *maps, size_t index);
struct modules *maps_modules(const struct maps *maps);
const struct process *maps_process(const struct maps *maps);

#endif
