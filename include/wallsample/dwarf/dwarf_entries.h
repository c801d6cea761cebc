/* SPDX-License-Identifier: MIT */
/*
 * dwarf_entries.h - reads the units of a module's DWARF and their entries (DIEs) within a limit of
 * CPU time.
 */
#ifndef WALLSAMPLE_DWARF_DWARF_ENTRIES_H
#define WALLSAMPLE_DWARF_DWARF_ENTRIES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/dwarf/debug_file.h"

/* --- CPU time ----------------------------------------------------------------------------------
 *
 * An entry of a few bytes can make libdw read a list of a gigabyte. The size of a file therefore
 * does not bound the cost of reading it, and readers limit their CPU time.
 */

struct dwarf_time {
	/* CPU time of this process at the start, and CPU time at which the limit is reached. */
	uint64_t began_ns, end_ns;
	uint64_t ask_ns; /* CLOCK_MONOTONIC time of the next reading of the CPU clock */
	unsigned count;  /* calls since the last reading of the CPU clock */
	bool over;       /* the limit has been reached */
};

/* Starts a limit of `most_ns` of CPU time, counted from now. */
void dwarf_time_start(struct dwarf_time *time, uint64_t most_ns);
/* Returns whether the limit is reached. Readers call it at each step. To save system calls, the
 * function reads the CPU clock only at every 256th call, or when 10 ms have passed since it was
 * read. */
bool dwarf_time_is_over(struct dwarf_time *time);
/* Returns the CPU time used since dwarf_time_start, in ns. */
uint64_t dwarf_time_used_ns(const struct dwarf_time *time);

/* --- units ------------------------------------------------------------------------------------ */

/*
 * Calls `each` with the top entry of every compilation unit of the module, in the order of the
 * file, after a call of debug_file_split() for the unit. `each` returns an estimate of the bytes
 * that libdw keeps because of the call; it may check `time` and return early. Returns false when
 * the module has no DWARF that can be read; else true, even when it ends early because `most_ns` of
 * CPU time are used.
 */
bool dwarf_each_unit(const struct debug_files_config *config, const struct module *module,
		     uint64_t most_ns,
		     size_t (*each)(void *context, Dwarf_Die *top, struct dwarf_time *time),
		     void *context);

/* Returns whether `vaddr` is an address of code in the image. The debug information of functions
 * that the linker has dropped remains in the file, with addresses that are not code. */
bool dwarf_each_is_code(const struct image *image, uint64_t vaddr);

/*
 * Stores the top entry of the split unit in a .dwo file that belongs to the skeleton unit of `top`.
 * Returns false when the unit of `top` is no skeleton unit, or when debug_file_split() has not
 * found the file.
 */
bool dwarf_split_find(const Dwarf_Die *top, Dwarf_Die *split);

/* --- entries that have code (dwarf_walk.c) -----------------------------------------------------
 *
 * Why not libdw: it follows references from entry to entry, which can be circular in a damaged
 * file and then do not end, and reads each entry's attributes several times. This walk reads the
 * bytes of a unit once, from the first to the last. Names of 100,000 addresses in 265 MiB of
 * DWARF take 2.6 to 6.3 s with it; addr2line takes 9.6 to 12.2 s; eu-addr2line, which walks with
 * libdw, answers 3,009 in 60 s. The walk can be removed when libdw ends on damaged files and is as
 * fast.
 */

struct dwarf_walk;

/* A subprogram or inlined subroutine that has code. */
struct dwarf_entry {
	Dwarf_Die die;
	uint32_t offset; /* bytes from the unit's top entry to this entry */
	uint32_t depth;  /* number of entries that enclose this one; 0 for the top entry */
	/* Least depth of the entries that the walk has read since it returned the previous one,
	 * this entry included. A caller that keeps a stack of returned entries removes those with
	 * this depth or a greater one: they do not enclose this entry. (`depth` would not suffice:
	 * entries without code are not returned.) */
	uint32_t left;
	bool inlined;
};

/* Creates a walk that starts at the top entry of a unit; NULL when the unit cannot be walked. */
struct dwarf_walk *dwarf_walk_create(const Dwarf_Die *top);
void dwarf_walk_free(struct dwarf_walk *walk);
/* Stores the next entry that has code. Returns false at the end of the unit, which comes early when
 * the unit is damaged. */
bool dwarf_walk_next(struct dwarf_walk *walk, struct dwarf_entry *entry);
/* Returns an estimate of the bytes that libdw keeps because of this walk. */
size_t dwarf_walk_cost(const struct dwarf_walk *walk);

/* --- names and source files ------------------------------------------------------------------- */

/* Returns the linkage name of a function if it is mangled, else its name in the source; follows
 * references to the abstract function and to the declaration, at most 16. NULL when the function
 * has no name. The text is borrowed from the Dwarf handle. */
const char *dwarf_name_function(const Dwarf_Die *die);

struct dwarf_paths;

/* Creates a set of paths for the source files of the unit with this top entry. */
struct dwarf_paths *dwarf_paths_create(Dwarf_Die *top);
void dwarf_paths_free(struct dwarf_paths *paths);
/*
 * Returns the path of the file that libdw calls `name`; a relative path is joined to the directory
 * of the compilation. NULL when libdw does not know the file. The same `name` gives the same
 * pointer, which is valid until dwarf_paths_free and until the Dwarf handle is closed.
 */
const char *dwarf_paths_join(struct dwarf_paths *paths, const char *name);

#endif
