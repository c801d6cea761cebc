/* SPDX-License-Identifier: MIT */
/*
 * task_table.h - compares the tasks that a runtime schedules with the threads that run them: the
 * time that tasks and threads spent in each activity.
 */
#ifndef WALLSAMPLE_ANALYSIS_TASK_TABLE_H
#define WALLSAMPLE_ANALYSIS_TASK_TABLE_H

#include "wallsample/analysis/view.h"

/* X(NAME, text, word): activities of a task or thread, in display order; data formats use word */
#define TASK_DOINGS(X)                                                                             \
	X(RUNNING, "running", "running")                                                           \
	X(QUEUED, "running, but for want of a CPU", "queued")                                      \
	X(CALLING, "in a call of the system", "call") /* it keeps its thread */                    \
	X(READY, "ready: no thread for it", "ready")                                               \
	X(PARKED, "waiting", "waiting")          /* the runtime gives a reason */                  \
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

extern const struct task_doing_info task_doings[TASK_DOING_COUNT]; /* of TASK_DOINGS */

struct task_table_row {
	enum task_doing doing;
	const char *reason; /* of PARKED: "chan receive"; "": not known */
	/* Wall time summed over tasks, and over threads: those that ran such a task, and those
	 * without a task. */
	int64_t tasks_ns, threads_ns;
};

struct task_table {
	struct task_table_row *row; /* by doing, then time; empty without tasks */
	size_t count;
	int64_t tasks_ns, threads_ns; /* sums */
	size_t tasks, system;         /* number of tasks; of these, the runtime's own */
	/* The part of tasks_ns without a stack, and of that the part of tasks that had finished
	 * before the stack was read. */
	int64_t failed_ns, finished_ns;
	uint32_t one; /* a thread of the profile that is a task: for the noun of tasks */
};

/* Fills `out` from the samples that the view selects. The caller frees out->row. */
void task_table_make(const struct view *view, struct task_table *out);

#endif
