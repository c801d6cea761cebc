/* SPDX-License-Identifier: MIT */
/*
 * dwarf_structures.h - offsets of members of C structures, from a module's debug information.
 *
 * Structures are searched among the outermost entries of all units: any unit may define one, and
 * dwz moves types to units of their own. The DWARF is not trusted: entries may form rings, so the
 * time is bounded.
 */
#ifndef WALLSAMPLE_DWARF_DWARF_STRUCTURES_H
#define WALLSAMPLE_DWARF_DWARF_STRUCTURES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DWARF_STRUCTURES_MOST 16

/* A structure, identified by its tag or by a typedef of it. */
struct dwarf_structure {
	const char *tag;  /* NULL: this one is not wanted */
	const char *type; /* or NULL */
};

struct dwarf_structures {
	struct dwarf_structure wanted[DWARF_STRUCTURES_MOST]; /* the caller chooses the indices */
	uint64_t time_ns; /* limit of the total time of all calls below */
	bool found[DWARF_STRUCTURES_MOST];
	uint64_t size[DWARF_STRUCTURES_MOST]; /* bytes, of the structures found */
	/* Private. */
	Dwarf_Die die[DWARF_STRUCTURES_MOST];
	uint64_t entries, until_ns;
};

/* Searches the structures; the first complete definition of each is used. Before the first call
 * all members but `wanted` and `time_ns` must be zero; a further call searches the missing ones. */
void dwarf_structures_find(struct dwarf_structures *structures, Dwarf *dwarf);

/* Stores the offset in bytes of a member of the structure; `path` separates nested members by
 * dots. False: there is no such member. */
bool dwarf_structures_member(struct dwarf_structures *structures, size_t structure,
			     const char *path, uint64_t *offset);

#endif
