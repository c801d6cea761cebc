/* SPDX-License-Identifier: MIT */
/*
 * progress_coz.h - progress points of programs that were built with coz.h (COZ_PROGRESS,
 * COZ_PROGRESS_NAMED, COZ_BEGIN, COZ_END), and the small library that has their counters.
 *
 * When such a program executes a point for the first time, it looks up the function
 * _coz_get_counter, and counts at the address that the function returns; if no library defines the
 * function, the point never counts. libwallsample-progress.so, in LD_PRELOAD, defines it and does
 * nothing else: all its counters are in one table, which wallsample reads from outside. The library
 * has no dependencies, and shares only this header with wallsample.
 */
#ifndef WALLSAMPLE_CAUSAL_PROGRESS_COZ_H
#define WALLSAMPLE_CAUSAL_PROGRESS_COZ_H

#include <stdbool.h>
#include <stdint.h>

/* File name of the small library. */
#define PROGRESS_COZ_LIBRARY "libwallsample-progress.so"
/* Name of the library's table, a struct progress_coz_table. */
#define PROGRESS_COZ_TABLE "wallsample_progress_points"
/* The function of the library that returns the address of a point's counter. */
#define PROGRESS_COZ_FUNCTION "_coz_get_counter"

#define PROGRESS_COZ_MAGIC "WSprog\r\n" /* 8 bytes, without the terminating 0 */
#define PROGRESS_COZ_VERSION 1
#define PROGRESS_COZ_POINTS_MOST 256
#define PROGRESS_COZ_NAME_MOST                                                                     \
	240 /* with the terminating 0; a longer name is cut at its beginning */

/* Types of points, with the values of coz.h; THROUGHPUT: COZ_PROGRESS and COZ_PROGRESS_NAMED. */
enum progress_coz_type {
	PROGRESS_COZ_THROUGHPUT = 1,
	PROGRESS_COZ_BEGIN = 2,
	PROGRESS_COZ_END = 3,
};

struct progress_coz_point {
	/* `count` and `backoff` together have the layout of coz_counter_t in coz.h. */
	uint64_t count;
	uint64_t backoff;
	uint32_t type;
	uint32_t ready; /* 1: `type` and `name` are set and no longer change; 0: not set yet */
	char name[PROGRESS_COZ_NAME_MOST];
};

/* Numbers are little-endian. There are several points of one name if several threads executed the
 * program's point for the first time at the same moment: its count is the sum over these points. */
struct progress_coz_table {
	char magic[8];
	uint32_t version;
	uint32_t point_size; /* sizeof(struct progress_coz_point) */
	uint32_t most;       /* PROGRESS_COZ_POINTS_MOST */
	uint32_t used;       /* number of points in use; some of them may not be ready yet */
	uint32_t dropped;    /* number of calls of _coz_get_counter() that found no free point */
	uint32_t zero;       /* always 0 */
	struct progress_coz_point point[PROGRESS_COZ_POINTS_MOST];
};

/*
 * True when the first 2 GiB of the program's file contain PROGRESS_COZ_FUNCTION, which shows that
 * the program has points of coz.h. If `executable` has no slash, it is searched in $PATH. False if
 * the file cannot be read. The program's libraries are not examined.
 */
bool progress_wants_preload(const char *executable);

/*
 * Returns the path of PROGRESS_COZ_LIBRARY, which the caller frees: the file in the directory of
 * the running wallsample if there is one, else the installed file. NULL: neither is readable.
 */
char *progress_preload_path(void);

#endif
