/* SPDX-License-Identifier: MIT */
/*
 * dwarf_unit_internal.h - units that were read, units by address, spans, and sizes of attributes.
 *
 * A unit, or a set of units, points into what libdw has read: it must be freed before its Dwarf
 * handle is closed.
 */
#ifndef WALLSAMPLE_DWARF_DWARF_UNIT_INTERNAL_H
#define WALLSAMPLE_DWARF_DWARF_UNIT_INTERNAL_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/dwarf/dwarf_entries.h"
#include "wallsample/dwarf/dwarf_lines.h"

/* Reads a ULEB128 number at *at and moves *at behind it; bits above the 64th are dropped. False
 * when the number does not end before `end` (dwarf_walk.c). */
bool dwarf_read_uleb(const unsigned char **at, const unsigned char *end, uint64_t *value);

/* --- spans of addresses that may overlap and nest (dwarf_spans.c) -----------------------------
 *
 * All spans are added, then ordered once, then searched: a search costs the logarithm of their
 * number, and the number of those found.
 */

struct dwarf_span {
	uint64_t low, high; /* [low, high) */
	uint64_t reach;     /* the highest `high` of the part of the order this is the middle of */
	uint32_t what;      /* the caller's number */
};

/* A zeroed one is empty. */
struct dwarf_spans {
	struct dwarf_span *all;
	size_t count, capacity;
	size_t tried; /* entries read to fill it; the user counts them */
};

void dwarf_spans_release(struct dwarf_spans *spans);
/* Adds [low, high); false for an empty one, and when there are `limit` already. */
bool dwarf_spans_add(struct dwarf_spans *spans, uint64_t low, uint64_t high, uint32_t what,
		     size_t limit);
void dwarf_spans_order(struct dwarf_spans *spans);
/* The spans that contain `address`, by their low ends, at most `most`; returns their number. */
size_t dwarf_spans_holding(const struct dwarf_spans *spans, uint64_t address,
			   const struct dwarf_span **out, size_t most);

/* --- one unit: functions, inlined functions, lines (dwarf_unit.c) --------------------------- */

struct dwarf_unit;

/*
 * Reads the functions of the unit with the top entry `top`, of its split unit if it has one;
 * `code` contains the addresses that code can have, and is empty for any but 0. After the time
 * is over the unit has the functions that were read until then.
 */
struct dwarf_unit *dwarf_unit_read(Dwarf_Die *top, const struct dwarf_spans *code,
				   struct dwarf_time *time);
void dwarf_unit_free(struct dwarf_unit *unit);
/* Estimate of its bytes of memory, libdw's included; the first dwarf_unit_find adds the lines. */
size_t dwarf_unit_cost(const struct dwarf_unit *unit);
/* As dwarf_lines_find; also 1 when only the line is known, 0 when nothing is. */
size_t dwarf_unit_find(struct dwarf_unit *unit, uint64_t vaddr, struct dwarf_place *out,
		       size_t most);
/* The addresses of its functions, ordered. */
const struct dwarf_spans *dwarf_unit_spans(const struct dwarf_unit *unit);

/*
 * Adds the addresses of an entry to `spans`, without dead ones, which the linker has moved out
 * of the code; false when there are none. Entries of a damaged file may all have the same long
 * list: `spans->tried` counts its elements up to `limit`. Elements that libdw skips are not
 * counted; their time is bounded by `time`.
 */
bool dwarf_unit_add_ranges(Dwarf_Die *die, const struct dwarf_spans *code,
			   struct dwarf_spans *spans, uint32_t what, size_t limit,
			   struct dwarf_time *time);

#endif
