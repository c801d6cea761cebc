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

/* --- sizes of attributes by their forms, DWARF 5, 7.5.6 (dwarf_form.c) --------------------- */

/* What the sizes of a unit's forms depend on. */
struct dwarf_form_sizes {
	uint8_t address, offset, reference; /* bytes */
	bool swapped; /* its numbers do not have the byte order of this machine */
};

enum dwarf_step_kind {
	DWARF_STEP_FIXED,      /* `size` bytes */
	DWARF_STEP_ULEB,       /* bytes up to the first below 0x80 */
	DWARF_STEP_STRING,     /* bytes up to a zero */
	DWARF_STEP_BLOCK,      /* a number of `size` bytes, that many bytes */
	DWARF_STEP_EXPRESSION, /* a ULEB number, that many bytes */
	DWARF_STEP_INDIRECT,   /* a ULEB number: the form of what follows */
};

struct dwarf_step {
	uint32_t kind, size;
};

bool dwarf_form_sizes_of(Dwarf_Die *unit, struct dwarf_form_sizes *sizes);
/* The step over a form; false when the form is not known. */
bool dwarf_form_step(const struct dwarf_form_sizes *sizes, unsigned int form,
		     struct dwarf_step *step);
/* Moves *at over an attribute; false, with *at at most `end`, when it does not end before `end`. */
bool dwarf_form_skip(const struct dwarf_form_sizes *sizes, const struct dwarf_step *step,
		     const unsigned char **at, const unsigned char *end);
/* Reads a ULEB128 number; bits above the 64th are dropped. */
bool dwarf_form_uleb(const unsigned char **at, const unsigned char *end, uint64_t *value);

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

/* --- the units of a file by the addresses of their code (dwarf_units.c) -----------------------
 *
 * .debug_aranges is not used: clang does not write it, and old linkers damaged it.
 */

struct dwarf_units;

/* Reads the headers of all units, until the time is over. */
struct dwarf_units *dwarf_units_create(Dwarf *dwarf, struct dwarf_time *time);
void dwarf_units_free(struct dwarf_units *units);
size_t dwarf_units_count(const struct dwarf_units *units);
/* The offset of a unit's top entry in .debug_info. */
Dwarf_Off dwarf_units_top(const struct dwarf_units *units, uint32_t unit);
/* The addresses that code can have. */
const struct dwarf_spans *dwarf_units_code(const struct dwarf_units *units);
/* The units that may contain an address, the one with the smallest span around it first. */
size_t dwarf_units_holding(const struct dwarf_units *units, uint64_t vaddr, uint32_t *out,
			   size_t most);
/*
 * Reads the functions of the next unit without addresses in its top entry. Returns false when
 * there is none left. After the last call dwarf_units_order must be called before the units are
 * searched.
 */
bool dwarf_units_read_without_ranges(struct dwarf_units *units, const struct dwarf_opener *opener,
				     Dwarf *dwarf, size_t *cost, struct dwarf_time *time);
void dwarf_units_order(struct dwarf_units *units);

#endif
