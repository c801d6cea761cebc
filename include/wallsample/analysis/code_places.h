/* SPDX-License-Identifier: MIT */
/*
 * code_places.h - divides the time of threads among places: the program's own functions
 * (own_code.h) that ran or waited. Threads that did nothing but wait in one place for the whole run
 * are idle, and their time is not part of any place. A thread is not idle if it holds a lock for
 * which others wait; if it waits for a connection that the program has made, or asks a task that
 * does; or if it is the only thread in its place and waits for any other connection or for a child
 * process. Threads of a runtime that wait until a task can run, and tasks of the runtime itself
 * that wait, are idle for that time.
 *
 * A client library, such as one for HTTP, may have a task for each connection, which reads the
 * replies. A task of the program that is within a function of this library, and waits for another
 * task, asks such a reader: it waits for the connection, too. A reader of a library that no task
 * asks waits for nothing; its connection is kept for later requests, and the reader is idle.
 *
 * In this header a thread is a thread or a green task (green_task.h).
 */
#ifndef WALLSAMPLE_ANALYSIS_CODE_PLACES_H
#define WALLSAMPLE_ANALYSIS_CODE_PLACES_H

#include "wallsample/analysis/own_code.h"
#include "wallsample/analysis/waiting.h"

/* What threads do in a place: X(NAME, word, mark in a bar, a text of one character) */
#define PLACE_DOINGS(X)                                                                            \
	X(RUNS, "runs", "#")                                                                       \
	X(QUEUED, "waits for a CPU", "~")                                                          \
	X(BLOCKED, "blocked", ".")

enum place_doing {
#define X(name, word, mark) PLACE_##name,
	PLACE_DOINGS(X) PLACE_DOING_COUNT
#undef X
};

/* What a thread waits for. */
struct place_wait {
	size_t row; /* index in waiting.row; waiting.count: the object has no name */
	enum wait_kind kind;
	enum run_state state;
	int32_t syscall; /* SYSCALL_GREEN for a green task */
	bool gil;        /* an interpreter's lock */
};

struct place_row {
	/* function of the view; if it has no symbol, all functions without a symbol of its module
	 * are one place, and this is any of them */
	uint32_t function;
	/* source line of the place with the most time; NULL and 0: not known */
	const char *file;
	uint32_t line;
	int64_t wall_ns;               /* above 0 */
	int64_t ns[PLACE_DOING_COUNT]; /* parts of wall_ns */
	uint32_t threads;              /* number of threads that were in the place */
	uint32_t thread;               /* one of them */
	struct place_wait wait;        /* most of the blocked time */
	int64_t wait_ns;               /* its part of it; 0: the place is never blocked */
	/* If the object of `wait` has no name: the object with most waits of its kind in this place
	 * that has one, an index in waiting.row; waiting.count: none. */
	size_t example;
	uint32_t stack; /* stack in the profile of the longest of these waits; STACK_NONE: none */
	/* Hashes of the package whose readers tasks in this place ask, and of the package whose
	 * readers are in this place; 0: none. */
	uint64_t asks, reads;
};

/* A group of idle threads that waited in one place for one thing. */
struct idle_row {
	uint32_t thread; /* any of them */
	uint32_t function, threads;
	struct place_wait wait;
	int64_t wall_ns;
};

struct places {
	struct place_row *row; /* ordered by wall_ns, descending */
	size_t count;
	struct idle_row *idle; /* ordered by the number of threads, descending */
	size_t idle_count;
	size_t threads, idle_threads; /* numbers of all threads and of idle ones */
	bool *is_idle;                /* indexed by thread of the profile */
	int64_t wall_ns;              /* of all threads that are not idle */
	int64_t ns[PLACE_DOING_COUNT];
};

/*
 * Fills `out`, which places_release() releases, from the samples that `view`, which is by function,
 * selects. `lines` is a view of the same profile with the same filter by line; NULL: lines are not
 * wanted. `own` and `waiting` are those of `view`. All must outlive `out`.
 */
void places_make(const struct view *view, const struct view *lines, const struct own *own,
		 const struct waiting *waiting, struct places *out);
void places_release(struct places *places);

#endif
