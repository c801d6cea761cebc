/* SPDX-License-Identifier: MIT */
/*
 * waiting.h - sums up waits by the awaited object: the waiters, their time, their call chains, and
 * the call chains of the lock holders during that time.
 */
#ifndef WALLSAMPLE_ANALYSIS_WAITING_H
#define WALLSAMPLE_ANALYSIS_WAITING_H

#include "wallsample/base/table.h"
#include "wallsample/analysis/view.h"

/* A stack of waiters or of lock holders, with the time of the waiters. */
struct waiting_stack {
	uint32_t row;     /* used by waiting_make only */
	bool holds;       /* of holders, else of waiters */
	uint32_t thread;  /* of the profile; one of them */
	uint32_t threads; /* the number of threads with this stack */
	enum run_state state;
	const uint32_t *function; /* innermost first; the view's */
	size_t depth;
	int64_t ns; /* of the waiters' time, always */
};

/* An awaited object: one lock, one socket; or all timed sleeps. */
struct waiting_row {
	enum wait_kind kind; /* both sides of an rwlock are WAIT_RWLOCK_READ */
	const char *kind_text;
	const char *object;  /* "table_lock", "tcp port 80"; "": not known, or none */
	const char *module;  /* of a lock in the data of a module; else "" */
	uint32_t named;      /* the view's function named `object`; UINT32_MAX: none */
	int64_t ns, samples; /* of all waiters together */
	uint32_t threads;    /* number of threads that waited at any time */
	uint32_t most;       /* lower bound of the waiters at one time */
	const struct waiting_stack *waiter, *holder; /* by ns */
	size_t waiters, holders;
};

struct waiting {
	struct waiting_row *row; /* by ns */
	size_t count;
	struct waiting_stack *stack; /* internal, as is the rest */
	size_t stacks;
	struct table rows; /* (kind, named) -> row */
};

/*
 * Fills `out`, which waiting_release() releases, from the samples that the view selects, by any
 * key. The view must outlive `out`.
 */
void waiting_make(const struct view *view, struct waiting *out);
void waiting_release(struct waiting *waiting);
/* Returns the row index of a wait with this stack; `count` if it has none. */
size_t waiting_find(const struct waiting *waiting, const struct view *view, uint32_t wait,
		    const uint32_t *function, size_t depth);

/*
 * Adds "reader-12 waits for mutex table_lock, held by writer-13" for thread `index` of the ring;
 * `object` is the name of what it waits for. Foreign bytes are escaped.
 */
void deadlock_add_thread(const struct profile *profile, const struct profile_deadlock *deadlock,
			 size_t index, const char *object, struct strbuf *out);
/* Adds "a-14, b-15 and 3 more": the threads that wait for the ring without being part of it. */
void deadlock_add_others(const struct profile *profile, const struct profile_deadlock *deadlock,
			 struct strbuf *out);

/*
 * Returns the index in `function` of the function that waits: the innermost one that is not a
 * system call wrapper of the C library; 0 if there is no other.
 */
size_t waiting_place(const struct view *view, const uint32_t *function, size_t depth);

#endif
