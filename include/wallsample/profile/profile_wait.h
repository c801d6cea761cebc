/* SPDX-License-Identifier: MIT */
/*
 * profile_wait.h - the waits of a profile: what threads waited for, what the holders of awaited
 * objects did at the same time, and deadlocks.
 */
#ifndef WALLSAMPLE_PROFILE_PROFILE_WAIT_H
#define WALLSAMPLE_PROFILE_PROFILE_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/profile/profile_frame.h"
#include "wallsample/thread/state.h"
#include "wallsample/wait/wait.h"

/* What a blocked thread waits for. Waits of the same kind for the same object have the same id if
 * both or neither have a timeout; id 0 is no wait. */
struct profile_wait {
	enum wait_kind kind;
	bool timed; /* the wait has a timeout */
	/*
	 * Frame that names the awaited object. For an object in the data of a module, such as a
	 * lock: a frame of origin FRAME_DATA (profile_frame.h). For any other object: a named frame
	 * whose text describes it, such as an address or the file behind a descriptor. Beyond a
	 * limit of the sampler, objects share one named frame. FRAME_NONE: no object.
	 */
	uint32_t object;
	uint32_t most; /* largest number of threads that were seen waiting for the object at once */
};

/*
 * Time that threads waited for an object while the object's holder had the stack `stack` and the
 * state `state`. Equal blame is summed up.
 */
struct profile_blame {
	uint32_t wait;
	/*
	 * The holder of the object; profile_no_thread() if the holder is not known. `stack` is then
	 * one named frame with the reason.
	 */
	uint32_t thread;
	uint32_t stack; /* stack of the holder */
	enum run_state state;
	int64_t samples, ns; /* samples and time of the waiters; only these members are sums */
};

/* A thread of a deadlock, with its stack and its wait. */
struct profile_stuck {
	uint32_t thread, stack, wait;
};

/*
 * The first `ring` elements form the ring: each thread waits for what the next thread holds, and
 * the last thread for what the first thread holds. The other threads wait, directly or not, for a
 * thread of the ring.
 */
struct profile_deadlock {
	struct profile_stuck *stuck;
	size_t count, ring;
};

struct profile;

/* Returns the id of the thread that stands for unknown holders. It has no samples. */
uint32_t profile_no_thread(struct profile *profile);
/* True for that thread. */
bool profile_is_no_thread(const struct profile *profile, uint32_t thread);
/*
 * Returns the id of the wait with the kind, timeout and object of `wait`. A new wait is added.
 * `most` of an existing wait is set to wait->most if that is larger.
 */
uint32_t profile_add_wait(struct profile *profile, const struct profile_wait *wait);
/* Sets profile_wait.most of the wait to `most`, unless it is larger already. */
void profile_raise_most(struct profile *profile, uint32_t wait, uint32_t most);
void profile_add_blame(struct profile *profile, const struct profile_blame *blame);
/*
 * Adds a deadlock, or replaces the one whose ring has the same threads and waits. `stuck` is
 * copied.
 */
void profile_add_deadlock(struct profile *profile, const struct profile_stuck *stuck, size_t count,
			  size_t ring);

size_t profile_wait_count(const struct profile *profile); /* at least 1: id 0 is no wait */
size_t profile_blame_count(const struct profile *profile);
size_t profile_deadlock_count(const struct profile *profile);
const struct profile_wait *profile_wait(const struct profile *profile, uint32_t id);
const struct profile_blame *profile_blame(const struct profile *profile, size_t index);
const struct profile_deadlock *profile_deadlock(const struct profile *profile, size_t index);

#endif
