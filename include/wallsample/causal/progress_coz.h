/* SPDX-License-Identifier: MIT */
/*
 * progress_coz.h - progress points of programs that were built with coz.h (COZ_PROGRESS,
 * COZ_PROGRESS_NAMED, COZ_BEGIN, COZ_END), and the small library that counts for them.
 *
 * Such a program looks for a function _coz_get_counter when it comes by a point for the first
 * time, and counts at an address that this returns; if nobody has the function, that point never
 * counts. libwallsample-progress.so, in LD_PRELOAD, has it. It does nothing else: all its counters
 * lie in one table, which is read from outside. It depends on nothing, and this header is all that
 * it shares with wallsample.
 */
#ifndef WALLSAMPLE_CAUSAL_PROGRESS_COZ_H
#define WALLSAMPLE_CAUSAL_PROGRESS_COZ_H

#include <stdbool.h>
#include <stdint.h>

#define PROGRESS_COZ_LIBRARY "libwallsample-progress.so"
/* Its table, a struct progress_coz_table. */
#define PROGRESS_COZ_TABLE "wallsample_progress_points"
#define PROGRESS_COZ_FUNCTION "_coz_get_counter"

#define PROGRESS_COZ_MAGIC "WSprog\r\n" /* 8 bytes, without the 0 */
#define PROGRESS_COZ_VERSION 1
#define PROGRESS_COZ_POINTS_MOST 256
#define PROGRESS_COZ_NAME_MOST 240 /* with its 0; of longer ones the end is kept */

/* The numbers of coz.h. */
enum progress_coz_type {
	PROGRESS_COZ_THROUGHPUT = 1,
	PROGRESS_COZ_BEGIN = 2,
	PROGRESS_COZ_END = 3,
};

struct progress_coz_point {
	uint64_t count;   /* these two are coz.h's coz_counter_t */
	uint64_t backoff;
	uint32_t type;
	uint32_t ready;   /* 1: type and name are there, and stay */
	char name[PROGRESS_COZ_NAME_MOST];
};

/* Little-endian. One name may have several points, if threads came by it at the same time: their
 * sum counts. */
struct progress_coz_table {
	char magic[8];
	uint32_t version;
	uint32_t point_size; /* of struct progress_coz_point */
	uint32_t most;       /* PROGRESS_COZ_POINTS_MOST */
	uint32_t used;       /* points from the first on; some of them may not be ready yet */
	uint32_t dropped;    /* times that there was no room */
	uint32_t zero;
	struct progress_coz_point point[PROGRESS_COZ_POINTS_MOST];
};

/*
 * Has the program points of coz.h, by the name of the function in its file? A name without a slash
 * is looked for in $PATH. False for what cannot be read. Points of its libraries do not show.
 */
bool progress_wants_preload(const char *executable);

/*
 * Where the library is: beside the running wallsample if it has not been installed, else where it
 * was installed. To be freed; NULL: it is not there.
 */
char *progress_preload_path(void);

#endif
