/* SPDX-License-Identifier: MIT */
/*
 * debug_dwarf_internal.h - prepares ELF files for libdw: limits the memory that they take, and
 * removes what would make libdw open other files.
 */
#ifndef WALLSAMPLE_DWARF_DEBUG_DWARF_INTERNAL_H
#define WALLSAMPLE_DWARF_DEBUG_DWARF_INTERNAL_H

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/elf/image.h"

/* A skeleton unit (CU): a unit whose debug information, the split unit, is in a .dwo file. */
struct debug_skeleton {
	uint64_t offset; /* offset of the unit's top entry in .debug_info */
	char *path;      /* path of the .dwo file at compilation */
};

/*
 * An ELF file for libdw. The debug sections that wallsample needs are in memory, the others are
 * hidden from libdw. `elf` has no descriptor, and the DWARF names no file that libdw would open.
 */
struct debug_dwarf {
	Elf *elf;
	void **buffer; /* buffers with the bytes of sections that debug_dwarf_move has moved */
	size_t buffer_count, buffer_capacity;
	struct debug_skeleton *skeleton; /* ascending by offset */
	size_t skeleton_count, skeleton_capacity;
	/* The text in .debug_str that all skeleton units now name as their .dwo file; NULL when
	 * there are no skeleton units. */
	char *split_name;
	bool split_missed;  /* a warning has reported a missing .dwo file */
	bool split_refused; /* a warning has reported a .dwo file that exceeds the memory */
};

/* --- debug_file_dwarf.c ------------------------------------------------ */

/*
 * Opens and prepares the file `fd` (borrowed) or, when `fd` is -1, the image's memory. Subtracts
 * the unpacked size of the DWARF from *left. Returns false, with the reason in *why, when the DWARF
 * cannot be used. The caller releases `dwarf` with debug_dwarf_release.
 */
bool debug_dwarf_init(struct debug_dwarf *dwarf, int fd, const struct image *image, uint64_t *left,
		      const char **why);
void debug_dwarf_release(struct debug_dwarf *dwarf);

/* Returns the number of bytes of DWARF that may be read: the smaller of `left` and half of the free
 * memory. */
uint64_t debug_dwarf_allowed(uint64_t left);

/* Returns whether all DWARF sections together, unpacked, have at most `limit` bytes, and stores
 * their size in *bytes. */
bool debug_dwarf_fits(Elf *elf, uint64_t limit, uint64_t *bytes);

/* --- debug_file_split.c ------------------------------------------------ */

/* Moves the section's bytes to a buffer that `dwarf` owns, and adds `extra` zero bytes behind
 * them. */
void debug_dwarf_move(struct debug_dwarf *dwarf, Elf_Data *data, size_t extra);

/* Returns whether the DWARF has few enough units for libdw. Reads only the headers of the units. */
bool debug_has_few_units(Dwarf *dwarf);

/* Called with the top entry of each unit and the size of offsets in the unit (4 or 8 bytes).
 * Returns false to end the walk. */
typedef bool debug_unit_visitor(void *context, Dwarf_Die *die, uint8_t offset_size);

/* Visits every unit of .debug_info that libdw can find; false when the visitor ended the walk. */
bool debug_visit_units(Dwarf *dwarf, debug_unit_visitor *visit, void *context);

/* The name of a .dwo file that all skeleton units get: a path that cannot exist. */
#define DEBUG_SPLIT_NAME_SIZE 32
extern const char debug_split_nowhere[DEBUG_SPLIT_NAME_SIZE];

/* Changes the names of .dwo files, so that libdw opens none of them; false when a name cannot be
 * changed. */
bool debug_split_disarm(struct debug_dwarf *dwarf);

#endif
