/* SPDX-License-Identifier: MIT */
/*
 * dump.h - every thread and task once, and what it waits for: those that do the same, in the same
 * place, are one group.
 */
#ifndef WALLSAMPLE_ANALYSIS_DUMP_H
#define WALLSAMPLE_ANALYSIS_DUMP_H

#include "wallsample/analysis/view.h"

struct dump_thread {
	uint32_t thread;            /* of the profile */
	uint32_t wait;              /* of the profile; 0: it waits for nothing */
	uint64_t count;             /* 1; of tasks that are not told apart, how many there are */
	/* Who keeps it waiting; NULL: nobody can be named, or the kind of wait knows no holder. */
	const struct profile_blame *holder;
};

struct dump_group {
	/* Of all its threads, as in struct view_row. */
	enum run_state state;
	int32_t syscall;
	const uint32_t *function;
	size_t depth;
	const struct dump_thread *thread; /* those of one wait together; by id */
	size_t count;
	bool are_tasks;             /* all of them, and they have one wait; else all are threads */
	uint64_t tasks;             /* how many tasks that is */
	uint64_t waiting_ns;        /* the longest that one of them has waited; 0: not known */
};

struct dump {
	struct dump_group *group; /* by the lowest id, those of threads before those of tasks */
	size_t count;
	struct dump_thread *thread; /* those of all groups; internal */
	size_t threads;           /* how many there are */
	uint64_t tasks;
	uint32_t task;            /* one of these, for what it is called */
};

/*
 * Of a view of one tick, by VIEW_BY_ADDRESS: then threads of a group have the same call chain to
 * the instruction, and each function its own line. The view must outlive it.
 */
void dump_make(const struct view *view, struct dump *out);
void dump_release(struct dump *dump);

#endif
