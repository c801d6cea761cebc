/* SPDX-License-Identifier: MIT */
/*
 * dwarf_entries.h - the units of a module's DWARF and their entries (DIEs), within a time limit.
 */
#ifndef WALLSAMPLE_DWARF_DWARF_ENTRIES_H
#define WALLSAMPLE_DWARF_DWARF_ENTRIES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/dwarf/debug_file.h"

/* --- CPU time (dwarf_time.c) -------------------------------------------------------------------
 *
 * Entries of a few bytes can each make libdw read a list of a gigabyte: the cost of reading a
 * file does not follow from its size.
 */

struct dwarf_time {
	uint64_t began_ns, end_ns; /* of the CPU time of this process */
	uint64_t ask_ns;           /* CLOCK_MONOTONIC: when that is read next */
	unsigned count;            /* calls since */
	bool over;
};

void dwarf_time_start(struct dwarf_time *time, uint64_t most_ns);
/* To be called at each step; it reads the clock at each 256th call, and after 10 ms. */
bool dwarf_time_is_over(struct dwarf_time *time);
uint64_t dwarf_time_used_ns(const struct dwarf_time *time);

/* --- units (dwarf_each.c, dwarf_split.c) ---------------------------------------------------- */

/*
 * Calls `each` with the top entry of every compilation unit, after debug_file_split(); it
 * returns an estimate of the bytes that libdw keeps because of the call. Ends when `most_ns` of
 * CPU time are used; `each` can check `time` as well. False: the module has no DWARF.
 */
bool dwarf_each_unit(const struct debug_files_config *config, const struct module *module,
		     uint64_t most_ns,
		     size_t (*each)(void *context, Dwarf_Die *top, struct dwarf_time *time),
		     void *context);

/* Is it the address of code of the image? Debug information of code that the linker dropped
 * remains, with other addresses. */
bool dwarf_each_is_code(const struct image *image, uint64_t vaddr);

/* The top entry of a skeleton unit's split unit in a .dwo file; false when `top` is none, or the
 * file was not found. */
bool dwarf_split_find(const Dwarf_Die *top, Dwarf_Die *split);

/* --- entries that have code (dwarf_walk.c) -----------------------------------------------------
 *
 * Why not libdw: it follows references from entry to entry, which can be circular in a damaged
 * file and then do not end, and reads each entry's attributes several times. This reads the
 * bytes of a unit once, from the first to the last. Names of 100,000 addresses in 265 MiB of
 * DWARF take 2.6 to 6.3 s with it; addr2line takes 9.6 to 12.2 s, eu-addr2line, which walks with
 * libdw, answers 3,009 in 60 s. It can go when libdw ends on damaged files and is as fast.
 */

struct dwarf_walk;

/* A subprogram or inlined subroutine that has code. */
struct dwarf_entry {
	Dwarf_Die die;
	uint32_t offset; /* in bytes after the unit's top entry */
	uint32_t depth;  /* number of entries around it; of the unit's top entry: 0 */
	uint32_t left;   /* since the previous one, entries of this depth or deeper have ended */
	bool inlined;
};

/* Starts at the top entry of a unit; NULL when the unit cannot be walked. */
struct dwarf_walk *dwarf_walk_create(const Dwarf_Die *top);
void dwarf_walk_free(struct dwarf_walk *walk);
/* The next one; false at the end, which may come early in a damaged unit. */
bool dwarf_walk_next(struct dwarf_walk *walk, struct dwarf_entry *entry);
/* Estimate of the bytes that libdw keeps because of this walk. */
size_t dwarf_walk_cost(const struct dwarf_walk *walk);

/* --- names and source files (dwarf_name.c, dwarf_paths.c) ----------------------------------- */

/* The linkage name of a function if it is mangled, else the name in the source, through the
 * entries that it refers to; NULL: it has none. */
const char *dwarf_name_function(const Dwarf_Die *die);

struct dwarf_paths;

/* For the source files of the unit with this top entry. */
struct dwarf_paths *dwarf_paths_create(Dwarf_Die *top);
void dwarf_paths_free(struct dwarf_paths *paths);
/*
 * The path of a file that libdw calls `name`: a relative one with the directory of the
 * compilation before it. NULL when that is not known. The same file gives the same pointer,
 * which is valid until dwarf_paths_free.
 */
const char *dwarf_paths_join(struct dwarf_paths *paths, const char *name);

#endif
