/* SPDX-License-Identifier: MIT */
/*
 * dwarf_unit_internal.h - reads units of DWARF, and finds spans of addresses.
 *
 * A struct dwarf_unit points into memory of libdw: it must be freed before its Dwarf handle is
 * closed.
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

/*
 * --- spans of addresses that may overlap and nest (dwarf_spans.c) -----------------------------
 *
 * Spans are added, then sorted, then searched. The time of a search grows with the
 * logarithm of the number of spans and with the number of spans that are found.
 */

struct dwarf_span {
	uint64_t low, high; /* [low, high) */
	uint64_t reach;     /* private: the highest end in the subtree (dwarf_spans.c) */
	uint32_t what;      /* number by which the caller recognises the span */
};

/* A zeroed set is empty. */
struct dwarf_spans {
	struct dwarf_span *all;
	size_t count, capacity;
	/* Number of ranges that were read to add spans, see dwarf_unit_add_ranges(). */
	size_t tried;
};

void dwarf_spans_release(struct dwarf_spans *spans);
/* Adds the span [low, high); false when it is empty, or when there are `limit` spans already. */
bool dwarf_spans_add(struct dwarf_spans *spans, uint64_t low, uint64_t high, uint32_t what,
		     size_t limit);
/* Sorts the spans. Must be called after spans were added and before they are searched. */
void dwarf_spans_order(struct dwarf_spans *spans);
/* Stores at most `most` spans that contain `address`, in ascending order of their low ends; returns
 * their number. */
size_t dwarf_spans_holding(const struct dwarf_spans *spans, uint64_t address,
			   const struct dwarf_span **out, size_t most);

/* --- one unit: functions, inlined functions, lines (dwarf_unit.c) --------------------------- */

struct dwarf_unit;

/*
 * Reads the functions of the unit with the top entry `top`; if the unit has a split unit, those of
 * the split unit. `code` has the addresses at which code can be; if it is empty, code can be at any
 * address but 0. When the time is over, returns the unit with the functions that were read until
 * then.
 */
struct dwarf_unit *dwarf_unit_read(Dwarf_Die *top, const struct dwarf_spans *code,
				   struct dwarf_time *time);
void dwarf_unit_free(struct dwarf_unit *unit);
/* Returns an estimate of the bytes that the unit takes, with the memory of libdw. It grows by the
 * bytes of the unit's lines at the first call of dwarf_unit_find. */
size_t dwarf_unit_cost(const struct dwarf_unit *unit);
/* Does what dwarf_lines_find does, in one unit. When only the line is known, stores one place
 * without a function and returns 1. */
size_t dwarf_unit_find(struct dwarf_unit *unit, uint64_t vaddr, struct dwarf_place *out,
		       size_t most);
/* Returns the sorted address ranges of the unit's functions, borrowed. */
const struct dwarf_spans *dwarf_unit_spans(const struct dwarf_unit *unit);

/*
 * Adds the address ranges of an entry to `spans`, except for ranges that do not begin in `code`,
 * because the linker has dropped their code. Returns false when no range was added.
 *
 * All entries of a damaged file can have the same long list of ranges. So at most `limit` ranges
 * are read, counted in spans->tried. libdw skips some list elements, such as base addresses,
 * without returning them: these are not counted, but `time`, which is checked before each call of
 * libdw, limits how many of these lists are read.
 */
bool dwarf_unit_add_ranges(Dwarf_Die *die, const struct dwarf_spans *code,
			   struct dwarf_spans *spans, uint32_t what, size_t limit,
			   struct dwarf_time *time);

#endif
