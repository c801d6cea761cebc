/* SPDX-License-Identifier: MIT */
/*
 * dwarf_walk.h - the entries (DIEs) of a unit that have code of their own, in one pass.
 *
 * libdw goes from entry to entry by references in the file, which damaged ones can make
 * circular, and reads each entry's attributes several times. This reads a unit's bytes
 * once from its first to its last: it ends, whatever they are.
 */
#ifndef WALLSAMPLE_DWARF_DWARF_WALK_H
#define WALLSAMPLE_DWARF_DWARF_WALK_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_walk;

/* A subprogram or inlined subroutine that has code. */
struct dwarf_entry {
	Dwarf_Die die;
	uint32_t offset; /* in bytes after the unit's top entry */
	uint32_t depth;  /* entries it is in; of the unit's top entry: 0 */
	uint32_t left;   /* since the last one, all entries this deep or deeper have ended */
	bool inlined;
};

/* Begins at the top entry of a unit; NULL when the unit cannot be walked. */
struct dwarf_walk *dwarf_walk_create(const Dwarf_Die *top);
void dwarf_walk_free(struct dwarf_walk *walk);
/* The next one, false at the end, which may come early in a damaged unit. */
bool dwarf_walk_next(struct dwarf_walk *walk, struct dwarf_entry *entry);
/* About how much memory libdw keeps because of this walk. */
size_t dwarf_walk_cost(const struct dwarf_walk *walk);

#endif
