/* SPDX-License-Identifier: MIT */
/* idle_threads_internal.h - the threads that did nothing but wait, for code_places.c. */
#ifndef WALLSAMPLE_ANALYSIS_TABLES_IDLE_THREADS_INTERNAL_H
#define WALLSAMPLE_ANALYSIS_TABLES_IDLE_THREADS_INTERNAL_H

#include "wallsample/analysis/code_places.h"
#include "wallsample/base/table.h"

/* The sums of one thread. */
struct thread_sum {
	int64_t wall_ns;
	int64_t most_ns;      /* time of its longest wait that may be idle */
	uint32_t most;        /* that entry of the profile */
	uint64_t pool;        /* threads that wait in the same place for the same kind of object */
	bool holds;           /* it holds a lock for which other threads wait */
	int64_t scheduler_ns; /* time as in place_is_scheduler() */
	int64_t waits_ns;     /* time of all waits that may be idle */
	bool has_own;         /* it executes code of the program */
	bool is_peer; /* it waits for a peer: the thread is idle only if its pool has others */
	bool is_made; /* it waits for a connection that the program has made */
	enum wait_kind kind;  /* of its longest wait that may be idle */
	bool is_of_library;   /* it is a reader, and executes only code of libraries */
	uint64_t asks, reads; /* as in struct place_row */
	bool is_in_table;     /* it has samples that the view selects */
};

struct idle_threads {
	const struct view *view;
	const struct own *own;
	const struct waiting *waiting;
	struct thread_sum *thread; /* indexed by thread of the profile */
	struct table pools;        /* (thread_sum.pool; 0) -> number of threads */
	struct table readers; /* thread_sum.reads -> 1 if another task asks such readers, else 0 */
	uint64_t *package;    /* by function of the view: package_of(); UINT64_MAX: not computed */
};

/* Fills `out`, which idle_threads_release() releases. Borrows the other arguments, which are those
 * of places_make(). */
void idle_threads_make(const struct view *view, const struct own *own,
		       const struct waiting *waiting, struct idle_threads *out);
void idle_threads_release(struct idle_threads *threads);
bool idle_threads_has(const struct idle_threads *threads, uint32_t thread);

/*
 * Returns the key of a function's row in a table of places. Functions of one name in files of one
 * name share a row: those of several processes of a program. A function without a symbol shares the
 * row of its module. Two functions of one hash would share a row, too.
 */
void place_key(const struct view *view, const struct own *own, uint32_t function, uint64_t key[2]);
enum place_doing place_doing_of(enum run_state state);
/* True if a thread of a runtime that schedules tasks, or one of its own tasks, waits for work. */
bool place_is_scheduler(const struct view *view, enum run_state state, uint32_t outermost);

#endif
