/* SPDX-License-Identifier: MIT */
/*
 * maps.h - the executable mappings of the target and their modules.
 *
 * Reading /proc/PID/maps takes 20 us for a small program and milliseconds for one with thousands
 * of threads (each stack is a line). So it is not read in each tick (sampler.h: at a tick the
 * sampler observes all threads once), but when an address is unknown, and about once per second.
 * Linux 6.11 and later answer for one address in 0.4 us (PROCMAP_QUERY): then an unknown address
 * does not cost a read of all mappings.
 */
#ifndef WALLSAMPLE_PROCESS_MAPS_H
#define WALLSAMPLE_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/process/module.h"
#include "wallsample/process/process.h"

struct mapping {
	uint64_t start, end; /* the executable memory [start, end) of the target */
	uint64_t offset;     /* offset in the file of the byte at `start` */
	uint32_t module;     /* id of the module (module.h), never MODULE_NONE */
	/* Address in the target minus virtual address in the image. Without an image: address in
	 * the target minus offset in the file; 0 for anonymous memory. */
	uint64_t bias;
	uint64_t low, high; /* [low, high): whole image in the target; empty without an image */
	const struct image *image; /* image of the module; NULL when it has none */
	/* private to maps.c: number of the tick in which the mapping was last checked */
	uint64_t checked;
};

struct address_range {
	uint64_t start, size;
};

struct maps;

/*
 * Reads the mappings of `process`. Both arguments are borrowed until maps_free. Never fails: a
 * process that has exited has no mappings.
 */
struct maps *maps_create(const struct process *process, struct modules *modules);
/*
 * Makes maps that never change from the mappings of a core file, which are copied and sorted by
 * address. If two overlap, only the first in the array is used. Nothing is read through `process`,
 * which only identifies the dumped process.
 */
struct maps *maps_create_fixed(const struct process *process, struct modules *modules,
			       const struct mapping *mapping, size_t count);
void maps_free(struct maps *maps);

/*
 * Returns the mapping that contains the address, or NULL. If no known mapping contains it, asks the
 * kernel about the address (PROCMAP_QUERY), or reads all mappings; the latter at most once between
 * two calls of maps_tick. Any later call of maps_find may change the mappings: the pointer is valid
 * while maps_generation returns the same number.
 */
const struct mapping *maps_find(struct maps *maps, uint64_t address);

/*
 * Finds the image whose memory, code or data (.data, .bss), contains the address, and returns an
 * executable mapping of that image; NULL: no image contains the address. Compares the address with
 * all known mappings, and never asks the kernel.
 */
const struct mapping *maps_find_data(const struct maps *maps, uint64_t address);

/*
 * Begins a tick: must be called once per tick, with the time of clock_now_ns(). With PROCMAP_QUERY,
 * maps_find asks the kernel about at most 64 unknown addresses per tick. It also checks a known
 * mapping when it first returns it in a tick (at most 64 mappings per tick), because a library may
 * have replaced another at the same address.
 *
 * This function reads all mappings again when the last read of all was at least 1 s ago (100 ms on
 * kernels without PROCMAP_QUERY), and at least 100 times its own duration ago.
 */
void maps_tick(struct maps *maps, uint64_t now_ns);

/*
 * Reads all mappings now, for example after an exec. /proc shows no mappings of an exiting process:
 * then the last known mappings are kept, because stacks that were copied earlier (snapshot.h) are
 * still to be unwound with them.
 */
void maps_refresh(struct maps *maps);

/*
 * Sets the objects, and removes those of an earlier call. An object is a mapping of a module of
 * kind JIT: code that the target has generated, and has described by an ELF file in its memory. The
 * array is copied. For an address in an object, maps_find returns the object if the kernel lists a
 * mapping there and that mapping has no image; otherwise objects are ignored. If two objects
 * overlap, only the first in the array is used.
 */
void maps_set_objects(struct maps *maps, const struct mapping *object, size_t count);

/* Returns a number that increases when any mapping or object changes. A cache of lookups stores the
 * number, and is valid until the number has changed. */
uint64_t maps_generation(const struct maps *maps);

/* Number of mappings, objects included. The mappings that the kernel lists come first, then the
 * objects, each in ascending order of addresses. */
size_t maps_count(const struct maps *maps);
const struct mapping *maps_at(const struct maps *maps, size_t index);
struct modules *maps_modules(const struct maps *maps);
const struct process *maps_process(const struct maps *maps);

/* --- mapping_place.c: the position of a module's image ---------------------------------------- */

/*
 * Sets image, bias, low and high of a mapping of the module from the mapping's start, end and
 * offset. Sets only bias if the mapping belongs to no segment of an image, and nothing for
 * anonymous memory. Also sets the offset of the vdso to 0: the kernel's value is not an offset in
 * the image. `page_size`: page size of the machine on which the module was mapped, a power of two.
 */
void mapping_place(struct mapping *mapping, const struct module *module, uint64_t page_size);

/*
 * Returns true when the image has an executable segment whose offset and size, rounded to whole
 * pages, are those of the mapping.
 */
bool mapping_is_of_code(const struct image *image, const struct mapping *mapping,
			uint64_t page_size);

/* True if the process has an executable mapping whose code may be made at run time: memory without
 * a file, or a file that is not an ELF file. Reads nothing. */
bool maps_have_generated_code(const struct maps *maps);

#endif
