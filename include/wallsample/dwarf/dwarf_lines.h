/* SPDX-License-Identifier: MIT */
/*
 * dwarf_lines.h - from an address to function, file, line and what was inlined there, by DWARF.
 *
 * A unit (CU) is read when the first address in it is asked for. What was read of
 * units is given back once it is more than a limit, so that addresses should be asked
 * for in ascending order.
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

/* How a handle is had, again and again when units are given back; NULL: there is no DWARF. */
struct dwarf_opener {
	Dwarf *(*open)(void *context);
	void (*close)(void *context, Dwarf *dwarf);
	/*
	 * A unit is about to be read: if it is a skeleton, finds its .dwo file. Returns how
	 * many bytes of memory that takes until the handle is closed. NULL: there are none.
	 */
	size_t (*split)(void *context, Dwarf_CU *cu);
	/* It takes too much time: symbol tables must do for the rest. Called once; or NULL. */
	void (*slow)(void *context);
	void *context;
};

struct dwarf_lines *dwarf_lines_create(const struct dwarf_opener *opener);
void dwarf_lines_free(struct dwarf_lines *lines);
/* What was read is given back when it is more than this, in bytes; 200 MiB until said. */
void dwarf_lines_set_limit(struct dwarf_lines *lines, size_t bytes);

/* How much CPU time may be spent; 10 s and 60 s until said. */
void dwarf_lines_set_time(struct dwarf_lines *lines, uint64_t unit_ns, uint64_t file_ns);

/*
 * At most `most` places, innermost first; returns how many, 0 when no unit holds the address.
 * When there are more, the last is still the function whose code it is. Damaged DWARF
 * costs what it damages, and no more time than was said: then the rest of the unit has no
 * functions, or the file nothing at all any more. Opening the handle is not counted.
 */
size_t dwarf_lines_find(struct dwarf_lines *lines, uint64_t vaddr, struct dwarf_place *out,
			size_t most);

#endif
