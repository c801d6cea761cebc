/* SPDX-License-Identifier: MIT */
/*
 * python_sources_internal.h - the sources of a layout, each alone; python_find.c chooses among
 * them.
 */
#ifndef WALLSAMPLE_RUNTIME_PYTHON_PYTHON_SOURCES_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PYTHON_PYTHON_SOURCES_INTERNAL_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/finder_internal.h"
#include "runtime/python/python_layout_internal.h"
#include "wallsample/tracer/memory.h"

/* Part of a version: its minor number, 11 of 3.11.7. */
static inline unsigned
python_minor(uint32_t version)
{
	return version >> 16 & 0xff;
}

/* The oldest that is known, and the newest that was tried. */
#define PYTHON_MINOR_OLDEST 8
#define PYTHON_MINOR_TRIED 14

/* "3.11.7", "3.14.0rc2"; "3.9" when the rest is not known (the number ends in zeros then). */
#define PYTHON_VERSION_TEXT 32
void python_version_text(uint32_t version, char text[PYTHON_VERSION_TEXT]);
/* The other way round; false: no version of CPython 3. Reads up to `size` bytes; *length is how
 * many belong to it. */
bool python_version_parse(const char *text, size_t size, uint32_t *version, size_t *length);

/* --- what the interpreter says (python_debug_offsets.c) ---------------------------------- */

#define PYTHON_COOKIE "xdebugpy"
/* So much from _PyRuntime on is wanted; less will do for older versions. */
#define PYTHON_OFFSETS_SIZE 1024

/* Does _PyRuntime begin so? Then *version is what it says, unchecked. */
bool python_offsets_version(const void *bytes, size_t size, uint64_t *version);
/* False: *why is a fixed text. */
bool python_offsets_parse(const void *bytes, size_t size, struct python_layout *layout,
			  const char **why);

/* --- the table (python_table_*.c) -------------------------------------------------------- */

/*
 * Rows of this machine's architecture, by version: the two first numbers alone (0x030b0000).
 * NULL: there is none behind `after` (NULL: at all).
 */
const struct python_layout *python_table_next(uint32_t version, const struct python_layout *after);

extern const struct python_layout python_table[];
extern const size_t python_table_count;
/* From the member gil_locked to the end of the lock, with two conditions and two mutexes. */
extern const uint32_t python_table_gil_rest;

/* --- DWARF (python_dwarf.c) -------------------------------------------------------------- */

/*
 * Of a CPython of this version, whose two first numbers must be known. False: it has not all
 * that is wanted.
 */
bool python_dwarf_read(Dwarf *dwarf, uint32_t version, struct python_layout *layout);

/* --- memory (python_fit.c) --------------------------------------------------------------- */

/* NOTHING_YET: there is no interpreter with a thread. NOT may be said of one that is changing. */
/* `runtime` is the address of _PyRuntime. */
enum finder_fit python_layout_check(const struct python_layout *layout, uint64_t runtime,
				    const struct memory *memory);

/* --- all of them (python_layout.c) ------------------------------------------------------- */

/* Everything PYTHON_ABSENT, all else zero. */
void python_layout_clear(struct python_layout *layout);
/* What follows from other members: frame_size and code_size. */
void python_layout_finish(struct python_layout *layout);
/* Can this be so? Members that a version of CPython must have are there, and none is far off. */
bool python_layout_is_sane(const struct python_layout *layout);

/* Name of a member ("runtime_interpreters"), and the member; index 0 on, NULL: no more. */
const char *python_layout_member(const struct python_layout *layout, size_t index,
				 uint32_t *value);

#endif
