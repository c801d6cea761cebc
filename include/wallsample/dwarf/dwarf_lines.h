/* SPDX-License-Identifier: MIT */
/*
 * dwarf_lines.h - finds function, file, line and inlined functions of an address in DWARF.
 *
 * A unit (CU) is read when an address in it is searched for the first time. When the units that
 * were read take more memory than a limit, all of them are freed, and read again when they are
 * needed. So addresses should be searched in ascending order: then few units are read twice.
 */
#ifndef WALLSAMPLE_DWARF_DWARF_LINES_H
#define WALLSAMPLE_DWARF_DWARF_LINES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_lines;

/* One function at an address; texts are valid until the next call with the same dwarf_lines. */
struct dwarf_place {
	/* Linkage name if it is mangled, else name in the source; NULL when not known. */
	const char *function;
	const char *file; /* path at compilation; NULL when not known */
	/* In the innermost function, the line of the address; in an outer function, the line that
	 * calls the next inner function; 0 when not known. */
	uint32_t line;
	bool inlined; /* the function is inlined into that of the next place */
};

/* Functions that open and close the DWARF handle of a module. */
struct dwarf_opener {
	/* Opens the handle; called again after units were freed. Returns NULL when there is no
	 * DWARF. */
	Dwarf *(*open)(void *context);
	void (*close)(void *context, Dwarf *dwarf);
	/*
	 * Called before a unit is read; finds the split unit of a skeleton unit. Returns the bytes
	 * of memory that the split unit takes until the handle is closed. May be NULL.
	 */
	size_t (*split)(void *context, Dwarf_CU *cu);
	/* Called once, when a limit of dwarf_lines_set_time is first reached: some addresses then
	 * get no places, or places without functions. May be NULL. */
	void (*slow)(void *context);
	void *context;
};

struct dwarf_lines *dwarf_lines_create(const struct dwarf_opener *opener);
void dwarf_lines_free(struct dwarf_lines *lines);
/* Sets the limit in bytes: when the units that were read take more memory, they are freed. Default:
 * 200 MiB. */
void dwarf_lines_set_limit(struct dwarf_lines *lines, size_t bytes);

/* Sets the limits of CPU time for one unit and for the whole file; defaults 10 s and 60 s. */
void dwarf_lines_set_time(struct dwarf_lines *lines, uint64_t unit_ns, uint64_t file_ns);

/*
 * Stores at most `most` places, innermost first, and returns their number; 0 when no unit contains
 * the address. The last place is always the function that contains the address, even when inlined
 * functions have to be omitted. Damaged DWARF gives fewer places. When the time limit of a unit is
 * reached, its remaining functions are missing; when that of the file is reached, addresses get no
 * places. The time of open() is not counted.
 */
size_t dwarf_lines_find(struct dwarf_lines *lines, uint64_t vaddr, struct dwarf_place *out,
			size_t most);

#endif
