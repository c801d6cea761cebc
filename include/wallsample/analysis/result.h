/* SPDX-License-Identifier: MIT */
/*
 * result.h - the tables of a report, computed from a view.
 */
#ifndef WALLSAMPLE_ANALYSIS_RESULT_H
#define WALLSAMPLE_ANALYSIS_RESULT_H

#include "wallsample/analysis/view.h"

/* Top-N in pprof's terms: flat is the function itself, cum with what it called. */
struct top_row {
	uint32_t function;  /* of the view */
	int64_t flat[WEIGHT_COUNT], cum[WEIGHT_COUNT]; /* ns; a recursive function counts once
							 * a stack */
	/* The part of cum[WEIGHT_LATENCY] in which it could run: cum[OVERHEAD] / busy_ns is its
	 * average parallelism, an estimate that is never above the most that was seen. 0 where
	 * that cannot be told: view_splits_runnable. */
	int64_t busy_ns;
	int64_t flat_running_ns; /* the part of flat[WEIGHT_LATENCY] in which it had a CPU */
};
struct top_table {
	struct top_row *row; /* by flat, then cum, then name, of the weight asked for */
	size_t count;
};

struct state_row {
	enum run_state state;
	int32_t syscall;     /* for SLEEPING and DISK; else SYSCALL_NONE */
	int64_t samples, ns[WEIGHT_COUNT];
};
struct state_table {
	struct state_row *row; /* by weight */
	size_t count;
};

struct thread_row {
	uint32_t thread;     /* of the profile; of a table of units, one */
	size_t tasks;        /* of a table of units: how many tasks it has; 0: it is a thread */
	bool uncounted;      /* tasks that are not told apart are among them: there are more */
	int64_t ns[WEIGHT_COUNT];
	int64_t runnable_ns; /* of its wall time: running or waiting for a CPU */
	uint32_t top;        /* function with most flat time; view_function_count if none */
	int64_t top_ns;
};
struct thread_table {
	struct thread_row *row; /* by runnable, then weight, then tid */
	size_t count;
};

/* Modules with frames that no symbol names: flat is their time as innermost frame. */
struct unnamed_row {
	const char *module;
	uint32_t module_id;
	int64_t flat[WEIGHT_COUNT], cum[WEIGHT_COUNT];
};
struct unnamed_table {
	struct unnamed_row *row; /* by cum */
	size_t count;
};

void top_table_make(const struct view *view, enum weight sort, struct top_table *out);
/* Of the samples of one unit. */
void top_table_make_thread(const struct view *view, enum weight sort, uint32_t thread,
			   struct top_table *out);
/*
 * The functions of the program alone, where an interpreter or a language's library is beside it:
 * flat is a function with the code of others that it called. Empty where there are none, or nothing
 * but them.
 */
void top_table_make_program(const struct view *view, enum weight sort, struct top_table *out);
void top_table_release(struct top_table *table);
void state_table_make(const struct view *view, struct state_table *out);
void state_table_release(struct state_table *table);
void thread_table_make(const struct view *view, struct thread_table *out);
/* The same by unit: see view_unit. */
void thread_table_make_units(const struct view *view, struct thread_table *out);
void thread_table_release(struct thread_table *table);
void unnamed_table_make(const struct view *view, struct unnamed_table *out);
void unnamed_table_release(struct unnamed_table *table);

#endif
