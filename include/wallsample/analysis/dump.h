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
	uint64_t count;  /* 1; for a sum of tasks, the number of tasks */
	/*
	 * The holder of the awaited lock, borrowed from the profile. NULL if it is not known, or if
	 * waits of this kind have no holder.
	 */
	const struct profile_blame *holder;
};

struct dump_group {
	/* These members are equal for all threads of the group, and as in struct view_row. */
	enum run_state state;
	int32_t syscall;
	const uint32_t *function;
	size_t depth;
	const struct dump_thread *thread; /* members; those with the same wait are adjacent */
	size_t count;
	bool are_tasks;      /* all members are tasks with the same wait; else all are threads */
	uint64_t tasks;      /* number of tasks of all members */
	uint64_t waiting_ns; /* longest wait of a member; 0: not known */
};

struct dump {
	/* Groups of threads, then of tasks; both ordered by the lowest id. */
	struct dump_group *group;
	size_t count;
	struct dump_thread *thread; /* memory of the members of all groups */
	size_t threads;             /* number of threads */
	uint64_t tasks;
	uint32_t task; /* id of any task, valid if `tasks` is not 0: its name is their noun */
};

/*
 * Fills `out`, which dump_release() releases, from a view of one tick with the key VIEW_BY_ADDRESS:
 * the threads of a group have equal instruction addresses, and each function has its line. The view
 * must outlive `out`.
 */
void dump_make(const struct view *view, struct dump *out);
void dump_release(struct dump *dump);

#endif
