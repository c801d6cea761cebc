/* SPDX-License-Identifier: MIT */
/*
 * dwp_internal.h - packages of split DWARF (.dwp) and single units out of them.
 *
 * Needed until elfutils 0.191 is the oldest that is supported: libdw knows packages since then;
 * 0.188 (Debian 12) knows only .dwo files, and gets each unit as one. The parts of a unit are
 * copied; of the texts, which all units share and which can be some hundred MiB, only those
 * that the unit refers to.
 */
#ifndef WALLSAMPLE_DWARF_DWP_INTERNAL_H
#define WALLSAMPLE_DWARF_DWP_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- the index (dwp_index.c) -------------------------------------------------------------------
 *
 * .debug_cu_index is a hash table from the unit's id (DWO id) to a row, which has for each
 * section the piece of the unit. Version 2 is GNU's for DWARF 4
 * (gcc.gnu.org/wiki/DebugFissionDWP), version 5 that of DWARF 5 (7.3.5.3).
 */

/* X(name, section): the sources of functions, lines and inlined functions. */
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

/* A piece of a section; of size 0 when the unit has none. */
struct dwp_piece {
	uint32_t offset, size;
};

struct dwp_row {
	struct dwp_piece piece[DWP_PART_COUNT];
};

/* Checks an index of foreign bytes. NULL: it is valid; else the reason, a fixed text. */
const char *dwp_index_check(const uint8_t *bytes, size_t size);

/* Fills in the row of a unit from a valid index; false when it is not there. */
bool dwp_index_find(const uint8_t *bytes, size_t size, uint64_t id, struct dwp_row *row);

/* --- a unit as a file (dwp_image.c) --------------------------------------------------------- */

/* A section of a package; of size 0 when there is none. */
struct dwp_section {
	uint64_t offset, size; /* in the file */
	const uint8_t *bytes;  /* NULL: they are in the file; else unpacked, in memory */
};

struct dwp_source {
	int fd;
	uint16_t machine; /* e_machine */
	struct dwp_section part[DWP_PART_COUNT];
	struct dwp_section texts; /* .debug_str.dwo */
};

/* Copies [at, at + size) of a section; false when a byte of it is not there. */
bool dwp_section_read(const struct dwp_source *source, const struct dwp_section *section,
		      uint64_t at, uint8_t *to, size_t size);

/*
 * Makes a .dwo file in memory of the pieces of a row. Returns its descriptor, which the caller
 * closes; -1, with *why a fixed text, when the row is damaged or too large.
 */
int dwp_image_make(const struct dwp_source *source, const struct dwp_row *row, const char **why);

#endif
