/* SPDX-License-Identifier: MIT */
/*
 * profile_wait.h - of a profile: what threads waited for, who had it meanwhile, and who waited for
 * one another in a ring.
 */
#ifndef WALLSAMPLE_PROFILE_PROFILE_WAIT_H
#define WALLSAMPLE_PROFILE_PROFILE_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/profile/profile_frame.h"
#include "wallsample/thread/state.h"
#include "wallsample/wait/wait.h"

/*
 * What a blocked thread waits for. Threads that wait for the same have the same number; 0 is that
 * of nothing.
 */
struct profile_wait {
	enum wait_kind kind;
	bool timed;        /* it ends by itself after a time */
	/* A frame that is no code: of a lock in a module's data, whose origin is FRAME_DATA; else
	 * one named by its address, or by what is behind a descriptor. FRAME_NONE: no object. */
	uint32_t object;
	uint32_t most;     /* so many threads waited for the object at once, at least */
};

/*
 * Time in which threads waited for what somebody had: the waiters' time, and what the holder was
 * doing meanwhile.
 */
struct profile_blame {
	uint32_t wait;
	uint32_t thread;    /* the holder; profile_nobody if none can be named: the stack says
			     * why */
	uint32_t stack;
	enum run_state state;
	int64_t samples, ns;
};

/* One of a deadlock, in the stack and for the thing that it will wait in for ever. */
struct profile_stuck {
	uint32_t thread, stack, wait;
};

/* The first `ring` of them wait for one another: each for what the next has, the last for what the
 * first has. The others wait for one of these, or for one who does. */
struct profile_deadlock {
	struct profile_stuck *stuck;
	size_t count, ring;
};

struct profile;

/* The thread "[nobody]", which has no samples. */
uint32_t profile_nobody(struct profile *profile);
/* The number of the wait; `most` becomes the larger one. */
uint32_t profile_add_wait(struct profile *profile, const struct profile_wait *wait);

/* So many waited for its object at once, and perhaps more. */
void profile_raise_most(struct profile *profile, uint32_t wait, uint32_t most);

/* Adds waiters' time to what their holder was doing. */
void profile_add_blame(struct profile *profile, const struct profile_blame *blame);

/* What is known of a ring of the same threads and waits is replaced. `stuck` is copied. */
void profile_add_deadlock(struct profile *profile, const struct profile_stuck *stuck, size_t count,
			  size_t ring);

size_t profile_wait_count(const struct profile *profile); /* at least 1 */
size_t profile_blame_count(const struct profile *profile);
size_t profile_deadlock_count(const struct profile *profile);
const struct profile_wait *profile_wait(const struct profile *profile, uint32_t id);
const struct profile_blame *profile_blame(const struct profile *profile, size_t index);
const struct profile_deadlock *profile_deadlock(const struct profile *profile, size_t index);

#endif
