/* SPDX-License-Identifier: MIT */
/*
 * result.h - computes the tables of a report from a view: functions, states, threads, and modules
 * without symbols.
 */
#ifndef WALLSAMPLE_ANALYSIS_RESULT_H
#define WALLSAMPLE_ANALYSIS_RESULT_H

#include "wallsample/analysis/view.h"

/* A function, in pprof's terms: flat is the function itself, cum includes its callees. */
struct top_row {
	uint32_t function;                             /* of the view */
	int64_t flat[WEIGHT_COUNT], cum[WEIGHT_COUNT]; /* ns; a recursive function counts once
							 * per stack */
	/* The part of cum[WEIGHT_LATENCY] in which it was runnable: cum[OVERHEAD] / busy_ns is its
	 * average parallelism, an estimate that never exceeds the highest observed value. 0 if
	 * not known: view_splits_runnable. */
	int64_t busy_ns;
	int64_t flat_running_ns; /* the part of flat[WEIGHT_LATENCY] in which it was on a CPU */
};
struct top_table {
	struct top_row *row; /* by flat, then cum of the weight `sort`, then name */
	size_t count;
};

struct state_row {
	enum run_state state;
	int32_t syscall; /* for SLEEPING and DISK; else SYSCALL_NONE */
	int64_t samples, ns[WEIGHT_COUNT];
};
struct state_table {
	struct state_row *row; /* by weight */
	size_t count;
};

struct thread_row {
	uint32_t thread; /* of the profile; in a table of units, a thread of the unit */
	size_t tasks;    /* in a table of units: its number of tasks; 0: a thread */
	bool uncounted;  /* it includes merged tasks: `tasks` is a lower bound */
	int64_t ns[WEIGHT_COUNT];
	int64_t runnable_ns; /* of its wall time: running or waiting for a CPU */
	uint32_t top;        /* function with most flat time; view_function_count if none */
	int64_t top_ns;
};
struct thread_table {
	struct thread_row *row; /* by runnable, then weight, then tid */
	size_t count;
};

/* A module with frames without a symbol: flat is their time as innermost frame. */
struct unnamed_row {
	const char *module;
	uint32_t module_id;
	int64_t flat[WEIGHT_COUNT], cum[WEIGHT_COUNT];
};
struct unnamed_table {
	struct unnamed_row *row; /* by cum */
	size_t count;
};

/* Each make function fills `out`, which the release function of the table releases. */

/* The functions of all samples that the view selects, ordered by the weight `sort`. */
void top_table_make(const struct view *view, enum weight sort, struct top_table *out);
/* The same, of the samples of one unit: see view_unit(). */
void top_table_make_thread(const struct view *view, enum weight sort, uint32_t thread,
			   struct top_table *out);
/*
 * The functions of the program without those of its interpreter or its language's library: flat
 * includes the other code that the function called. Empty if the program has no such functions, or
 * no others.
 */
void top_table_make_program(const struct view *view, enum weight sort, struct top_table *out);
void top_table_release(struct top_table *table);
void state_table_make(const struct view *view, struct state_table *out);
void thread_table_make(const struct view *view, struct thread_table *out);
/* The same by unit: see view_unit(). */
void thread_table_make_units(const struct view *view, struct thread_table *out);
void thread_table_release(struct thread_table *table);
void unnamed_table_make(const struct view *view, struct unnamed_table *out);

#endif
