/* SPDX-License-Identifier: MIT */
/*
 * timeline_bins.h - what threads did in each of a fixed number of stretches of time, the bins,
 * for a picture of it: its size does not grow with the time.
 *
 * All bins are equally long. They cover the time in which there are ticks that are wanted, of all
 * recordings on one clock; where two recordings lie far apart, the time between them has none,
 * and a new part begins.
 */
#ifndef WALLSAMPLE_REPORT_TIMELINE_BINS_H
#define WALLSAMPLE_REPORT_TIMELINE_BINS_H

#include "wallsample/report/export.h"

/* Bins that follow each other without a gap. */
struct timeline_part {
	uint64_t start_ns, end_ns; /* since the beginning of the first recording */
	size_t first, count;       /* its bins; the last may reach beyond the end */
};

/* A sleep that is a wait for an interpreter's lock is apart from others. */
#define TIMELINE_GIL_WAIT ((size_t)RUN_STATE_COUNT)
#define TIMELINE_STATES (TIMELINE_GIL_WAIT + 1)

/* Time in each state, of one thread or of several together. */
struct timeline_row {
	uint32_t thread; /* of the profile */
	double *ns;      /* [bin * TIMELINE_STATES + state]; the rest of a bin it was not there,
			  * or not selected */
	double *gil_ns;  /* by bin: it had an interpreter's lock; NULL: never */
};

/* Threads on a CPU, of all threads, whatever was selected of them. */
struct timeline_load {
	double wanted_ns; /* time of ticks in it; 0: the bin says nothing */
	double cpu_ns;    /* the same times the threads on a CPU */
	uint64_t most;    /* at once */
};

struct timeline_bins {
	uint64_t bin_ns;
	size_t count;
	struct timeline_part *part;
	size_t part_count;
	struct timeline_row *row;  /* in the order of thread_table_make */
	size_t row_count;
	struct timeline_row rest;  /* threads beyond these; `ns` is NULL if there are none */
	size_t rest_count;
	struct timeline_load *load; /* by bin */
	uint64_t cpus;             /* that the processes may use; 0: not known */
	bool has_gil;              /* some row had an interpreter's lock, or waited for it */
};

/*
 * At most `rows` threads, and about `bins` bins, but none shorter than a tick is on average.
 * `count` is 0 when nothing is wanted. What is wrong with a recording goes to the input's error.
 */
void timeline_bins_make(const struct export_input *input, size_t bins, size_t rows,
			struct timeline_bins *out);
/* How much of a bin its part has. */
uint64_t timeline_bins_length(const struct timeline_bins *bins, size_t bin);
void timeline_bins_release(struct timeline_bins *bins);

#endif
