/* SPDX-License-Identifier: MIT */
/* lock_blame.c - reads once a tick which threads hold the locks that others wait for, and
 * attributes the time of the waiters to them. */
#include "wallsample/sampler/stack.h"

#include <stdlib.h>

#include "sampler/threads_internal.h"
#include "wallsample/wait/system_v.h"

/* Most objects with waiters at a tick for their holders to be observed at every tick. If there are
 * more, holders are observed as often as other threads. */
#define HOLDERS_MOST 32

/* Number of lock holders read between two calls of late_serve, which releases late threads: to read
 * one takes some microseconds. */
#define BLAMES_UNSERVED 32

/* Most times of waiters that are kept until the holders of the lock are read (HOLDER_UNREAD), which
 * takes up to a quarter of a second. */
#define UNREAD_MOST 4096

void
waits_blame(struct waits *waits, const struct sampled_thread *thread, int64_t samples, int64_t ns)
{
	const struct thread_wait *wait = &thread->wait;

	if (wait->id == 0 ||
	    (!wait_kind_is_blamed(wait->what.kind) && !wait_may_have_peer(&wait->what)))
		return;
	waits->blamed = xgrow(waits->blamed, &waits->blamed_capacity, waits->blamed_count + 1,
			      sizeof(*waits->blamed));
	waits->blamed[waits->blamed_count++] = (struct blamed){
		.tid = thread->watch.tid,
		.wait = wait->id,
		.what = wait->what,
		.samples = samples,
		.ns = ns,
	};
}

void
waits_blame_last(struct waits *waits, const struct sampled_thread *thread, int64_t samples,
		 int64_t ns)
{
	struct profile_blame to = thread->wait.blamed;

	if (thread->wait.id == 0 || !thread->wait.holder_read) {
		waits_blame(waits, thread, samples, ns);
		return;
	}
	to.samples = samples;
	to.ns = ns;
	profile_add_blame(waits->run->profile, &to);
}

bool
waits_has_few_holders(const struct waits *waits)
{
	return waits->owner_count <= HOLDERS_MOST;
}

void
waits_forget_owners(struct waits *waits)
{
	table_clear(&waits->owners);
	waits->owner_count = 0;
}

/* Reads the owner of the object of a wait. */
static void
read_owner(struct waits *waits, const struct wait *wait, struct wait_owner *out)
{
	if (wait->kind == WAIT_FILE_LOCK) {
		file_locks_owner(waits, wait, out);
	} else if (wait->kind == WAIT_SYSTEM_SEMAPHORE) {
		*out = (struct wait_owner){ .holder = HOLDER_OPERATED };
		if (waits->ipc_namespace == 0)
			out->tid = system_v_last_pid(wait->system_id, wait->semaphore);
	} else {
		wait_owner(&waits->source, wait, out);
		shared_check_owner(waits, wait, out);
	}
}

const struct wait_owner *
waits_owner(struct waits *waits, const struct wait *wait)
{
	bool added;
	const uint32_t at = *table_insert(&waits->owners, wait->object, wait->kind,
					  (uint32_t)waits->owner_count, &added);

	if (added) {
		waits->owner = xgrow(waits->owner, &waits->owner_capacity, waits->owner_count + 1,
				     sizeof(*waits->owner));
		read_owner(waits, wait, &waits->owner[at]);
		waits->owner_count++;
	}
	return &waits->owner[at];
}

uint32_t
stack_of_unknown_holder(struct profile *profile, const struct wait_owner *owner)
{
	char text[64];

	switch (owner->holder) {
	case HOLDER_GONE:
		if (owner->tid == 0)
			snprintf(text, sizeof(text), "[a thread that has ended]");
		else
			snprintf(text, sizeof(text), "[thread %jd, %s]", (intmax_t)owner->tid,
				 owner->shared ? "which does not exist" : "not of this process");
		break;
	case HOLDER_READERS:
		snprintf(text, sizeof(text), "[readers: the lock does not record them]");
		break;
	case HOLDER_THREAD:
		snprintf(text, sizeof(text), "[thread %jd, not sampled]", (intmax_t)owner->tid);
		break;
	case HOLDER_FOREIGN:
		snprintf(text, sizeof(text), "[another process]");
		break;
	case HOLDER_UNRECORDED:
		snprintf(text, sizeof(text), PROFILE_UNRECORDED_HOLDER);
		break;
	case HOLDER_PROCESSES:
	case HOLDER_UNREAD:
	case HOLDER_OPERATED:
		snprintf(text, sizeof(text), PROFILE_NO_HOLDER);
		break;
	case HOLDER_NONE:
		snprintf(text, sizeof(text), PROFILE_FREE_LOCK);
		break;
	}
	return stack_of_text(profile, text, STACK_NONE);
}

/* Returns the owner of the lock that a thread waited for. Owners are read at the end of a tick. If
 * the waiter itself owns the interpreter's lock or the lock of a file by then, the owner during the
 * wait is not known, and an unknown owner is returned. */
static const struct wait_owner *
owner_of(struct waits *waits, const struct blamed *blamed)
{
	static const struct wait_owner unknown = { .holder = HOLDER_NONE };
	const struct wait_owner *owner = waits_owner(waits, &blamed->what);
	const enum wait_kind kind = blamed->what.kind;

	return (kind == WAIT_GIL || kind == WAIT_FILE_LOCK) && owner_is_thread(owner) &&
			       owner->tid == blamed->tid ?
		       &unknown :
		       owner;
}

/* Returns true if the holder was sampled at this tick, and has held the lock since the last tick:
 * it had the lock then, and the waiter has slept since. */
static bool
held_since_last_tick(const struct waits *waits, const struct sampled_thread *waiter,
		     const struct sampled_thread *holder)
{
	return holder->last_tick == waits->run->tick.number && waiter != NULL &&
	       waiter->wait.holder_read && waiter->wait.holder == holder->watch.tid;
}

/* Name of the stack of a holder that has run since its sample: where it was when the lock was read
 * is not known. */
#define STACK_OF_MOVED "[ran after its sample]"

/*
 * Sets stack and state of a holder whose ownership was read after its sample. They are those of its
 * sample if that is still valid: a thread that slept has not run since, and holds the lock where it
 * sleeps. A thread that slept and has run since may have acquired the lock only then, unless it
 * held the lock before the sample, too (`held_before`).
 */
static void
blame_set_stack(struct waits *waits, struct sampled_thread *holder, bool held_before,
		struct profile_blame *to)
{
	if (holder->asleep && holder->late == NULL && !held_before && !thread_is_unmoved(holder)) {
		to->stack = stack_of_text(waits->run->profile, STACK_OF_MOVED, STACK_NONE);
		return;
	}
	to->stack = holder->stack;
	to->state = holder->late != NULL || holder->woken ? RUN_QUEUED : holder->state;
}

/* Returns the stack of a holder that is not sampled, or not known. `listed`: it is a thread of a
 * sampled process. */
static uint32_t
stack_without_thread(struct waits *waits, const struct wait *wait, const struct wait_owner *owner,
		     bool listed)
{
	const struct wait_owner thread = { .holder = HOLDER_THREAD, .tid = owner->tid };
	struct run *run = waits->run;
	uint32_t stack = STACK_NONE;

	if (owner->holder == HOLDER_PROCESSES || owner->holder == HOLDER_UNREAD)
		return file_locks_stack(waits, wait);
	if (owner->holder == HOLDER_OPERATED && owner->tid > 0)
		stack = shared_stack_of_process(run, owner->tid, PROFILE_OPERATED_BY);
	if (!listed && owner->holder == HOLDER_FOREIGN && owner->tid > 0)
		stack = shared_stack_of_process(run, owner->tid, PROFILE_HELD_BY);
	if (stack != STACK_NONE)
		return stack;
	return stack_of_unknown_holder(run->profile, listed ? &thread : owner);
}

/* Attributes the waiting time of a thread at this tick to the holder of the lock. */
static void
blame_holder(struct waits *waits, const struct blamed *blamed)
{
	const struct wait_owner *owner = owner_of(waits, blamed);
	uint32_t carrier;
	struct sampled_thread *waiter = threads_find(&waits->run->threads, blamed->tid);
	struct sampled_thread *holder = owner_is_thread(owner) ?
						threads_find(&waits->run->threads, owner->tid) :
						NULL;
	struct profile_blame to = {
		.wait = blamed->wait,
		.state = RUN_UNKNOWN,
		.samples = blamed->samples,
		.ns = blamed->ns,
	};

	if (holder != NULL)
		holder->holder_tick = waits->run->tick.number;
	if (holder != NULL && holder->selected) {
		to.thread = thread_record_of_sample(waits->run, holder, &carrier);
		blame_set_stack(waits, holder, held_since_last_tick(waits, waiter, holder), &to);
	} else {
		to.thread = profile_no_thread(waits->run->profile);
		to.stack = stack_without_thread(waits, &blamed->what, owner, holder != NULL);
	}
	profile_add_blame(waits->run->profile, &to);
	if (waiter != NULL && waiter->wait.id == blamed->wait) {
		waiter->wait.holder = holder != NULL ? holder->watch.tid : 0;
		waiter->wait.blamed = to;
		waiter->wait.holder_read = true;
	}
}

void
waits_blame_holders(struct waits *waits)
{
	size_t kept = 0;

	waits_forget_owners(waits);
	for (size_t i = 0; i < waits->blamed_count; i++) {
		const struct blamed blamed = waits->blamed[i];

		if (i % BLAMES_UNSERVED == 0)
			late_serve(waits->run);
		if (kept < UNREAD_MOST && waits_owner(waits, &blamed.what)->holder == HOLDER_UNREAD)
			waits->blamed[kept++] = blamed;
		else
			blame_holder(waits, &blamed);
	}
	waits->blamed_count = kept;
}
