/* SPDX-License-Identifier: MIT */
/*
 * timeline_bins.h - divides time into a fixed number of bins and sums the states of threads in
 * each, for a timeline whose size does not depend on the sampled time.
 *
 * All bins have the same length. They cover the selected ticks of all recordings on one clock. A
 * long gap between two recordings has no bins: a new part begins after it.
 */
#ifndef WALLSAMPLE_REPORT_TIMELINE_BINS_H
#define WALLSAMPLE_REPORT_TIMELINE_BINS_H

#include "wallsample/report/export.h"

/* Consecutive bins without a gap. */
struct timeline_part {
	uint64_t start_ns, end_ns; /* since the start of the first recording */
	size_t first, count;       /* index of its first bin, and number of its bins. The last bin
				    * may extend beyond end_ns. */
};

/* The additional state of a sleep that waits for an interpreter's lock. */
#define TIMELINE_GIL_WAIT ((size_t)RUN_STATE_COUNT)
#define TIMELINE_STATES (TIMELINE_GIL_WAIT + 1)

/* The time in each state: of one thread, or summed over several threads. */
struct timeline_row {
	uint32_t thread; /* index in the profile */
	double *ns;      /* [bin * TIMELINE_STATES + state]. A bin's states sum to less than the
			  * bin if the thread did not exist, or was not selected, all the time. */
	double *gil_ns;  /* by bin: time in which it held an interpreter's lock; NULL: never */
};

/* The number of threads on a CPU in a bin. Threads that filters exclude count, too. */
struct timeline_load {
	double wanted_ns; /* time of selected ticks in the bin; 0: the load is not known */
	double cpu_ns;    /* sum over these ticks: time multiplied by the threads on a CPU */
	uint64_t most;    /* the largest number of threads on a CPU at one time */
};

struct timeline_bins {
	uint64_t bin_ns; /* length of a bin */
	size_t count;    /* number of bins */
	struct timeline_part *part;
	size_t part_count;
	struct timeline_row *row; /* one for each of the first threads of thread_table_make() */
	size_t row_count;
	struct timeline_row rest;   /* sum of the other threads; ns is NULL if rest_count is 0 */
	size_t rest_count;          /* number of threads in `rest` */
	struct timeline_load *load; /* by bin */
	uint64_t cpus;              /* number of CPUs that the processes may use; 0: not known */
	bool has_gil;               /* a thread held an interpreter's lock or waited for one */
};

/*
 * Fills `out` with at most `rows` threads and about `bins` bins, none of which is shorter than the
 * mean tick. timeline_bins_release() releases `out`. out->count is 0 if no tick is selected. An
 * error of a recording is stored in input->error.
 */
void timeline_bins_make(const struct export_input *input, size_t bins, size_t rows,
			struct timeline_bins *out);
/* Returns the length of a bin in ns, without what extends beyond the end of its part. */
uint64_t timeline_bins_length(const struct timeline_bins *bins, size_t bin);
void timeline_bins_release(struct timeline_bins *bins);

#endif
