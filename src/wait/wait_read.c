/* SPDX-License-Identifier: MIT */
/* wait_read.c - time-outs of system calls, and the bytes around the word of a futex. */
#include "wait/wait_internal.h"

/* A struct timespec or struct timeval in the target's memory: both have this layout on every
 * architecture with 64-bit time. */
struct target_time {
	int64_t seconds;
	int64_t fraction; /* nanoseconds in a timespec, microseconds in a timeval */
};

static bool
time_read(const struct wait_source *source, uint64_t address, int64_t unit_ns, uint64_t *ns)
{
	struct target_time time;
	uint64_t seconds_ns;

	if (!memory_read(&source->memory, address, &time, sizeof(time)) || time.seconds < 0 ||
	    time.fraction < 0 || time.fraction >= (int64_t)NS_PER_SEC / unit_ns ||
	    __builtin_mul_overflow((uint64_t)time.seconds, NS_PER_SEC, &seconds_ns))
		return false;
	return !__builtin_add_overflow(seconds_ns, (uint64_t)(time.fraction * unit_ns), ns);
}

/* Stores the time of a clock of the system. It is the same in the target, unless the target is in
 * another time namespace. Returns false for other clocks, such as CPU-time clocks. */
static bool
clock_read(clockid_t clock, uint64_t *ns)
{
	struct timespec now;

	if ((clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME &&
	     clock != CLOCK_TAI) ||
	    clock_gettime(clock, &now) != 0)
		return false;
	*ns = (uint64_t)now.tv_sec * NS_PER_SEC + (uint64_t)now.tv_nsec;
	return true;
}

/* Sets timed and left_ns from a struct target_time whose fraction counts units of unit_ns. */
static void
wait_until_time(const struct wait_source *source, uint64_t address, int64_t unit_ns,
		clockid_t clock, struct wait *out)
{
	uint64_t until_ns, now_ns = 0;

	if (address == 0)
		return;
	out->timed = true;
	if (time_read(source, address, unit_ns, &until_ns) &&
	    (clock == CLOCK_OF_LENGTH || clock_read(clock, &now_ns)))
		out->left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
}

void
wait_until_timespec(const struct wait_source *source, uint64_t address, clockid_t clock,
		    struct wait *out)
{
	wait_until_time(source, address, 1, clock, out);
}

void
wait_until_timeval(const struct wait_source *source, uint64_t address, struct wait *out)
{
	wait_until_time(source, address, (int64_t)NS_PER_US, CLOCK_OF_LENGTH, out);
}

void
wait_until_ms(uint64_t argument, struct wait *out)
{
	const int32_t ms = (int32_t)(uint32_t)argument;

	if (ms < 0)
		return;
	out->timed = true;
	out->left_ns = (uint64_t)ms * NS_PER_MS;
}

/* --- the bytes around the word of a futex -------------------------------------------- */

bool
around_has(const struct futex_wait *wait, int from, int to)
{
	const int64_t before = (int64_t)(wait->word - wait->start);

	return wait->size != 0 && before + from >= 0 && before + to <= (int64_t)wait->size;
}

uint32_t
around_u32(const struct futex_wait *wait, int offset)
{
	if (!around_has(wait, offset, offset + 4))
		return 0;
	return bytes_u32(wait->bytes + (int64_t)(wait->word - wait->start) + offset);
}

uint64_t
around_u64(const struct futex_wait *wait, int offset)
{
	if (!around_has(wait, offset, offset + 8))
		return 0;
	return bytes_u64(wait->bytes + (int64_t)(wait->word - wait->start) + offset);
}

bool
lock_found_shared(struct wait *out, enum wait_kind kind, uint64_t object, bool shared)
{
	out->shared = shared;
	return lock_found(out, kind, object);
}

bool
lock_found(struct wait *out, enum wait_kind kind, uint64_t object)
{
	out->kind = kind;
	out->object = object;
	return true;
}
