/* SPDX-License-Identifier: MIT */
/*
 * profile_internal.h - the two parts of a profile: names, and sums.
 *
 * A profile and its windows share the names. The profile, each mark and each window have sums of
 * their own.
 */
#ifndef WALLSAMPLE_PROFILE_PROFILE_INTERNAL_H
#define WALLSAMPLE_PROFILE_PROFILE_INTERNAL_H

#include "wallsample/base/table.h"
#include "wallsample/profile/profile.h"
#include "wallsample/profile/profile_recorder.h"

/* Tables of struct profile_names. Each maps a pair of numbers, written (a; b), to an id. */
enum names_table {
	NAMES_FRAME,    /* (module, epoch and origin; address) -> frame */
	NAMES_BYTECODE, /* (id in NAMES_FRAME and bytecode_size; bytecode) -> frame */
	NAMES_SCRIPT,   /* (name and file; line) -> frame */
	NAMES_STACK,    /* (frame; caller) -> stack */
	NAMES_PROCESS,  /* (pid; start time) -> process */
	NAMES_THREAD,   /* (process and tid; start time) -> thread; tasks: profile_add_green */
	NAMES_WAIT,     /* (kind and timed; object) -> wait */
	NAMES_DOING,    /* the table `doings` of profile_find_entry */
	NAMES_TABLES
};

/*
 * All objects of a profile that have an id. Each kind of object has an array, and a table that
 * finds an id by the object's contents. No id reaches UINT32_MAX, the value of FRAME_NONE and
 * STACK_NONE: memory is exhausted before.
 */
struct profile_names {
	struct strings *texts;
	struct table table[NAMES_TABLES];

	struct profile_frame *frame;
	size_t frame_count, frame_capacity;

	uint32_t *renamed; /* ids of the frames that profile_rename_frame has renamed */
	size_t renamed_count, renamed_capacity;

	struct profile_stack *stack;
	size_t stack_count, stack_capacity;

	struct profile_process *process;
	size_t process_count, process_capacity;

	struct profile_thread *thread;
	size_t thread_count, thread_capacity;

	struct profile_wait *wait;
	size_t wait_count, wait_capacity;
};

/* Sums of samples, blame and ticks, and deadlocks. A zeroed struct is empty. */
struct profile_sums {
	struct profile_entry *entry;
	size_t entry_count, entry_capacity;
	struct table entry_table; /* profile_find_entry() uses it to find the index in `entry` */

	struct profile_blame *blame;
	size_t blame_count, blame_capacity;
	struct table blame_table; /* profile_find_blame() uses it to find the index in `blame` */

	struct profile_parallelism *parallelism;
	size_t parallelism_count, parallelism_capacity;

	struct profile_deadlock *deadlock;
	size_t deadlock_count, deadlock_capacity;
	/* (sum_of_ring() of profile_sums.c; size of the ring) -> deadlock */
	struct table deadlock_table;

	uint64_t ticks, wall_ns;
	int64_t latency_ns; /* sum over all entries */
	/* green tasks that wait for a thread: sum of their waiting times, highest number at once */
	double ready_ns;
	uint32_t ready_most;
};

struct profile {
	struct profile_names *names;
	bool is_window; /* made by profile_since: the names belong to another profile */
	struct profile_sums sums;
	/*
	 * Sums of the additions since the last mark: points to the member `since` of that mark.
	 * NULL if there is no mark.
	 */
	struct profile_sums *since_mark;
	/* the oldest and the latest mark; NULL if there is no mark */
	struct profile_mark *first, *last;
	uint32_t ready; /* number of green tasks that wait for a thread at the next tick */
	const struct profile_recorder *recorder; /* NULL if there is no recorder */
};

struct profile_tick {
	uint64_t span_ns;
	uint32_t parallelism, runnable, ready;
};

/* --- profile_names.c */
struct profile_names *names_create(void);
void names_free(struct profile_names *names);

/* --- profile_sums.c. `names` are those of the profile. */
void sums_release(struct profile_sums *sums);
/* Adds a sample. Returns the index of its entry in sums->entry. */
uint32_t sums_add_entry(struct profile_sums *sums, struct profile_names *names,
			const struct profile_entry *sample);
void sums_add_blame(struct profile_sums *sums, const struct profile_blame *blame);
void sums_add_tick(struct profile_sums *sums, const struct profile_tick *tick);
/* Returns the row of a number of threads on a CPU, after adding rows up to it. */
struct profile_parallelism *sums_parallelism(struct profile_sums *sums, size_t parallelism);
void sums_add_deadlock(struct profile_sums *sums, const struct profile_stuck *stuck, size_t count,
		       size_t ring);
/* Adds to `sums` the sums in `more`, which are those of later additions to the same profile. */
void sums_merge(struct profile_sums *sums, struct profile_names *names,
		const struct profile_sums *more);

#endif
