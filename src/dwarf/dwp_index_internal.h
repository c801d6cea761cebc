/* SPDX-License-Identifier: MIT */
/*
 * dwp_index_internal.h - where a unit's parts are in a package of split DWARF (.dwp).
 *
 * .debug_cu_index is a hash table from the unit's id (DWO id) to a row, and a row says for each
 * section which piece of it is the unit's: version 2 is GNU's for DWARF 4
 * (gcc.gnu.org/wiki/DebugFissionDWP), version 5 that of DWARF 5 (7.3.5.3).
 */
#ifndef WALLSAMPLE_DWARF_DWP_INDEX_INTERNAL_H
#define WALLSAMPLE_DWARF_DWP_INDEX_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(name, section): what functions, lines and inlined functions are read from. */
#define DWP_PARTS(X)                              \
	X(INFO, ".debug_info.dwo")                \
	X(ABBREV, ".debug_abbrev.dwo")            \
	X(LINE, ".debug_line.dwo")                \
	X(STR_OFFSETS, ".debug_str_offsets.dwo")  \
	X(RNGLISTS, ".debug_rnglists.dwo")

enum dwp_part {
#define X(name, section) DWP_##name,
	DWP_PARTS(X)
#undef X
	DWP_PART_COUNT
};

/* A piece of a section; of size 0 when the unit has none. */
struct dwp_piece {
	uint32_t offset, size;
};

struct dwp_row {
	struct dwp_piece piece[DWP_PART_COUNT];
};

/* Why an index cannot be used, a fixed text; NULL when it can. */
const char *dwp_index_check(const uint8_t *bytes, size_t size);

/* The row of a unit in an index that can be used; false when it is not there. */
bool dwp_index_find(const uint8_t *bytes, size_t size, uint64_t id, struct dwp_row *row);

#endif
