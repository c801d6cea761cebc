/* SPDX-License-Identifier: MIT */
/*
 * dwarf_structures.h - offsets of members of C structures, from a module's debug information.
 *
 * Structures are searched among the outermost entries of all units: any unit may define a
 * structure, and dwz moves types to separate units. The DWARF is foreign and its entries may form
 * rings, so that the time is limited.
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
	const char *tag;  /* NULL when this element of `wanted` is not used */
	const char *type; /* name of a typedef; NULL when only the tag identifies the structure */
};

struct dwarf_structures {
	/* Structures to search; calls refer to them by their indices. */
	struct dwarf_structure wanted[DWARF_STRUCTURES_MOST];
	uint64_t time_ns; /* limit of the time of all calls of dwarf_structures_find together */
	bool found[DWARF_STRUCTURES_MOST];
	uint64_t size[DWARF_STRUCTURES_MOST]; /* bytes; valid for structures that were found */
	/* Private. */
	Dwarf_Die die[DWARF_STRUCTURES_MOST];
	uint64_t entries, until_ns;
};

/*
 * Searches the structures and uses the first complete definition of each. Before the first call all
 * members but `wanted` and `time_ns` must be zero. A further call searches, in another handle, the
 * structures that are still missing.
 */
void dwarf_structures_find(struct dwarf_structures *structures, Dwarf *dwarf);

/* Stores the offset in bytes of a member of the structure; `path` separates nested members by
 * dots. False: there is no such member. */
bool dwarf_structures_member(struct dwarf_structures *structures, size_t structure,
			     const char *path, uint64_t *offset);

#endif
