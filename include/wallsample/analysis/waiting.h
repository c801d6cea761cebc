/* SPDX-License-Identifier: MIT */
/*
 * waiting.h - sums up waits by the awaited object: the waiters, their time, their call chains, and
 * the call chains of lock holders during that time.
 */
#ifndef WALLSAMPLE_ANALYSIS_WAITING_H
#define WALLSAMPLE_ANALYSIS_WAITING_H

#include "wallsample/base/table.h"
#include "wallsample/analysis/view.h"

/* A stack of waiters or of lock holders. */
struct waiting_stack {
	uint32_t row;     /* index of the row of this stack, used by waiting_make only */
	bool holds;       /* true: stack of lock holders; false: stack of waiters */
	uint32_t thread;  /* any thread with this stack: its id in the profile */
	uint32_t threads; /* number of threads with this stack */
	/* run state of `thread` */
	enum run_state state;
	uint32_t stack;           /* id of the stack in the profile */
	const uint32_t *function; /* innermost first; borrowed from the view */
	size_t depth;
	/* time that threads waited; for a stack of holders, while the holder had this stack */
	int64_t ns;
};

/*
 * Waits for one object (a lock, a socket, and so on), or all waits of a kind that have no object,
 * such as timed sleeps.
 */
struct waiting_row {
	enum wait_kind kind; /* readers and writers of an rwlock are both WAIT_RWLOCK_READ */
	/* wait_kind_text() of `kind`; "rwlock" for WAIT_RWLOCK_READ */
	const char *kind_text;
	/*
	 * Name of the object: "table_lock", "tcp port 80"; "" if it is not known, or if there is no
	 * object; WAIT_OBJECT_UNKNOWN for all sockets that are not identified, because connections
	 * that end soon would have a row each.
	 */
	const char *object;
	const char *module; /* for a lock in the data of a module, this module; else "" */
	/* id in the view of the function named `object`; UINT32_MAX: none; UINT32_MAX - 1: the row
	 * of WAIT_OBJECT_UNKNOWN */
	uint32_t named;
	int64_t ns, samples; /* wall time and samples of all waiters */
	uint32_t threads;    /* number of different threads that waited */
	uint32_t objects;    /* number of different objects with this name */
	uint32_t most;       /* lower bound of the largest number of waiters at one time */
	const struct waiting_stack *waiter, *holder; /* arrays, ordered by ns, descending */
	size_t waiters, holders;
};

struct waiting {
	struct waiting_row *row; /* ordered by ns, descending */
	size_t count;
	struct waiting_stack *stack; /* array that holds the stacks of all rows */
	size_t stacks;
	struct table rows; /* (kind; named) -> row, for waiting_find */
};

/*
 * Fills `out`, which waiting_release() releases, from the samples that the view selects. The view
 * may have any key, and must outlive `out`.
 */
void waiting_make(const struct view *view, struct waiting *out);
void waiting_release(struct waiting *waiting);
/*
 * Returns the index of the row to which a waiter with this wait and this stack belongs;
 * waiting->count if there is none.
 */
size_t waiting_find(const struct waiting *waiting, const struct view *view, uint32_t wait,
		    const uint32_t *function, size_t depth);

/*
 * Adds a text such as "reader-12 waits for mutex table_lock, held by writer-13", for thread `index`
 * of the deadlock's ring (struct profile_deadlock). `object` is the name of the awaited object.
 * Names are escaped as by strbuf_add_escaped().
 */
void deadlock_add_thread(const struct profile *profile, const struct profile_deadlock *deadlock,
			 size_t index, const char *object, struct strbuf *out);
/*
 * Adds the threads of the deadlock that are not in its ring, but wait for a thread of the ring,
 * directly or not, such as "a-14 and b-15". Only the first ten are named; the others are counted.
 */
void deadlock_add_others(const struct profile *profile, const struct profile_deadlock *deadlock,
			 struct strbuf *out);

/* Adds "nginx (812)", the processes between the waiter and the last process of a chain of waits
 * (PROFILE_THROUGH); nothing if the waiter waits for that process itself. Not escaped. */
void waiting_add_through(const struct view *view, const struct waiting_stack *stack,
			 struct strbuf *out);

/*
 * Returns the index in `function` of the function that waits: the innermost function that is not of
 * the C or C++ library, the dynamic linker, the vDSO or a language runtime. 0 if there is none.
 */
size_t waiting_place(const struct view *view, const uint32_t *function, size_t depth);

#endif
