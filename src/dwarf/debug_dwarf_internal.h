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
	/* Path at which the compiler wrote the .dwo file. */
	char *path;
};

/*
 * An ELF file that libdw can read safely. The debug sections that wallsample needs are in memory,
 * the others are hidden from libdw. `elf` has no descriptor, and the DWARF names no file that libdw
 * would open.
 */
struct debug_dwarf {
	Elf *elf;
	void **buffer; /* buffers with the bytes of sections that debug_dwarf_move has moved */
	size_t buffer_count, buffer_capacity;
	struct debug_skeleton *skeleton; /* ascending by offset */
	size_t skeleton_count, skeleton_capacity;
	/* The text in .debug_str that is the name of the .dwo file of all skeleton units, after
	 * debug_split_disarm(); NULL when there are no skeleton units. */
	char *split_name;
	bool split_missed; /* a warning has reported a missing .dwo file */
	/* A warning has reported a .dwo file for which there is not enough memory. */
	bool split_refused;
};

/* --- debug_file_dwarf.c ------------------------------------------------ */

/* Opens and prepares the file `fd` (borrowed) or, when `fd` is -1, the image's memory. Subtracts
 * the unpacked size of the DWARF from *left. Returns false, with the reason in *why and *left
 * unchanged, when the DWARF cannot be used. The caller releases `dwarf` with
 * debug_dwarf_release. */
bool debug_dwarf_init(struct debug_dwarf *dwarf, int fd, const struct image *image, uint64_t *left,
		      const char **why);
void debug_dwarf_release(struct debug_dwarf *dwarf);

/* Returns the number of bytes of unpacked DWARF that may be read: `left`, or half of the free
 * memory if that is less. */
uint64_t debug_dwarf_allowed(uint64_t left);

/* Stores the size in bytes of all debug sections together, unpacked, in *bytes. Returns false, and
 * stores nothing, when they have more than `limit` bytes. */
bool debug_dwarf_fits(Elf *elf, uint64_t limit, uint64_t *bytes);

/* --- debug_file_split.c ------------------------------------------------ */

/* Moves the bytes of a section to a buffer that `dwarf` owns, and adds `extra` zero bytes behind
 * them, which data->d_size does not include. */
void debug_dwarf_move(struct debug_dwarf *dwarf, Elf_Data *data, size_t extra);

/* Returns whether .debug_info and .debug_types each have fewer than 2^20 units. Reads only the
 * headers of the units. */
bool debug_has_few_units(Dwarf *dwarf);

/* Called with the top entry of each unit and the size of offsets in the unit (4 or 8 bytes).
 * Returns false to end the walk. */
typedef bool debug_unit_visitor(void *context, Dwarf_Die *die, uint8_t offset_size);

/* Visits every unit of .debug_info that libdw can find; false when the visitor ended the walk. */
bool debug_visit_units(Dwarf *dwarf, debug_unit_visitor *visit, void *context);

/* The path that all skeleton units get as the name of their .dwo file, and the size in bytes of its
 * array. No file can have this path. */
#define DEBUG_SPLIT_NAME_SIZE 32
extern const char debug_split_nowhere[DEBUG_SPLIT_NAME_SIZE];

/* Changes the names of .dwo files in all units and lists the skeleton units in dwarf->skeleton;
 * libdw then opens none of these files. Returns false when a name cannot be changed. */
bool debug_split_disarm(struct debug_dwarf *dwarf);

#endif
