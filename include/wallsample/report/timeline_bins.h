/* SPDX-License-Identifier: MIT */
/*
 * timeline_bins.h - divides time into a fixed number of bins, and sums for each bin the time that
 * threads spent in each state. The size of such a timeline does not depend on the sampled time.
 *
 * All bins have the same length. They cover the selected ticks of all recordings on one clock. The
 * time between the end of one recording and the start of the next has no bins if it exceeds a tenth
 * of the summed time of all recordings: a new part (struct timeline_part) begins after it.
 */
#ifndef WALLSAMPLE_REPORT_TIMELINE_BINS_H
#define WALLSAMPLE_REPORT_TIMELINE_BINS_H

#include "wallsample/report/export.h"

/* A range of time that bins cover without a gap. */
struct timeline_part {
	uint64_t start_ns, end_ns; /* since the start of the earliest recording */
	/* index of the part's first bin, and number of bins. The last bin may extend beyond
	 * end_ns. */
	size_t first, count;
};

/*
 * An additional state, after those of enum run_state: the thread sleeps and waits for an
 * interpreter's lock. Such a sleep is not counted in the run_state that the thread has.
 */
#define TIMELINE_GIL_WAIT ((size_t)RUN_STATE_COUNT)
#define TIMELINE_STATES (TIMELINE_GIL_WAIT + 1)

/* The time in each state: of one thread, or summed over several threads. */
struct timeline_row {
	uint32_t thread; /* id in the profile; not used in timeline_bins.rest */
	/* [bin * TIMELINE_STATES + state]. The sum over states is less than the length of the
	 * bin if for part of the bin the thread did not exist or was not selected. */
	double *ns;
	/* by bin: time in which the thread held the lock of an interpreter; NULL: the thread never
	 * held such a lock */
	double *gil_ns;
};

/* The load in a bin: threads on a CPU, including threads that the filters exclude. */
struct timeline_load {
	/* the time in the bin that selected ticks cover; 0: the load is not known */
	double wanted_ns;
	/* sum over the selected ticks: duration multiplied by the number of threads on a CPU */
	double cpu_ns;
	uint64_t most; /* the largest number of threads on a CPU at one time */
};

struct timeline_bins {
	uint64_t bin_ns; /* length of a bin */
	size_t count;    /* number of bins */
	struct timeline_part *part;
	size_t part_count;
	/* a row for each of the first threads in the table of thread_table_make()
	 * (wallsample/analysis/result.h), in the order of that table */
	struct timeline_row *row;
	size_t row_count;
	/* sum of the threads that have no row; its ns is NULL if rest_count is 0 */
	struct timeline_row rest;
	size_t rest_count;          /* number of threads in `rest` */
	struct timeline_load *load; /* by bin */
	uint64_t cpus;              /* number of CPUs that the processes may use; 0: not known */
	bool has_gil;               /* a thread held an interpreter's lock or waited for one */
};

/*
 * Fills `out`, which timeline_bins_release() releases. There are rows for at most `rows` threads.
 * The number of bins is at most `bins` + out->part_count, and no bin is shorter than the mean tick.
 * out->count is 0 if no tick is selected. An error of a recording is stored in input->error.
 */
void timeline_bins_make(const struct export_input *input, size_t bins, size_t rows,
			struct timeline_bins *out);
/*
 * Returns the length of a bin in ns, without the time by which it extends beyond the end of its
 * part.
 */
uint64_t timeline_bins_length(const struct timeline_bins *bins, size_t bin);
void timeline_bins_release(struct timeline_bins *bins);

#endif
