/* SPDX-License-Identifier: MIT */
/*
 * wait_futex.c - classifies a sleep on a futex by the arguments of the call and the memory around
 * the futex word. Arguments: linux/futex.h, futex(2).
 */
#include <linux/futex.h>
#include <sys/syscall.h>

#include "wait/wait_internal.h"

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13 /* Linux 5.14 */
#endif

#define FUTEX_WAIT_CALL 455 /* futex_wait(2) on all architectures, Linux 6.7 */

/* --- the memory around the word ----------------------------------------------------------- */

/* The smallest page size. The page that contains the futex word can be read as a whole. */
#define PIECE UINT64_C(4096)

/* Reads [start, end) into wait->bytes. Returns false, with wait->size 0, if any of it is not
 * readable. */
static bool
read_range(struct futex_wait *wait, uint64_t start, uint64_t end)
{
	const struct memory *memory = &wait->source->memory;

	wait->start = start;
	wait->size = (size_t)(end - start);
	if (memory_read(memory, start, wait->bytes, wait->size))
		return true;
	wait->size = 0;
	return false;
}

/* Reads the memory around the word; if that is not readable, only its part in the page of the word.
 * Returns false when neither can be read. */
static bool
futex_wait_read(struct futex_wait *wait)
{
	const uint64_t word = wait->word, piece = word & ~(PIECE - 1);
	uint64_t start, end;

	wait->size = 0;
	/* The kernel accepts only an aligned word. The range to read must not wrap around. */
	if (word % 4 != 0 || word < PIECE || word > UINT64_MAX - 2 * PIECE)
		return false;
	start = word - AROUND_BEFORE;
	end = word + AROUND_AFTER;
	if (read_range(wait, start, end))
		return true;
	start = start < piece ? piece : start;
	end = end > piece + PIECE ? piece + PIECE : end;
	return (end - start < AROUND_BEFORE + AROUND_AFTER) && read_range(wait, start, end);
}

/* --- the call ------------------------------------------------------------------------------ */

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

/* Returns the clock of the time-out, which is the fourth argument of the call: CLOCK_OF_LENGTH for
 * FUTEX_WAIT, whose time-out is relative. */
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
 * Most times that a lock is read until it is recognised. While a lock passes to another thread its
 * fields may be inconsistent: it may have no owner for a moment, or waiters that are not woken yet.
 */
#define READS_MOST 2

static void
recognise_lock(struct futex_wait *wait, struct wait *out)
{
	for (int i = 0; i < READS_MOST; i++) {
		if (!futex_wait_read(wait))
			return;
		if (wait_of_glibc(wait, out))
			out->layout = LAYOUT_GLIBC;
		else if (wait_of_musl(wait, out))
			out->layout = LAYOUT_MUSL;
		if (out->layout != LAYOUT_NONE)
			return;
		if (wait->command != FUTEX_WAIT || wait->value != 2)
			break;
	}
	/* The word of an internal lock of glibc (lll_lock) is 0 when free, 1 locked, 2 locked with
	 * waiters. */
	if (wait->command == FUTEX_WAIT && wait->value == 2 && !wait->timed && !wait->shared &&
	    around_has(wait, 0, 4) && around_u32(wait, 0) <= 2)
		out->kind = WAIT_LOCK;
}

/*
 * Returns true, and sets kind, object and layout, when the futex word is part of a lock of a
 * language runtime. This is tried first, because such a lock consists of a mutex and condition
 * variables, and would be classified as one of these. The time-out of the call (some 5 ms) is not
 * stored, because the thread repeats the call until it owns the lock.
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

/* As wait_of_runtime, for a thread in a queue of a language runtime, where it sleeps on a semaphore
 * of its own: the object is the lock for which it waits. */
static bool
wait_of_parked(const struct wait_source *source, const struct futex_wait *wait, struct wait *out)
{
	uint64_t lock;

	if (source->runtime_parked == NULL ||
	    !source->runtime_parked(source->context, wait->word, &lock, &out->owner))
		return false;
	out->layout = LAYOUT_PARKED;
	out->shared = false;
	return lock_found(out, out->owner != 0 ? WAIT_MUTEX_RECURSIVE : WAIT_MUTEX, lock);
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

	if (wait.word == 0) /* the futex operation is unknown or does not sleep */
		return;
	out->object = wait.word;
	if (wait_of_runtime(source, &wait, out))
		return;
	out->shared = wait.shared;
	wait_until_timespec(source, call->args[3], clock_of(&wait), out);
	switch (wait.command) {
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		if (futex_wait_read(&wait))
			wait_of_pi(&wait, out);
		break;
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		if (!wait_of_parked(source, &wait, out))
			recognise_lock(&wait, out);
		break;
	default:
		break;
	}
}
