/* SPDX-License-Identifier: MIT */
/*
 * dwarf_units_internal.h - the units of a file by the addresses of their code.
 *
 * .debug_aranges is not asked: clang does not write it, and old linkers damaged it.
 */
#ifndef WALLSAMPLE_DWARF_DWARF_UNITS_INTERNAL_H
#define WALLSAMPLE_DWARF_DWARF_UNITS_INTERNAL_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/dwarf/dwarf_lines.h"
#include "dwarf/dwarf_spans_internal.h"
#include "wallsample/dwarf/dwarf_time.h"

struct dwarf_units;

/* Reads the headers of all units, or of as many as the time is there for. */
struct dwarf_units *dwarf_units_create(Dwarf *dwarf, struct dwarf_time *time);
void dwarf_units_free(struct dwarf_units *units);
size_t dwarf_units_count(const struct dwarf_units *units);
/* The offset of a unit's top entry in .debug_info. */
Dwarf_Off dwarf_units_top(const struct dwarf_units *units, uint32_t unit);
/* Where code can be. */
const struct dwarf_spans *dwarf_units_code(const struct dwarf_units *units);
/* The units that may hold an address, the one with the fewest addresses around it first. */
size_t dwarf_units_holding(const struct dwarf_units *units, uint64_t vaddr, uint32_t *out,
			   size_t most);
/*
 * Reads the functions of the units that do not say where their code is: the next such
 * unit each time. Returns false when there is no more. When that is done, or given up, the
 * units must be put in order before they are asked again.
 */
bool dwarf_units_read_silent(struct dwarf_units *units, const struct dwarf_opener *opener,
			     Dwarf *dwarf, size_t *cost, struct dwarf_time *time);
void dwarf_units_order(struct dwarf_units *units);

#endif
