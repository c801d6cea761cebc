/* SPDX-License-Identifier: MIT */
/*
 * dwarf_structures.h - where members of C structures are, by a module's debug information.
 *
 * Structures are looked for among the outermost entries of all units: the unit that defines
 * one may be any of them, and dwz moves types to units of their own. All of it is foreign: entries
 * may form rings, and the time is bounded.
 */
#ifndef WALLSAMPLE_DWARF_DWARF_STRUCTURES_H
#define WALLSAMPLE_DWARF_DWARF_STRUCTURES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DWARF_STRUCTURES_MOST 16

/* A structure is known by its tag, or as that of a typedef. */
struct dwarf_structure {
	const char *tag;  /* NULL: this one is not wanted */
	const char *type; /* or NULL */
};

struct dwarf_structures {
	struct dwarf_structure wanted[DWARF_STRUCTURES_MOST]; /* by the caller's numbers */
	uint64_t time_ns; /* at most so long, with all calls of the next */
	bool found[DWARF_STRUCTURES_MOST];
	uint64_t size[DWARF_STRUCTURES_MOST]; /* bytes, of those that were found */
	/* Its own. */
	Dwarf_Die die[DWARF_STRUCTURES_MOST];
	uint64_t entries, until_ns;
};

/* Looks for the structures; the first of each that is complete is taken. Before the first call
 * zeroed but for what is wanted and time_ns; a second call looks for the rest. */
void dwarf_structures_find(struct dwarf_structures *structures, Dwarf *dwarf);

/* The offset of a member in the structure: members of members with dots between. False: none. */
bool dwarf_structures_member(struct dwarf_structures *structures, size_t structure,
			     const char *path, uint64_t *offset);

#endif
