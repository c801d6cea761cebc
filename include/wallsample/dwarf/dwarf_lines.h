/* SPDX-License-Identifier: MIT */
/*
 * dwarf_lines.h - finds function, file, line and inlined functions of an address in DWARF.
 *
 * A unit (CU) is read when the first address in it is searched. The memory of units is freed when
 * it exceeds a limit, so addresses should be searched in ascending order.
 */
#ifndef WALLSAMPLE_DWARF_DWARF_LINES_H
#define WALLSAMPLE_DWARF_DWARF_LINES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_lines;

/* One function at an address; texts are valid until the next call with the same lines. */
struct dwarf_place {
	const char *function; /* linkage name if that is mangled, else its name; NULL: not known */
	const char *file;     /* as the compiler was given it, directory joined; NULL: not known */
	uint32_t line;        /* innermost: of the address; else where the inner one was called */
	bool inlined;         /* into the next */
};

/* Opens the handle of a file, repeatedly when units are freed; open() returns NULL: no DWARF. */
struct dwarf_opener {
	Dwarf *(*open)(void *context);
	void (*close)(void *context, Dwarf *dwarf);
	/*
	 * Called before a unit is read; finds the .dwo file of a skeleton unit. Returns the bytes
	 * of memory that it takes until the handle is closed. NULL: there are no such files.
	 */
	size_t (*split)(void *context, Dwarf_CU *cu);
	/* Called once when the time is over and the rest needs symbol tables; or NULL. */
	void (*slow)(void *context);
	void *context;
};

struct dwarf_lines *dwarf_lines_create(const struct dwarf_opener *opener);
void dwarf_lines_free(struct dwarf_lines *lines);
/* Sets the limit in bytes above which the memory of units is freed; default 200 MiB. */
void dwarf_lines_set_limit(struct dwarf_lines *lines, size_t bytes);

/* Sets the limits of CPU time per unit and per file; defaults 10 s and 60 s. */
void dwarf_lines_set_time(struct dwarf_lines *lines, uint64_t unit_ns, uint64_t file_ns);

/*
 * Stores at most `most` places, innermost first, and returns their number; 0 when no unit contains
 * the address. When there are more, the last is still the function that contains the address.
 * Damaged DWARF gives fewer places. After a time limit the rest of the unit has no functions, or
 * the file no places at all. The time to open the handle is not counted.
 */
size_t dwarf_lines_find(struct dwarf_lines *lines, uint64_t vaddr, struct dwarf_place *out,
			size_t most);

#endif
