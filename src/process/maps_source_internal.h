/* SPDX-License-Identifier: MIT */
/*
 * maps_source_internal.h - reads the executable or the shared mappings of a process, as text or the
 * one at an address.
 */
#ifndef WALLSAMPLE_PROCESS_MAPS_SOURCE_INTERNAL_H
#define WALLSAMPLE_PROCESS_MAPS_SOURCE_INTERNAL_H

#include <limits.h>

#include "wallsample/base/base.h"
#include "wallsample/process/module.h"
#include "wallsample/process/process.h"

/*
 * Opens /proc/PID/maps for the functions below. Returns a descriptor, which the caller closes, or
 * -1. The descriptor belongs to the present address space of the process, and is useless after an
 * exec.
 */
int maps_source_open(const struct process *process);

/*
 * Calls `each` for every executable mapping; the line is valid only during the call. Uses bounded
 * memory: a line of 64 KiB or more, or a malformed one, is skipped. Returns false when nothing
 * could be read.
 */
bool maps_source_read(int fd, void (*each)(void *context, const struct maps_line *line),
		      void *context);

/* Parses one line; line->path points into `text`. False: malformed, or not executable. */
bool maps_source_parse(const char *text, struct maps_line *line);

/* As maps_source_read and maps_source_parse, for shared mappings (MAP_SHARED) in place of
 * executable ones. Reads at most 16 MiB of the file. */
bool maps_source_read_shared(int fd, void (*each)(void *context, const struct maps_line *line),
			     void *context);
bool maps_source_parse_shared(const char *text, struct maps_line *line);

enum maps_query {
	MAPS_QUERY_FOUND,
	MAPS_QUERY_NONE, /* no mapping of this kind contains the address */
	/* the kernel has given no answer, or one that cannot be used, such as a path with a
	 * newline; /proc/PID/maps may have the mapping */
	MAPS_QUERY_FAILED,
	/* the kernel has no PROCMAP_QUERY or does not permit it: all later queries fail, too */
	MAPS_QUERY_UNSUPPORTED,
};

/*
 * Asks the kernel for the executable mapping at the address (PROCMAP_QUERY). If found, fills *line,
 * whose path is stored in `path`. If `path` is NULL, line->path is NULL: the kernel is not asked
 * for the path, and answers in half the time.
 */
enum maps_query maps_source_query(int fd, uint64_t address, struct maps_line *line,
				  char path[PATH_MAX]);
/* As maps_source_query, for a shared mapping. */
enum maps_query maps_source_query_shared(int fd, uint64_t address, struct maps_line *line,
					 char path[PATH_MAX]);

#endif
