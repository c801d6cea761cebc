/* SPDX-License-Identifier: MIT */
/*
 * maps_source_internal.h - what the kernel says about the executable mappings of a
 * process: all of them as text, or one of them by its address.
 */
#ifndef WALLSAMPLE_PROCESS_MAPS_SOURCE_INTERNAL_H
#define WALLSAMPLE_PROCESS_MAPS_SOURCE_INTERNAL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "wallsample/process/module.h"
#include "wallsample/process/process.h"

/*
 * A descriptor for the two functions below, or -1. It belongs to the memory that
 * the process has now: after an exec it answers nothing and must be opened anew.
 */
int maps_source_open(const struct process *process);

/*
 * Calls `each` for every executable mapping. Bounded in memory whatever the text
 * is: a line that is too long or no such line is skipped. False when nothing
 * could be read at all.
 */
bool maps_source_read(int fd, void (*each)(void *context, const struct maps_line *line),
		      void *context);

/* What one line of text is; `line` points into `text`. False unless executable. */
bool maps_source_parse(const char *text, struct maps_line *line);

enum maps_query {
	MAPS_QUERY_FOUND,
	MAPS_QUERY_NONE,        /* nothing executable at that address */
	MAPS_QUERY_FAILED,      /* no answer; the text may have one */
	MAPS_QUERY_UNSUPPORTED, /* nor will there ever be one */
};

/* `path` is where line->path then points; NULL: the name is not asked for, which takes half the
 * time. */
enum maps_query maps_source_query(int fd, uint64_t address, struct maps_line *line,
				  char path[PATH_MAX]);

#endif
