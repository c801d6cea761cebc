/* SPDX-License-Identifier: MIT */
/*
 * dump.h - lists the threads and the tasks of one tick, with their waits, in groups. Threads with
 * the same state, system call and call chain form a group. Tasks form groups of their own, in which
 * the wait is the same, too. In this header "task" means a green task (green_task.h).
 */
#ifndef WALLSAMPLE_ANALYSIS_DUMP_H
#define WALLSAMPLE_ANALYSIS_DUMP_H

#include "wallsample/analysis/view.h"

struct dump_thread {
	uint32_t thread; /* id of a thread or task in the profile */
	uint32_t wait;   /* id of a wait of the profile; 0: none */
	/* number of tasks if `thread` stands for several tasks (its green_id is 0); else 1 */
	uint64_t count;
	/*
	 * The holder of the awaited object, borrowed from the profile. NULL if the profile has no
	 * holder for this wait, or the holder is the thread itself.
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
	size_t processes; /* number of processes of these threads, at least 1 */
	/* true: all members are tasks with the same wait; false: all members are threads */
	bool are_green;
	uint64_t green_count; /* number of tasks in the group; 0 in a group of threads */
	/* time in ns of the longest and of the shortest known wait of a member of the group
	 * (profile_thread.waiting_ns); 0: no wait is known */
	uint64_t waiting_ns, waiting_least_ns;
};

struct dump {
	/*
	 * First all groups of threads, ordered by the lowest tid in each group, then all groups of
	 * tasks, ordered by the lowest green_id in each group.
	 */
	struct dump_group *group;
	size_t count;
	struct dump_thread *thread; /* array that holds the members of all groups */
	size_t threads;             /* number of threads, without tasks */
	uint64_t green_count;       /* number of tasks */
	/*
	 * Id of any task in the profile. The name that a task has there is not its own, but what
	 * its runtime calls a task (green_task_words.noun). Valid if `green_count` is not 0.
	 */
	uint32_t any_green;
};

/*
 * Fills `out`, which dump_release() releases. The view must have the key VIEW_BY_ADDRESS and a
 * profile of one tick, and must outlive `out`. With this key the threads of a group have equal
 * instruction addresses, and view_function.line is the line of the address.
 */
void dump_make(const struct view *view, struct dump *out);
void dump_release(struct dump *dump);

#endif
