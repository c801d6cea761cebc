/* SPDX-License-Identifier: MIT */
/* progress_coz_points_internal.h - the points of coz.h that a target has executed. */
#ifndef WALLSAMPLE_CAUSAL_PROGRESS_COZ_POINTS_INTERNAL_H
#define WALLSAMPLE_CAUSAL_PROGRESS_COZ_POINTS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/causal/progress_coz.h"

struct progress_images;
struct symbols;

/* Counters of one name: threads that execute a point for the first time at once make one each. */
#define PROGRESS_COZ_PLACES_MOST 4

struct progress_coz_places {
	uint64_t address[PROGRESS_COZ_PLACES_MOST];
	size_t count;
};

struct progress_coz_seen {
	char name[PROGRESS_COZ_NAME_MOST];
	enum progress_coz_type type;
	uint64_t address; /* of its counter in the target */
};

struct progress_coz {
	uint64_t table; /* address in the target; 0: the library is not loaded */
	struct progress_coz_seen *seen;
	size_t count;
	uint32_t used; /* number of points in the table at the last read */
	bool waiting;  /* some of them were not complete */
};

/* Finds the table of the target: `table`, 0 if there is none. */
void progress_coz_init(struct progress_coz *coz, const struct progress_images *images,
		       struct symbols *symbols);
void progress_coz_release(struct progress_coz *coz);

/* Parses a table; false: not a table. Incomplete points are left out. */
bool progress_coz_parse(struct progress_coz *coz, const struct progress_coz_table *table);
/* Reads the table of the process of thread `reader`. */
bool progress_coz_load(struct progress_coz *coz, pid_t reader);

/* All counters of this name and type; false: none. */
bool progress_coz_find(const struct progress_coz *coz, const char *name,
		       enum progress_coz_type type, struct progress_coz_places *out);

/* True when the file contains the name of coz.h's function. */
bool progress_coz_is_in_file(int fd);

#endif
