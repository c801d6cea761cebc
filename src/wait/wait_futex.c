/* SPDX-License-Identifier: MIT */
/*
 * wait_futex.c - classifies a sleep on a futex by the arguments of the call and the memory around
 * its word. Arguments: linux/futex.h, futex(2).
 */
#include <linux/futex.h>
#include <sys/syscall.h>

#include "wait/wait_internal.h"

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13 /* Linux 5.14 */
#endif

#define FUTEX_WAIT_CALL 455 /* of all architectures, Linux 6.7 */

static int
command_of(const struct wait_call *call)
{
	return (int)((uint32_t)call->args[1] & (uint32_t)FUTEX_CMD_MASK);
}

uint64_t
wait_futex_word(const struct wait_call *call)
{
	if (call->number == FUTEX_WAIT_CALL)
		return call->args[0];
	if (call->number != SYS_futex)
		return 0;
	switch (command_of(call)) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return call->args[0];
	default:
		return 0;
	}
}

/* The clock of the fourth argument; that of FUTEX_WAIT is relative. */
static clockid_t
clock_of(const struct futex_wait *wait)
{
	if (wait->command == FUTEX_WAIT)
		return CLOCK_OF_LENGTH;
	if (wait->command == FUTEX_LOCK_PI || wait->realtime)
		return CLOCK_REALTIME;
	return CLOCK_MONOTONIC;
}

/*
 * While a lock changes hands its fields may be inconsistent: no owner for a moment, and waiters not
 * woken yet. A lock that is not recognised is therefore read again.
 */
#define READS_MOST 2

static void
tell_lock(struct futex_wait *wait, struct wait *out)
{
	for (int i = 0; i < READS_MOST; i++) {
		if (!futex_wait_read(wait))
			return;
		if (wait_of_glibc(wait, out) || wait_of_musl(wait, out))
			return;
		if (wait->command != FUTEX_WAIT || wait->value != 2)
			break;
	}
	/* lll_lock of glibc: 0 free, 1 locked, 2 locked with waiters. */
	if (wait->command == FUTEX_WAIT && wait->value == 2 && !wait->timed && !wait->shared &&
	    around_has(wait, 0, 4) && around_u32(wait, 0) <= 2)
		out->kind = WAIT_LOCK;
}

/*
 * A language runtime's lock consists of a mutex and condition variables, and would otherwise be
 * classified as one of these. A wait for it has a time-out (some 5 ms), and is repeated until the
 * thread owns the lock.
 */
static bool
wait_of_runtime(const struct wait_source *source, const struct futex_wait *wait, struct wait *out)
{
	if (source->runtime_lock == NULL ||
	    !source->runtime_lock(source->context, wait->word, &out->object))
		return false;
	out->kind = WAIT_GIL;
	out->layout = LAYOUT_RUNTIME;
	return true;
}

void
wait_of_futex(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	struct futex_wait wait = {
		.source = source,
		.word = wait_futex_word(call),
		.value = (uint32_t)call->args[2],
		.command = command_of(call),
		.shared = (call->args[1] & FUTEX_PRIVATE_FLAG) == 0,
		.realtime = (call->args[1] & FUTEX_CLOCK_REALTIME) != 0,
		.timed = call->args[3] != 0,
		.sp = call->sp,
	};

	if (wait.word == 0) /* not an operation that is known to sleep */
		return;
	out->object = wait.word;
	if (wait_of_runtime(source, &wait, out))
		return;
	wait_until_timespec(source, call->args[3], clock_of(&wait), out);
	switch (wait.command) {
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		if (futex_wait_read(&wait))
			wait_of_pi(&wait, out);
		break;
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		tell_lock(&wait, out);
		break;
	default:
		break;
	}
}
