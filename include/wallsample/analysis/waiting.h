/* SPDX-License-Identifier: MIT */
/*
 * waiting.h - what threads waited for, how long and where, and what the holders did during that
 * time.
 */
#ifndef WALLSAMPLE_ANALYSIS_WAITING_H
#define WALLSAMPLE_ANALYSIS_WAITING_H

#include "wallsample/base/table.h"
#include "wallsample/analysis/view.h"

/* A stack of waiters, or of holders of what others waited for, and the time of the waiters. */
struct waiting_stack {
	uint32_t row;              /* of the table */
	bool holds;
	uint32_t thread;           /* of the profile; one of them */
	uint32_t threads;          /* the number of threads with this stack */
	enum run_state state;
	const uint32_t *function;  /* innermost first; the view's */
	size_t depth;
	int64_t ns;                /* of the waiters' time, always */
};

/* What threads waited for: one lock, one socket; or all sleeps until a time. */
struct waiting_row {
	enum wait_kind kind;       /* both sides of an rwlock are WAIT_RWLOCK_READ */
	const char *kind_text;
	const char *object;        /* "table_lock", "tcp port 80"; "": of this kind in general */
	const char *module;        /* of a lock in its data; else "" */
	uint32_t named;            /* the view's function of that name; UINT32_MAX: none */
	int64_t ns, samples;       /* of all waiters together */
	uint32_t threads;          /* that waited at any time */
	uint32_t most;             /* lower bound of the waiters at one time */
	const struct waiting_stack *waiter, *holder; /* by ns */
	size_t waiters, holders;
};

struct waiting {
	struct waiting_row *row;   /* by ns */
	size_t count;
	struct waiting_stack *stack; /* internal, as is the rest */
	size_t stacks;
	struct table rows;         /* (kind, named) -> row */
};

/* Of the samples that the view has selected, by whatever key. The view must outlive it. */
void waiting_make(const struct view *view, struct waiting *out);
void waiting_release(struct waiting *waiting);
/* The row of a wait of these functions; `count` if it has none. */
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
 * The function that waits, for people: the innermost that is not the C library's way into the
 * kernel. Index in `function`; 0 if there is none but that.
 */
size_t waiting_place(const struct view *view, const uint32_t *function, size_t depth);

#endif
