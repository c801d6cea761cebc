/* SPDX-License-Identifier: MIT */
/*
 * green_table.h - compares the green tasks with the threads that run them: the time that tasks and
 * threads spent in each activity. In this header "task" means a green task (green_task.h).
 */
#ifndef WALLSAMPLE_ANALYSIS_GREEN_TABLE_H
#define WALLSAMPLE_ANALYSIS_GREEN_TABLE_H

#include "wallsample/analysis/view.h"

/*
 * X(NAME, text, word): activities of a task or thread, in the order of reports. `text` is for
 * reports, `word` for data formats.
 */
#define GREEN_DOINGS(X)                                                                            \
	X(RUNNING, "running", "running")                                                           \
	X(QUEUED, "waiting for a CPU", "queued")                                                   \
	X(CALLING, "in a system call", "call") /* the task keeps its thread meanwhile */           \
	X(READY, "ready: no thread for it", "ready")                                               \
	X(PARKED, "waiting", "waiting")          /* no thread runs the task */                     \
	X(IDLE, "asleep without a task", "idle") /* threads only */                                \
	X(OTHER, "not known", "unknown")

enum green_doing {
#define X(name, text, word) GREEN_DOES_##name,
	GREEN_DOINGS(X) GREEN_DOING_COUNT
#undef X
};

struct green_doing_info {
	const char *text, *word;
};

/* indexed by enum green_doing */
extern const struct green_doing_info green_doings[GREEN_DOING_COUNT];

struct green_table_row {
	enum green_doing doing;
	/* why a PARKED task waits: "chan receive", "socket accept"; "" if not known */
	const char *reason;
	/*
	 * green_ns: wall time in which tasks had this activity and reason. threads_ns: wall time in
	 * which a thread ran a task with this activity, or ran no task and had this activity
	 * itself.
	 */
	int64_t green_ns, threads_ns;
};

struct green_table {
	/* ordered by `doing`, then by descending green_ns; no rows if no task has samples */
	struct green_table_row *row;
	size_t count;
	int64_t green_ns, threads_ns; /* sums of these members over all rows */
	/*
	 * number of tasks, and how many of them belong to the runtime; an id that stands for
	 * several tasks (its green_id is 0) counts once
	 */
	size_t green_count, system;
	/*
	 * failed_ns is the part of green_ns for which no stack could be read. finished_ns is that
	 * part of failed_ns that belongs to tasks that had finished before their stacks were read.
	 */
	int64_t failed_ns, finished_ns;
	/*
	 * Id, in the profile, of any one of the tasks. In the profile the `name` of each task is
	 * its runtime's word for a task (green_task_words.noun); reports take the word from this
	 * one. Valid if `count` is not 0.
	 */
	uint32_t one;
};

/* Fills `out` from the samples that the view selects. The caller frees out->row. */
void green_table_make(const struct view *view, struct green_table *out);

#endif
