/* SPDX-License-Identifier: MIT */
/*
 * wait_musl.c - recognises musl's locks by the structure around the word of the futex.
 *
 * Layouts: src/internal/pthread_impl.h and stdio_impl.h of musl 1.2.3, and the values of the futex
 * word that the functions expect. All locks use FUTEX_WAIT, with a relative time-out.
 */
#include <linux/futex.h>

#include "wait/wait_internal.h"

/* Returns true for a pointer of the list of mutexes that a thread owns. */
static bool
is_list_pointer(uint64_t pointer)
{
	return pointer != 0 && pointer % 8 == 0;
}

/* Members of pthread_mutex_t: type, lock, waiters, two list pointers (in mutexes that record their
 * owner), count. */
static bool
is_mutex(const struct futex_wait *wait, struct wait *out)
{
	static const enum wait_kind types[] = { WAIT_MUTEX, WAIT_MUTEX_RECURSIVE,
						WAIT_MUTEX_ERRORCHECK };
	const uint32_t busy = 16; /* EBUSY: locked; this type of mutex does not record its owner */
	const uint32_t type = around_u32(wait, -MUSL_MUTEX_LOCK);
	const uint32_t tid = wait->value & FUTEX_TID_MASK;
	const uint64_t object = wait->word - MUSL_MUTEX_LOCK;

	if (wait->word % 8 != 4 || !around_has(wait, -MUSL_MUTEX_LOCK, 36) ||
	    (wait->value & FUTEX_WAITERS) == 0 || !is_count(around_u32(wait, 4)) ||
	    (type & ~(MUSL_TYPE_ROBUST | MUSL_TYPE_SHARED | 3u)) != 0 || (type & 3) == 3 ||
	    ((type & MUSL_TYPE_SHARED) != 0) != wait->shared)
		return false;
	if ((type & (MUSL_TYPE_ROBUST | 3u)) == 0)
		return tid == busy && around_u32(wait, 16) == 0 && around_u64(wait, 20) == 0 &&
		       around_u64(wait, 28) == 0 && lock_found(out, WAIT_MUTEX, object);
	/* The tid in the word is 0 only in a mutex whose owner has exited. A locked mutex is in a
	 * list of its owner: both pointers are set, and they are aligned. */
	if (tid >= TID_LIMIT || (tid == 0) != ((wait->value & FUTEX_OWNER_DIED) != 0) ||
	    (!wait->shared && !word_has_owner(wait)) || !is_list_pointer(around_u64(wait, 20)) ||
	    !is_list_pointer(around_u64(wait, 28)))
		return false;
	return lock_found(out, type & MUSL_TYPE_ROBUST ? WAIT_MUTEX_ROBUST : types[type & 3],
			  object);
}

/* Members of pthread_rwlock_t: lock, waiters, shared. */
static bool
is_rwlock(const struct futex_wait *wait, struct wait *out)
{
	const uint32_t holds = wait->value & MUSL_WRITER;

	if (wait->word % 8 != 0 || !around_has(wait, 0, 12) || (wait->value & FUTEX_WAITERS) == 0 ||
	    !is_count(around_u32(wait, 4)) ||
	    around_u32(wait, 8) != (wait->shared ? MUSL_TYPE_SHARED : 0))
		return false;
	/* Readers and writers that wait for the end of a write expect the same value in the word:
	 * only the name of the calling function distinguishes them. */
	if (holds == MUSL_WRITER)
		return lock_found(out, WAIT_FUTEX, wait->word);
	return is_count(holds) && lock_found(out, WAIT_RWLOCK_WRITE, wait->word);
}

/* Members of sem_t: value, waiters, and FUTEX_PRIVATE_FLAG or 0. */
static bool
is_semaphore(const struct futex_wait *wait, struct wait *out)
{
	/* The value of a semaphore with waiters is -1; since musl 1.2.4 it is 0 with the highest
	 * bit set. */
	return (wait->value == UINT32_MAX || wait->value == FUTEX_WAITERS) &&
	       around_has(wait, 0, 12) && is_count(around_u32(wait, 4)) &&
	       around_u32(wait, 8) == (wait->shared ? 0 : FUTEX_PRIVATE_FLAG) &&
	       lock_found(out, WAIT_SEMAPHORE, wait->word);
}

/* The lock of a FILE holds the owner's tid, and a bit that is set while threads wait. The member
 * before it is `mode`, the one behind it `lbf`. */
static bool
is_stdio(const struct futex_wait *wait, struct wait *out)
{
	const uint32_t waited_for = 0x40000000;
	const uint32_t tid = wait->value & ~waited_for;
	const uint32_t mode = around_u32(wait, -4), newline = around_u32(wait, 4);

	return wait->word % 8 == 4 && (wait->value & waited_for) != 0 && tid < TID_LIMIT &&
	       !wait->timed && !wait->shared && around_has(wait, -4, 8) &&
	       (mode == 0 || mode == 1 || mode == UINT32_MAX) &&
	       (newline == '\n' || newline == UINT32_MAX) &&
	       wait->source->thread(wait->source->context, (pid_t)tid) != 0 &&
	       lock_found(out, WAIT_STDIO, wait->word);
}

/*
 * pthread_join sleeps on detach_state of struct pthread, which begins with its own address. The tid
 * is 8 bytes before detach_state. The structure begins 56 bytes before detach_state on x86-64 (with
 * dtv and canary), and 40 on aarch64. The variable __dso_handle of a module contains its own
 * address, too, and a lock in the module's data may be at the same distance behind it. But then the
 * value 8 bytes before the lock is not a thread id.
 */
static bool
is_join(const struct futex_wait *wait, struct wait *out)
{
	static const int begins[] = { -56, -40 };

	/* values of detach_state: 1 exiting, 2 joinable */
	if (wait->shared || (wait->value != 1 && wait->value != 2))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (around_has(wait, begins[i], 4) && around_u32(wait, -8) < TID_LIMIT &&
		    around_u64(wait, begins[i]) == wait->word + (uint64_t)(int64_t)begins[i] &&
		    wait->source->thread(wait->source->context, (pid_t)around_u32(wait, -8)) != 0)
			return lock_found(out, WAIT_JOIN, wait->word - 8);
	return false;
}

/*
 * A wait for a condition variable sleeps on `barrier` of a struct waiter {prev, next, state,
 * barrier, notify} on the stack of the waiting thread. Memory near it does not identify the
 * condition variable.
 */
/* most bytes from the stack pointer to a futex word in the frame of pthread_cond_timedwait */
#define NODE_NEAR 512

static bool
is_condition(const struct futex_wait *wait, struct wait *out)
{
	return wait->value == 2 && !wait->shared && wait->word % 8 == 4 && wait->sp != 0 &&
	       wait->word > wait->sp && wait->word - wait->sp < NODE_NEAR &&
	       around_has(wait, -20, 12) && around_u32(wait, 0) == 2 && around_u32(wait, -4) == 0 &&
	       around_u64(wait, 4) == 0 && around_u64(wait, -20) % 8 == 0 &&
	       around_u64(wait, -12) % 8 == 0 && lock_found(out, WAIT_CONDITION, 0);
}

/* Members of a process-shared pthread_cond_t: -1 in place of a list, a sequence number, the number
 * of waiters. */
static bool
is_shared_condition(const struct futex_wait *wait, struct wait *out)
{
	return wait->shared && wait->word % 8 == 0 && around_has(wait, -8, 8) &&
	       around_u64(wait, -8) == UINT64_MAX && is_count(around_u32(wait, 4)) &&
	       lock_found(out, WAIT_CONDITION, wait->word - 8);
}

bool
wait_of_musl(const struct futex_wait *wait, struct wait *out)
{
	if (wait->command != FUTEX_WAIT)
		return false;
	return is_mutex(wait, out) || is_semaphore(wait, out) || is_rwlock(wait, out) ||
	       is_stdio(wait, out) || is_join(wait, out) || is_condition(wait, out) ||
	       is_shared_condition(wait, out);
}
