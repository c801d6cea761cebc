/* SPDX-License-Identifier: MIT */
/*
 * green_table.h - compares the tasks that a runtime schedules with the threads that run them: the
 * time that tasks and threads spent in each activity.
 */
#ifndef WALLSAMPLE_ANALYSIS_TASK_TABLE_H
#define WALLSAMPLE_ANALYSIS_TASK_TABLE_H

#include "wallsample/analysis/view.h"

/*
 * X(NAME, text, word): activities of a task or thread, in the order of reports. `text` is for
 * reports, `word` for data formats.
 */
#define TASK_DOINGS(X)                                                                             \
	X(RUNNING, "running", "running")                                                           \
	X(QUEUED, "running, but for want of a CPU", "queued")                                      \
	X(CALLING, "in a call of the system", "call") /* the task keeps its thread meanwhile */    \
	X(READY, "ready: no thread for it", "ready")                                               \
	X(PARKED, "waiting", "waiting")          /* no thread runs the task */                     \
	X(IDLE, "asleep without a task", "idle") /* threads only */                                \
	X(OTHER, "not known", "unknown")

enum task_doing {
#define X(name, text, word) TASK_DOES_##name,
	TASK_DOINGS(X) TASK_DOING_COUNT
#undef X
};

struct task_doing_info {
	const char *text, *word;
};

extern const struct task_doing_info task_doings[TASK_DOING_COUNT]; /* indexed by enum task_doing */

struct task_table_row {
	enum task_doing doing;
	const char *reason; /* why a PARKED task waits: "chan receive"; "" if not known */
	/*
	 * tasks_ns: wall time of all tasks with this activity. threads_ns: wall time of threads
	 * that ran such a task, and of threads that ran no task and have this activity.
	 */
	int64_t tasks_ns, threads_ns;
};

struct task_table {
	/* ordered by `doing`, then by descending tasks_ns; no rows if no task has samples */
	struct task_table_row *row;
	size_t count;
	int64_t tasks_ns, threads_ns; /* sums of these members over all rows */
	size_t tasks, system; /* number of tasks; number of tasks that belong to the runtime */
	/*
	 * failed_ns is the part of tasks_ns for which no stack could be read. finished_ns is the
	 * part of failed_ns of tasks that had finished before their stacks were read.
	 */
	int64_t failed_ns, finished_ns;
	/* id of any task in the profile; its name is the runtime's word (green_task_words.noun) */
	uint32_t one;
};

/* Fills `out` from the samples that the view selects. The caller frees out->row. */
void task_table_make(const struct view *view, struct task_table *out);

#endif
