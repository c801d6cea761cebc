/* SPDX-License-Identifier: MIT */
/*
 * result.h - computes the tables of a report from a view: functions, states, threads, and modules
 * without symbols.
 */
#ifndef WALLSAMPLE_ANALYSIS_RESULT_H
#define WALLSAMPLE_ANALYSIS_RESULT_H

#include "wallsample/analysis/own_code.h"
#include "wallsample/analysis/view.h"

/*
 * A function. As in pprof, flat is the time of the function itself, and cum is its time including
 * its callees.
 */
struct top_row {
	uint32_t function; /* id of the function in the view */
	/* In ns; a recursive function counts once for each stack. */
	int64_t flat[WEIGHT_COUNT], cum[WEIGHT_COUNT];
	/*
	 * cum[WEIGHT_CPU] / busy_ns is the estimated average parallelism of the function.
	 * busy_ns is the part of cum[WEIGHT_LATENCY] of samples with a runnable thread, or more if
	 * the quotient would otherwise exceed the highest observed parallelism. 0 if
	 * view_splits_runnable().
	 */
	int64_t busy_ns;
	int64_t flat_running_ns; /* part of flat[WEIGHT_LATENCY] on a CPU */
};
struct top_table {
	/*
	 * Ordered by flat[sort], then cum[sort], then cum[WEIGHT_WALL], all descending, then by
	 * name. `sort` is the parameter of top_table_make.
	 */
	struct top_row *row;
	size_t count;
};

struct state_row {
	enum run_state state;
	/* view_row.syscall if the state is SLEEPING or UNINTERRUPTIBLE; else SYSCALL_NONE */
	int32_t syscall;
	int64_t samples, ns[WEIGHT_COUNT];
};
struct state_table {
	struct state_row *row; /* ordered by wall time, descending */
	size_t count;
};

struct thread_row {
	/* id of the thread in the profile; in a table of units, the unit (view_unit) */
	uint32_t thread;
	/* in a table of units, number of the unit's green tasks; 0 for a thread */
	size_t green_count;
	/* some ids of the unit stand for several green tasks each, so that `green_count` is a lower
	 * bound */
	bool uncounted;
	int64_t ns[WEIGHT_COUNT];
	/* part of the wall time in which the thread was running or waited for a CPU */
	int64_t runnable_ns;
	/* function with the most flat wall time; view_function_count() if there is none */
	uint32_t top;
	int64_t top_ns; /* flat wall time of this function */
};
struct thread_table {
	struct thread_row *row; /* by descending runnable_ns, then descending wall time, then tid */
	size_t count;
};

/*
 * A module with frames without a symbol. flat is the time in which such a frame was innermost; cum
 * is the time in which the stack had such a frame.
 */
struct unnamed_row {
	const char *module;
	uint32_t module_id;
	int64_t flat[WEIGHT_COUNT], cum[WEIGHT_COUNT];
};
struct unnamed_table {
	struct unnamed_row *row; /* ordered by cum[WEIGHT_WALL], descending */
	size_t count;
};

/*
 * Each function ..._make... fills `out`. The caller releases it by top_table_release() or
 * thread_table_release(); for other tables, it frees out->row.
 */

/*
 * Lists the functions of all samples that the view selects. This table and the next two leave out
 * functions whose cum[sort] is 0.
 */
void top_table_make(const struct view *view, enum weight sort, struct top_table *out);
/* As top_table_make(), but only for samples of the unit `thread` (see view_unit()). */
void top_table_make_thread(const struct view *view, enum weight sort, uint32_t thread,
			   struct top_table *out);
/* As top_table_make(), but only for samples of the process; PROCESS_NONE: of no process. */
void top_table_make_process(const struct view *view, enum weight sort, uint32_t process,
			    struct top_table *out);
/*
 * Lists only functions with view_function.program, which are those of the program itself. Their
 * flat time includes the time of the functions without this flag that they called. The table is
 * empty unless there is a sample whose innermost function does not have this flag, but a function
 * further outside has it.
 */
void top_table_make_program(const struct view *view, enum weight sort, struct top_table *out);
void top_table_release(struct top_table *table);
void state_table_make(const struct view *view, struct state_table *out);
void thread_table_make(const struct view *view, struct thread_table *out);
/* Lists units instead of threads: see view_unit(). `code` has the ranks of the functions of the
 * view: `top` is then the program's own function in which the unit ran or waited for most of the
 * time. If `code` is NULL, `top` is the leaf with the most time. */
void thread_table_make_units(const struct view *view, const struct own *code,
			     struct thread_table *out);
void thread_table_release(struct thread_table *table);
void unnamed_table_make(const struct view *view, struct unnamed_table *out);

#endif
