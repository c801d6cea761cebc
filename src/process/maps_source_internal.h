/* SPDX-License-Identifier: MIT */
/*
 * maps_source_internal.h - the executable mappings of a process from the kernel: all of them as
 * text, or one by an address in it.
 */
#ifndef WALLSAMPLE_PROCESS_MAPS_SOURCE_INTERNAL_H
#define WALLSAMPLE_PROCESS_MAPS_SOURCE_INTERNAL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "wallsample/process/module.h"
#include "wallsample/process/process.h"

/*
 * A descriptor for the functions below, or -1. It belongs to the present address space of the
 * process: after an exec it is invalid and must be opened again.
 */
int maps_source_open(const struct process *process);

/*
 * Calls `each` for every executable mapping, with bounded memory: a line that is too long or
 * damaged is skipped. False when nothing could be read.
 */
bool maps_source_read(int fd, void (*each)(void *context, const struct maps_line *line),
		      void *context);

/* Parses one line; `line` points into `text`. False unless the mapping is executable. */
bool maps_source_parse(const char *text, struct maps_line *line);

enum maps_query {
	MAPS_QUERY_FOUND,
	MAPS_QUERY_NONE,        /* no executable mapping at that address */
	MAPS_QUERY_FAILED,      /* no answer; the text may have the mapping */
	MAPS_QUERY_UNSUPPORTED, /* by this kernel: later queries fail, too */
};

/* Fills `line`, whose path is stored in `path`. NULL: no path is asked for, which takes half the
 * time. */
enum maps_query maps_source_query(int fd, uint64_t address, struct maps_line *line,
				  char path[PATH_MAX]);

/* --- the query by address: an ioctl of /proc/PID/maps -------------------------------------- */

/*
 * Argument and result of PROCMAP_QUERY, Linux 6.11 (include/uapi/linux/fs.h, struct
 * procmap_query). Declared here because the headers of older systems lack it.
 */
struct procmap_question {
	uint64_t size;
	uint64_t query_flags;
	uint64_t query_addr;
	uint64_t vma_start;
	uint64_t vma_end;
	uint64_t vma_flags;
	uint64_t vma_page_size;
	uint64_t vma_offset;
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t vma_name_size; /* in: room; out: length with the zero, 0 for no name */
	uint32_t build_id_size;
	uint64_t vma_name_addr;
	uint64_t build_id_addr;
};

#define PROCMAP_QUESTION _IOWR('f', 17, struct procmap_question)
#define PROCMAP_EXECUTABLE UINT64_C(0x04) /* PROCMAP_QUERY_VMA_EXECUTABLE */

_Static_assert(sizeof(struct procmap_question) == 104, "as in the UAPI");

#endif
