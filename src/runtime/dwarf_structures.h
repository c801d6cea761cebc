/* SPDX-License-Identifier: MIT */
/*
 * dwarf_structures.h - where members of C structures are, by a module's debug information.
 *
 * Structures are looked for among the outermost entries of all units: the unit that defines
 * one may be any of them. All of it is foreign: entries may form rings, and the time is bounded.
 */
#ifndef WALLSAMPLE_RUNTIME_DWARF_STRUCTURES_H
#define WALLSAMPLE_RUNTIME_DWARF_STRUCTURES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DWARF_STRUCTURES_MOST 8

struct dwarf_structures {
	const char *const *tag; /* their tags; borrowed */
	size_t count;           /* at most DWARF_STRUCTURES_MOST */
	bool found[DWARF_STRUCTURES_MOST];
	/* Its own. */
	Dwarf_Die die[DWARF_STRUCTURES_MOST];
	uint64_t entries, until_ns;
};

/* Looks for the structures; the first of each that is complete is taken. Until then zeroed but for
 * tag and count. Takes at most two seconds, with all calls of the next. */
void dwarf_structures_find(struct dwarf_structures *structures, Dwarf *dwarf);

/* The offset of a member in the structure: members of members with dots between. False: none. */
bool dwarf_structures_member(struct dwarf_structures *structures, size_t structure,
			     const char *path, uint64_t *offset);

#endif
