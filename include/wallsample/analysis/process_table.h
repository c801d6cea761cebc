/* SPDX-License-Identifier: MIT */
/*
 * process_table.h - the time of the processes of a view. Processes that do the same work are one
 * row: they have the same name, and titles (process_add_title) that differ in numbers only, such as
 * "postgres: app shop 10.0.0.7(5432) idle". The parent of such processes has a row of its own. If
 * more than MANY_TITLES rows would have one name, as those of a compiler for each file, all
 * processes of that name are one row.
 */
#ifndef WALLSAMPLE_ANALYSIS_PROCESS_TABLE_H
#define WALLSAMPLE_ANALYSIS_PROCESS_TABLE_H

#include "wallsample/analysis/code_places.h"

/* Chosen so that a table of all rows is readable. */
#define MANY_TITLES 8

struct process_row {
	uint32_t process; /* id in the profile of one of the processes, the one with the lowest */
	/* the CPU time of children that were not sampled; `process` is no id then, and `count` 1 */
	bool is_unsampled;
	char *title;      /* what is common to their titles; "…" stands for numbers that differ */
	uint32_t count;   /* number of processes, at least 1 */
	uint32_t threads; /* number of threads and green tasks with samples */
	int64_t wall_ns, cpu_ns;
	int64_t busy_ns;               /* wall time of threads that are not idle (code_places.h) */
	int64_t ns[PLACE_DOING_COUNT]; /* parts of wall_ns */
	/* the least and the most CPU time of one of the processes */
	int64_t cpu_least_ns, cpu_most_ns;
	/* the program's own function (own_place) with the most wall time; view_function_count():
	 * none */
	uint32_t top;
	int64_t top_ns; /* wall time of this function */
};

struct process_table {
	/* Those without a thread that is not idle are last; else by descending running time, then
	 * time of waits for a CPU, then wall time, then id. */
	struct process_row *row;
	size_t count;
	uint32_t processes; /* number of processes with samples */
};

/* Fills `out`, which process_table_release() releases. `own` has the ranks of the functions of the
 * view; NULL: `top` is the innermost function. `is_idle`: by thread of the profile; NULL: no thread
 * is idle. */
void process_table_make(const struct view *view, const struct own *own, const bool *is_idle,
			struct process_table *out);
/* As process_table_make() without `own` and is_idle, but each process is a row. */
void process_table_make_apart(const struct view *view, struct process_table *out);
void process_table_release(struct process_table *table);

#endif
