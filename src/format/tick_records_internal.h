/* SPDX-License-Identifier: MIT */
/*
 * tick_records_internal.h - the records of formats that have one record per thread and tick
 * (perf.c, perf_data.c), in the order of time.
 */
#ifndef WALLSAMPLE_FORMAT_TICK_RECORDS_INTERNAL_H
#define WALLSAMPLE_FORMAT_TICK_RECORDS_INTERNAL_H

#include "wallsample/report/timeline.h"

struct tick_record {
	const struct timeline_slice *slice; /* its member `recording` has no meaning here */
	const struct recording *recording;
	/* End of the tick, when its samples are taken, on the clock of timeline_base(). */
	uint64_t ns;
	uint64_t period;      /* time in ns that the record stands for, by input->sort; never 0 */
	uint32_t parallelism; /* number of threads of the process on a CPU at this tick */
};

/* Returns true if threads in this state have records, by the weight that input->sort names. */
bool tick_records_has(enum weight sort, enum run_state state);

/*
 * Calls `each` with the records of all recordings, until `each` returns false. With the weight
 * WEIGHT_CPU only threads on a CPU have records, with WEIGHT_LATENCY only runnable threads,
 * which divide the time of a tick. The records of a recording are in the order of time. Recordings
 * follow one another, the earliest first: if two recordings are of one process, its records must
 * not go back in time. A record is valid during the call. An error of a recording is stored in
 * input->error and ends the iteration.
 */
void tick_records_each(const struct export_input *input,
		       bool (*each)(void *context, const struct tick_record *record),
		       void *context);

#endif
