/* SPDX-License-Identifier: MIT */
/*
 * dwarf_unit_internal.h - one unit that was read: its functions, what is inlined in them, its
 * lines.
 *
 * It points into what libdw has read: it must be freed before its Dwarf handle is.
 */
#ifndef WALLSAMPLE_DWARF_DWARF_UNIT_INTERNAL_H
#define WALLSAMPLE_DWARF_DWARF_UNIT_INTERNAL_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/dwarf/dwarf_lines.h"
#include "dwarf/dwarf_spans_internal.h"
#include "wallsample/dwarf/dwarf_time.h"

struct dwarf_unit;

/*
 * Reads the functions of the unit with the top entry `top`, of its split unit if it has one;
 * `code` holds where code can be, empty: anywhere but at 0. When the time is over it has those
 * that were read so far.
 */
struct dwarf_unit *dwarf_unit_read(Dwarf_Die *top, const struct dwarf_spans *code,
				   struct dwarf_time *time);
void dwarf_unit_free(struct dwarf_unit *unit);
/* About how much memory it takes, with what libdw keeps for it; the first question adds lines. */
size_t dwarf_unit_cost(const struct dwarf_unit *unit);
/* As dwarf_lines_find; also 1 when only the line is known, 0 when nothing is. */
size_t dwarf_unit_find(struct dwarf_unit *unit, uint64_t vaddr, struct dwarf_place *out,
		       size_t most);
/* The addresses of its functions, in order. */
const struct dwarf_spans *dwarf_unit_spans(const struct dwarf_unit *unit);

/*
 * Adds the addresses of an entry to `spans`, dead ones (that the linker has moved out of
 * the code) left out; false when there are none. Entries of a damaged file may all have the same
 * long list: `spans->tried` counts what was looked at, and is never more than `limit`;
 * what libdw passes over by itself takes time, and ends with that.
 */
bool dwarf_unit_add_ranges(Dwarf_Die *die, const struct dwarf_spans *code,
			   struct dwarf_spans *spans, uint32_t what, size_t limit,
			   struct dwarf_time *time);

#endif
