/* SPDX-License-Identifier: MIT */
/*
 * profile_internal.h - the parts of a profile: names, which windows share, and sums, of which the
 * profile, each mark and each window have their own.
 */
#ifndef WALLSAMPLE_PROFILE_PROFILE_INTERNAL_H
#define WALLSAMPLE_PROFILE_PROFILE_INTERNAL_H

#include "wallsample/base/table.h"
#include "wallsample/profile/profile.h"

/*
 * What has an id: each kind is an array and the table of its keys. Ids have 32 bits, UINT32_MAX is
 * STACK_NONE: memory ends long before.
 */
struct profile_names {
	struct strings *texts;

	struct profile_frame *frame;
	size_t frame_count, frame_capacity;
	struct table frame_table;    /* (module, epoch and origin, address) */
	struct table bytecode_table; /* (such a frame and size, bytecode) */
	struct table script_table;   /* (name and file, line) */

	uint32_t *renamed; /* frames */
	size_t renamed_count, renamed_capacity;

	struct profile_stack *stack;
	size_t stack_count, stack_capacity;
	struct table stack_table; /* (frame, caller) */

	struct profile_thread *thread;
	size_t thread_count, thread_capacity;
	struct table thread_table; /* (tid, start time), or a task: see profile_add_task */

	struct profile_wait *wait;
	size_t wait_count, wait_capacity;
	struct table wait_table; /* (kind and timed, object) */

	struct table doing_table; /* (GIL, state and system call, wait and carrier) -> doing */
};

struct profile_sums {
	struct profile_entry *entry;
	size_t entry_count, entry_capacity;
	struct table entry_table; /* (thread and stack, doing) */

	struct profile_blame *blame;
	size_t blame_count, blame_capacity;
	struct table blame_table; /* (wait and thread, stack and state) */

	struct profile_parallelism *parallelism;
	size_t parallelism_count, parallelism_capacity;

	struct profile_deadlock *deadlock;
	size_t deadlock_count, deadlock_capacity;
	struct table deadlock_table; /* (sum of threads and waits of the ring, its size) */

	uint64_t ticks, wall_ns;
	double ready_ns;
	uint32_t ready_most;
};

struct profile {
	struct profile_names *names;
	bool is_window; /* `names` is borrowed */
	struct profile_sums sums;
	struct profile_sums *since_mark;         /* of the last mark; NULL: there is no mark */
	struct profile_mark *first, *last;       /* marks in the order of time */
	uint32_t ready;                          /* of the next tick */
	const struct profile_recorder *recorder; /* NULL: none */
};

struct profile_tick {
	uint64_t span_ns;
	uint32_t parallelism, runnable, ready;
};

/* --- profile_names.c */
struct profile_names *names_create(void);
void names_free(struct profile_names *names);

/* --- profile_sums.c: additions to sums; the names are those of the profile */
void sums_init(struct profile_sums *sums);
void sums_release(struct profile_sums *sums);
/* Returns the index of the entry. */
uint32_t sums_add_entry(struct profile_sums *sums, struct profile_names *names,
			const struct profile_entry *sample);
void sums_add_blame(struct profile_sums *sums, const struct profile_blame *blame);
void sums_add_tick(struct profile_sums *sums, const struct profile_tick *tick);
void sums_add_deadlock(struct profile_sums *sums, const struct profile_stuck *stuck, size_t count,
		       size_t ring);
/* Adds all of `more`, which came later. */
void sums_merge(struct profile_sums *sums, struct profile_names *names,
		const struct profile_sums *more);

#endif
