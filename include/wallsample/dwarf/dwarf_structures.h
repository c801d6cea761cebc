/* SPDX-License-Identifier: MIT */
/*
 * dwarf_structures.h - finds the offsets of members of C structures in a module's debug
 * information.
 *
 * Structures are searched among the outermost entries of all units: any unit may define a
 * structure, and dwz moves types to separate units. In a damaged file entries may refer to each
 * other in rings, so the time and the number of entries are limited.
 */
#ifndef WALLSAMPLE_DWARF_DWARF_STRUCTURES_H
#define WALLSAMPLE_DWARF_DWARF_STRUCTURES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Largest number of structures that are searched together. */
#define DWARF_STRUCTURES_MOST 16

/* A structure, identified by its tag or by a typedef of it. */
struct dwarf_structure {
	const char *tag;  /* NULL when this element of `wanted` is not used */
	const char *type; /* name of a typedef; NULL when only the tag identifies the structure */
};

struct dwarf_structures {
	/* Structures to search. A structure is referred to by its index in this array. */
	struct dwarf_structure wanted[DWARF_STRUCTURES_MOST];
	/* Limit of the elapsed time in ns, counted from the first call of dwarf_structures_find.
	 * The clock is read at each 1024th entry. If the time is then over, the search in the
	 * current unit or structure ends; the following units are still searched, in the same
	 * way. */
	uint64_t time_ns;
	bool found[DWARF_STRUCTURES_MOST];
	uint64_t size[DWARF_STRUCTURES_MOST]; /* bytes; valid for structures that were found */
	/* Private. */
	Dwarf_Die die[DWARF_STRUCTURES_MOST];
	uint64_t entries, until_ns;
};

/*
 * Searches `wanted` and uses the first complete definition of each structure. Before the first call
 * all members but `wanted` and `time_ns` must be zero. A further call, with another handle,
 * searches only the structures that were not found yet. The handles must be open until the last
 * call of dwarf_structures_member.
 */
void dwarf_structures_find(struct dwarf_structures *structures, Dwarf *dwarf);

/* Stores the offset in bytes of a member of the structure with this index. `path` is the member's
 * name, or names of nested members separated by dots. Returns false when the structure was not
 * found or has no such member, or when a limit of time or of entries ends the search. */
bool dwarf_structures_member(struct dwarf_structures *structures, size_t structure,
			     const char *path, uint64_t *offset);

#endif
