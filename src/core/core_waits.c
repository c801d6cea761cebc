/* SPDX-License-Identifier: MIT */
/* core_waits.c - finds what the threads of a core file wait for, which threads hold it, and
 * deadlocks. */
#include "core/core_internal.h"

#include <stdlib.h>

#include "wallsample/runtime/locks.h"
#include "wallsample/sampler/rings.h"
#include "wallsample/sampler/stack.h"
#include "wallsample/base/base.h"

static uint32_t
index_of(const struct core_waits *waits, pid_t tid)
{
	uint32_t index = RINGS_NONE;

	table_find(&waits->by_tid, (uint64_t)tid, 0, &index);
	return index;
}

pid_t
core_waits_thread(void *context, pid_t inner)
{
	return inner > 0 && index_of(context, inner) != RINGS_NONE ? inner : 0;
}

static size_t
count_blocked(void *context, uint64_t address)
{
	const struct core_waits *waits = context;
	uint32_t count = 0;

	table_find(&waits->words, address, 0, &count);
	return count;
}

void
core_waits_init(struct core_waits *waits, struct core_waiter *waiter, size_t count,
		struct memory memory)
{
	*waits = (struct core_waits){ .waiter = waiter, .count = count };
	waits->source = (struct wait_source){ .memory = memory,
					      .thread = core_waits_thread,
					      .blocked = count_blocked,
					      .context = waits };
	table_init(&waits->by_tid);
	table_init(&waits->words);
	for (uint32_t i = 0; i < count; i++) {
		table_insert(&waits->by_tid, (uint64_t)waiter[i].tid, 0, i, NULL);
		if (waiter[i].call.number >= 0 && !waiter[i].leaving)
			waiter[i].word = wait_futex_word(&waiter[i].call);
		if (waiter[i].word != 0)
			(*table_insert(&waits->words, waiter[i].word, 0, 0, NULL))++;
	}
}

static bool
runtime_lock(void *context, uint64_t word, uint64_t *lock)
{
	const struct core_waits *waits = context;
	const char *name;

	return runtimes_find_lock(waits->runtimes, word, lock, &name);
}

static pid_t
runtime_owner(void *context, uint64_t lock)
{
	const struct core_waits *waits = context;

	return runtimes_lock_owner(waits->runtimes, lock);
}

static bool
runtime_parked(void *context, uint64_t word, uint64_t *lock, uint64_t *owner)
{
	const struct core_waits *waits = context;

	return runtimes_find_parked(waits->runtimes, word, lock, owner);
}

static pid_t
parked_owner(void *context, uint64_t owner)
{
	const struct core_waits *waits = context;

	return runtimes_parked_owner(waits->runtimes, owner);
}

void
core_waits_set_runtimes(struct core_waits *waits, struct runtimes *runtimes)
{
	waits->runtimes = runtimes;
	waits->source.runtime_lock = runtime_lock;
	waits->source.runtime_owner = runtime_owner;
	waits->source.runtime_parked = runtime_parked;
	waits->source.parked_owner = parked_owner;
}

/* Returns the frame that names the interpreter of a lock, such as "of interpreter 2"; FRAME_NONE
 * when the runtime has only one lock of this kind. */
static uint32_t
frame_of_runtime(const struct core_waits *waits, uint64_t lock, struct profile *profile)
{
	const char *name;

	if (!runtimes_find_lock(waits->runtimes, lock, &lock, &name) || name[0] == '\0')
		return FRAME_NONE;
	return profile_intern_named(profile, name);
}

void
core_waits_release(struct core_waits *waits)
{
	free(waits->waiter);
	table_release(&waits->by_tid);
	table_release(&waits->words);
}

/* Index of the timeout argument of FUTEX_WAIT and similar operations. */
#define FUTEX_TIMEOUT 3

/*
 * Returns true when a thread that was about to return from its call still waits for an
 * interpreter's lock. A waiter wakes up at intervals (its wait has a timeout) to request the lock
 * again, and waits as long as another thread holds the lock. False for a wait without a timeout:
 * its thread has released the lock, and waits until another thread takes it.
 */
static bool
asks_again(const struct core_waits *waits, const struct core_waiter *waiter)
{
	struct wait_owner owner;

	if (waiter->what.kind != WAIT_GIL || waiter->call.args[FUTEX_TIMEOUT] == 0)
		return false;
	wait_owner(&waits->source, &waiter->what, &owner);
	return owner.holder == HOLDER_THREAD && owner.tid != waiter->tid;
}

void
core_waits_classify(struct core_waits *waits, const struct maps *maps, struct profile *profile)
{
	for (size_t i = 0; i < waits->count; i++) {
		struct core_waiter *waiter = &waits->waiter[i];
		struct profile_wait wait = { .object = FRAME_NONE, .most = 1 };
		struct wait_owner owner;
		char text[32] = "";

		if (waiter->call.number < 0)
			continue;
		wait_classify(&waits->source, &waiter->call, &waiter->what);
		if (waiter->leaving && !asks_again(waits, waiter)) {
			waiter->what = (struct wait){ .kind = WAIT_NONE, .fd = -1 };
			continue;
		}
		wait.kind = waiter->what.kind;
		wait.timed = waiter->what.timed;
		if (wait.kind == WAIT_JOIN) {
			wait_owner(&waits->source, &waiter->what, &owner);
			snprintf(text, sizeof(text), "%jd", (intmax_t)owner.tid);
		} else if (wait.kind == WAIT_GIL) {
			wait.object = frame_of_runtime(waits, waiter->what.object, profile);
		} else if (waiter->what.fd >= 0) {
			snprintf(text, sizeof(text), "descriptor %d", waiter->what.fd);
		} else if (waiter->what.object != 0) {
			wait.object = frame_of_data(maps, profile, waiter->what.object);
		}
		if (text[0] != '\0')
			wait.object = profile_intern_named(profile, text);
		if (waiter->word != 0)
			wait.most = (uint32_t)count_blocked(waits, waiter->word);
		if (wait.kind != WAIT_NONE)
			waiter->wait = profile_add_wait(profile, &wait);
	}
}

static void
blame(const struct core_waits *waits, struct profile *profile, struct rings *rings, uint32_t index)
{
	const struct core_waiter *waiter = &waits->waiter[index], *holder;
	struct profile_blame to = {
		.wait = waiter->wait, .state = RUN_UNKNOWN, .samples = 1, .ns = 1
	};
	struct wait_owner owner;
	uint32_t at;

	/* The kernel knows the holder of a lock of a file; a core file does not. */
	if (waiter->wait == 0 || !wait_kind_has_owner(waiter->what.kind) ||
	    waiter->what.kind == WAIT_FILE_LOCK)
		return;
	wait_owner(&waits->source, &waiter->what, &owner);
	at = owner.holder == HOLDER_THREAD ? index_of(waits, owner.tid) : RINGS_NONE;
	holder = at != RINGS_NONE ? &waits->waiter[at] : NULL;
	if (!waiter->what.timed)
		rings->next[index] = at;
	to.thread = holder != NULL ? holder->thread : profile_no_thread(profile);
	to.stack = holder != NULL ? holder->stack : stack_of_unknown_holder(profile, &owner);
	profile_add_blame(profile, &to);
}

static void
add_deadlock(const struct core_waits *waits, struct profile *profile, const struct rings *rings,
	     uint32_t ring)
{
	struct profile_stuck *stuck = xcalloc(rings->count, sizeof(*stuck));
	uint32_t *list = xcalloc(rings->count, sizeof(*list));
	size_t in_ring, count = rings_list(rings, ring, list, &in_ring);

	for (size_t i = 0; i < count; i++) {
		const struct core_waiter *waiter = &waits->waiter[list[i]];

		stuck[i] = (struct profile_stuck){ .thread = waiter->thread,
						   .stack = waiter->stack,
						   .wait = waiter->wait };
	}
	profile_add_deadlock(profile, stuck, count, in_ring);
	free(list);
	free(stuck);
}

void
core_waits_blame(struct core_waits *waits, struct profile *profile)
{
	struct rings rings;

	rings_init(&rings, waits->count);
	for (uint32_t i = 0; i < waits->count; i++)
		blame(waits, profile, &rings, i);
	rings_find(&rings);
	for (uint32_t ring = 0; ring < rings.rings; ring++)
		add_deadlock(waits, profile, &rings, ring);
	rings_release(&rings);
}
