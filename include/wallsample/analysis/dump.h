/* SPDX-License-Identifier: MIT */
/*
 * dump.h - lists each thread and task once, with what it waits for. Threads with the same state and
 * the same call chain form one group.
 */
#ifndef WALLSAMPLE_ANALYSIS_DUMP_H
#define WALLSAMPLE_ANALYSIS_DUMP_H

#include "wallsample/analysis/view.h"

struct dump_thread {
	uint32_t thread; /* of the profile */
	uint32_t wait;   /* a wait of the profile; 0: none */
	uint64_t count;  /* 1; for tasks that the profile merges, their number */
	/* The lock holder; NULL: not known, or the kind of wait has none. Borrowed. */
	const struct profile_blame *holder;
};

struct dump_group {
	/* The same for all its threads, as in struct view_row. */
	enum run_state state;
	int32_t syscall;
	const uint32_t *function;
	size_t depth;
	const struct dump_thread *thread; /* grouped by wait, then by id */
	size_t count;
	bool are_tasks;      /* all are tasks with the same wait; else all are threads */
	uint64_t tasks;      /* number of tasks */
	uint64_t waiting_ns; /* the longest wait of a member; 0: not known */
};

struct dump {
	struct dump_group *group; /* groups of threads, then of tasks; each by lowest id */
	size_t count;
	struct dump_thread *thread; /* the members of all groups; internal */
	size_t threads;             /* number of threads */
	uint64_t tasks;
	uint32_t task; /* a thread of the profile that is a task, for the noun */
};

/*
 * Fills `out`, which dump_release() releases, from a view of one tick with the key VIEW_BY_ADDRESS:
 * the threads of a group have equal instruction addresses, and each function has its line. The view
 * must outlive `out`.
 */
void dump_make(const struct view *view, struct dump *out);
void dump_release(struct dump *dump);

#endif
