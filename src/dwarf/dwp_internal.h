/* SPDX-License-Identifier: MIT */
/*
 * dwp_internal.h - packages of split DWARF (.dwp), and .dwo files in memory that are made from
 * single units of them.
 *
 * libdw reads packages since elfutils 0.191; libdw 0.188 (Debian 12) reads only .dwo files. So,
 * until 0.191 is the oldest supported version, a .dwo file is made for libdw from each unit, with
 * copies of the unit's pieces of the sections. All units of a package share the texts, which can
 * have some hundred MiB: only the texts that the unit refers to are copied.
 *
 * .debug_cu_index is a hash table from a unit's id (DWO id) to a row, which locates the piece of
 * the unit in each section. Version 2 of the table is GNU's, for DWARF 4
 * (gcc.gnu.org/wiki/DebugFissionDWP); version 5 is defined by DWARF 5 (7.3.5.3).
 */
#ifndef WALLSAMPLE_DWARF_DWP_INTERNAL_H
#define WALLSAMPLE_DWARF_DWP_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(name, section): the sections from which functions, inlined functions and lines are read. */
#define DWP_PARTS(X)                                                                               \
	X(INFO, ".debug_info.dwo")                                                                 \
	X(ABBREV, ".debug_abbrev.dwo")                                                             \
	X(LINE, ".debug_line.dwo")                                                                 \
	X(STR_OFFSETS, ".debug_str_offsets.dwo")                                                   \
	X(RNGLISTS, ".debug_rnglists.dwo")

enum dwp_part {
#define X(name, section) DWP_##name,
	DWP_PARTS(X) DWP_PART_COUNT
#undef X
};

/* The piece of a unit in one section: offset in the section and size, in bytes; the size is 0 when
 * the unit has none. */
struct dwp_piece {
	uint32_t offset, size;
};

struct dwp_row {
	struct dwp_piece piece[DWP_PART_COUNT];
};

/* A section of a package; its size is 0 when the package lacks the section. */
struct dwp_section {
	uint64_t offset, size; /* file offset and size in bytes */
	/* The unpacked bytes if the section is compressed; NULL: its bytes are read from the
	 * file. */
	const uint8_t *bytes;
};

struct dwp_source {
	int fd;
	uint16_t machine; /* e_machine */
	struct dwp_section part[DWP_PART_COUNT];
	struct dwp_section texts; /* .debug_str.dwo */
};

/* Copies [at, at + size) of a section; false when one of these bytes cannot be read. */
bool dwp_section_read(const struct dwp_source *source, const struct dwp_section *section,
		      uint64_t at, uint8_t *to, size_t size);

/* Checks an index of `size` bytes. Returns NULL when it is valid, else a constant text with the
 * reason why not. */
const char *dwp_index_check(const uint8_t *bytes, size_t size);

/* Finds the row of a unit by the unit's id in an index; false when the index lacks the unit or
 * is not valid. */
bool dwp_index_find(const uint8_t *bytes, size_t size, uint64_t id, struct dwp_row *row);

/*
 * Makes a .dwo file in memory from the pieces that a row locates. Returns its descriptor, which the
 * caller closes; -1, with the reason in *why, a constant text, when the unit is damaged or too
 * large, or memory is missing.
 */
int dwp_image_make(const struct dwp_source *source, const struct dwp_row *row, const char **why);

#endif
