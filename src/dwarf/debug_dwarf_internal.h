/* SPDX-License-Identifier: MIT */
/*
 * debug_dwarf_internal.h - ELF files made safe for libdw: they fit the memory, and nothing in
 * them makes libdw open other files.
 */
#ifndef WALLSAMPLE_DWARF_DEBUG_DWARF_INTERNAL_H
#define WALLSAMPLE_DWARF_DEBUG_DWARF_INTERNAL_H

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/elf/image.h"

/* A unit (CU) with the rest in a file of its own. */
struct debug_skeleton {
	uint64_t offset; /* of its DIE */
	char *path;      /* of the .dwo file, as the compiler saw it */
};

/*
 * An ELF file for libdw: needed sections are read, others hidden, the descriptor is removed, and
 * no name is left in the DWARF that makes libdw open a file.
 */
struct debug_dwarf {
	Elf *elf;
	void **buffer; /* memory that sections were moved to */
	size_t buffer_count, buffer_capacity;
	struct debug_skeleton *skeleton; /* ascending */
	size_t skeleton_count, skeleton_capacity;
	char *split_name;   /* in .debug_str: the name of every .dwo file, or NULL */
	bool split_missed;  /* a missing .dwo file was reported */
	bool split_refused; /* one that exceeds the memory was reported */
};

/* --- debug_file_dwarf.c ------------------------------------------------ */

/*
 * Opens and prepares the file `fd` (borrowed) or, when that is -1, the image's memory; false,
 * with *why, when its DWARF cannot be used. Its unpacked size is subtracted from *left.
 */
bool debug_dwarf_init(struct debug_dwarf *dwarf, int fd, const struct image *image, uint64_t *left,
		      const char **why);
void debug_dwarf_release(struct debug_dwarf *dwarf);

/* The part of `left` bytes that the machine has free for DWARF. */
uint64_t debug_dwarf_allowed(uint64_t left);

/* Do all DWARF sections together, unpacked, fit the limit? Then *bytes is their size. */
bool debug_dwarf_fits(Elf *elf, uint64_t limit, uint64_t *bytes);

/* --- debug_file_split.c ------------------------------------------------ */

/* Moves the section's bytes to memory with `extra` zero bytes behind them. */
void debug_dwarf_move(struct debug_dwarf *dwarf, Elf_Data *data, size_t extra);

/* Is the number of units, counted by their headers alone, within the limit for libdw? */
bool debug_has_few_units(Dwarf *dwarf);

/* Called with each unit's `die`; false ends the walk. */
typedef bool debug_unit_visitor(void *context, Dwarf_Die *die, uint8_t offset_size);

/* Visits every unit of .debug_info that libdw can find; false when the visitor returned false. */
bool debug_visit_units(Dwarf *dwarf, debug_unit_visitor *visit, void *context);

#define DEBUG_SPLIT_NAME_SIZE 32
extern const char debug_split_nowhere[DEBUG_SPLIT_NAME_SIZE];

/* Changes the names of .dwo files so that libdw opens none; false when one cannot be changed. */
bool debug_split_disarm(struct debug_dwarf *dwarf);

#endif
