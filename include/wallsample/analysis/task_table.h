/* SPDX-License-Identifier: MIT */
/*
 * task_table.h - tasks that a runtime schedules, and the threads that run them, side by side: how
 * many of the ones and the others did what, at a time.
 */
#ifndef WALLSAMPLE_ANALYSIS_TASK_TABLE_H
#define WALLSAMPLE_ANALYSIS_TASK_TABLE_H

#include "wallsample/analysis/view.h"

/* X(NAME, text, word): what it does, in this order; the word is for data */
#define TASK_DOINGS(X)                                                         \
	X(RUNNING, "running", "running")                                       \
	X(QUEUED, "running, but for want of a CPU", "queued")                  \
	X(CALLING, "in a call of the system", "call") /* it keeps its thread */        \
	X(READY, "ready: no thread for it", "ready")   \
	X(PARKED, "waiting", "waiting")                /* for what the runtime says */ \
	X(IDLE, "asleep without a task", "idle")       /* of threads alone */  \
	X(OTHER, "not known", "unknown")

enum task_doing {
#define X(name, text, word) TASK_DOES_##name,
	TASK_DOINGS(X)
#undef X
	TASK_DOING_COUNT
};

const char *task_doing_text(enum task_doing doing);
const char *task_doing_word(enum task_doing doing);

struct task_table_row {
	enum task_doing doing;
	const char *reason;   /* of PARKED: "chan receive"; "": not known */
	/* Wall time, which is their number times time; of tasks, and of threads: those that
	 * carried one of these, and those without any. */
	int64_t tasks_ns, threads_ns;
};

struct task_table {
	struct task_table_row *row; /* by doing, then time; none without tasks */
	size_t count;
	int64_t tasks_ns, threads_ns; /* sums */
	size_t tasks, system;  /* different ones; those of them that are the runtime's own */
	/* The part of tasks_ns without a stack, and of that the part of tasks that were gone when
	 * it was to be read. */
	int64_t failed_ns, finished_ns;
	uint32_t one;          /* any task, for what it is called */
};

/* Of the samples that the view selects. */
void task_table_make(const struct view *view, struct task_table *out);
void task_table_release(struct task_table *table);

#endif
