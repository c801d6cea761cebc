/* SPDX-License-Identifier: MIT */
/*
 * dump.h - lists each thread and each task once, with its wait. Threads with the same state and the
 * same call chain form a group.
 */
#ifndef WALLSAMPLE_ANALYSIS_DUMP_H
#define WALLSAMPLE_ANALYSIS_DUMP_H

#include "wallsample/analysis/view.h"

struct dump_thread {
	uint32_t thread; /* id in the profile */
	uint32_t wait;   /* id of a wait of the profile; 0: none */
	uint64_t count;  /* number of tasks if `thread` is a sum of tasks; else 1 */
	/*
	 * The holder of the awaited lock, borrowed from the profile. NULL if it is not known, or if
	 * waits of this kind have no holder.
	 */
	const struct profile_blame *holder;
};

struct dump_group {
	/*
	 * state, syscall, function and depth are equal for all threads of the group. Their values
	 * are those of struct view_row.
	 */
	enum run_state state;
	int32_t syscall;
	const uint32_t *function;
	size_t depth;
	/* threads of the group; threads with the same wait are adjacent */
	const struct dump_thread *thread;
	size_t count;
	/* true: all members are tasks with the same wait; false: all members are threads */
	bool are_tasks;
	uint64_t tasks; /* number of tasks of all members */
	/* time in ns of the longest wait of a task in the group; 0: not known */
	uint64_t waiting_ns;
};

struct dump {
	/*
	 * First all groups of threads, then all groups of tasks. Both are ordered by the lowest id
	 * in a group.
	 */
	struct dump_group *group;
	size_t count;
	struct dump_thread *thread; /* array that holds the members of all groups */
	size_t threads;             /* number of threads */
	uint64_t tasks;
	/* id of any task, whose name is the noun for tasks; valid if `tasks` is not 0 */
	uint32_t task;
};

/*
 * Fills `out`, which dump_release() releases. The view must be of one tick, have the key
 * VIEW_BY_ADDRESS, and outlive `out`. Because of this key, the threads of a group have equal
 * instruction addresses, and each function has its line.
 */
void dump_make(const struct view *view, struct dump *out);
void dump_release(struct dump *dump);

#endif
