/* SPDX-License-Identifier: MIT */
/*
 * progress_coz_points_internal.h - the points of coz.h that a target has come by, as its table
 * tells.
 */
#ifndef WALLSAMPLE_CAUSAL_PROGRESS_COZ_POINTS_INTERNAL_H
#define WALLSAMPLE_CAUSAL_PROGRESS_COZ_POINTS_INTERNAL_H

#include <stddef.h>

#include "causal/progress_place_internal.h"
#include "wallsample/causal/progress_coz.h"

/* Places of one name: threads that come by at the same time make one each. */
#define PROGRESS_COZ_PLACES_MOST 4

struct progress_coz_places {
	uint64_t address[PROGRESS_COZ_PLACES_MOST];
	size_t count;
};

struct progress_coz_seen {
	char name[PROGRESS_COZ_NAME_MOST];
	enum progress_coz_type type;
	uint64_t address; /* of its count, in the target */
};

struct progress_coz {
	uint64_t table;   /* in the target; 0: the library is not loaded */
	struct progress_coz_seen *seen;
	size_t count;
	uint32_t used;    /* of its points, when it was read */
	bool waiting;     /* some of these were not ready */
};

/* Where the target's table is: `table`, 0 if nowhere. */
void progress_coz_init(struct progress_coz *coz, const struct progress_images *images,
		       struct symbols *symbols);
void progress_coz_release(struct progress_coz *coz);

/* Takes the points from the bytes of a table; false: it is none. What is not ready is left out. */
bool progress_coz_parse(struct progress_coz *coz, const struct progress_coz_table *table);
/* Reads all of the table in the process of this thread. */
bool progress_coz_load(struct progress_coz *coz, pid_t reader);

/* All places of this name and type; false: there are none. */
bool progress_coz_find(const struct progress_coz *coz, const char *name,
		       enum progress_coz_type type, struct progress_coz_places *out);

/* Is the name of coz.h's function in the file? */
bool progress_coz_is_in_file(int fd);

#endif
