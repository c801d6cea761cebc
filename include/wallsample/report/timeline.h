/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - reads the recordings of a view, and yields the activity of the threads that the view
 * selects. Used by exporters that show time.
 */
#ifndef WALLSAMPLE_REPORT_TIMELINE_H
#define WALLSAMPLE_REPORT_TIMELINE_H

#include "wallsample/report/export.h"

/* A half-open range of time in which all samples of a thread are equal. */
struct timeline_slice {
	size_t recording; /* index in input->recordings */
	uint32_t thread;  /* id of the thread or green task in the profile */
	enum run_state state;
	int32_t syscall; /* number of the system call, or a constant SYSCALL_… */
	uint32_t wait;   /* id of the wait in the profile; 0: no known wait */
	enum gil gil;
	const uint32_t *function; /* ids for view_function(), innermost first */
	size_t depth;             /* number of functions */
	/* index of the slice's first tick in the recording, and number of ticks */
	uint64_t first_tick, ticks;
	/*
	 * with RECORDING_BY_TIME: timeline_each() yields no later slice of this recording that
	 * begins before this tick
	 */
	uint64_t settled_tick;
	uint64_t start_ns, end_ns; /* on a clock common to all recordings: see timeline_base() */
};

/*
 * Returns the start of input->recordings[recording] in ns, on a clock common to all recordings. To
 * get a time on that clock, add the start to a time in the recording. The clock is CLOCK_MONOTONIC
 * if all recordings store it and come from one boot of one machine; else it is CLOCK_REALTIME, and
 * starts are whole seconds.
 */
uint64_t timeline_base(const struct export_input *input, size_t recording);
/* True if that clock is CLOCK_MONOTONIC. */
bool timeline_is_monotonic(const struct export_input *input);

/* Returns the id of the process of a thread that has slices in the recording. */
int64_t timeline_pid(const struct export_input *input, const struct recording *recording,
		     uint32_t thread);

/*
 * Calls `each` with all slices that the view selects, until `each` returns false: recording by
 * recording, and within a recording in the given order. A slice is valid during the call. An error
 * of a recording is stored in input->error and ends the iteration.
 */
void timeline_each(const struct export_input *input, enum recording_order order,
		   bool (*each)(void *context, const struct timeline_slice *slice), void *context);

/* --- the holders of an interpreter's lock over time ------------------------------------------- */

/* A half-open range of time in which a thread held an interpreter's lock. */
struct gil_span {
	size_t recording;          /* index in input->recordings */
	uint32_t thread, process;  /* ids in the profile */
	uint64_t start_ns, end_ns; /* as in struct timeline_slice */
};

/* A list of spans; empty if all its bytes are zero. */
struct gil_spans {
	/* gil_spans_settle() sorts them by recording, then by process, then by time */
	struct gil_span *span;
	size_t count, capacity;
};

/*
 * Adds the slice if its thread holds the lock. The caller adds all slices of one thread, in the
 * order of time, before those of another thread. `process`: that of the thread.
 */
void gil_spans_add(struct gil_spans *spans, const struct timeline_slice *slice, uint32_t process);
/*
 * Sorts the spans and removes overlaps of spans of the same recording and process: the earlier of
 * two spans is kept to its end, and the later one begins there, or is removed if it ends no later.
 * Spans overlap because a tick samples its threads one after the other, so that two threads may
 * seem to hold the lock at one tick; and because several interpreters have a lock each.
 */
void gil_spans_settle(struct gil_spans *spans);
void gil_spans_release(struct gil_spans *spans);

#endif
