/* SPDX-License-Identifier: MIT */
/* wait_time.c - the time until a call times out, from its time-out argument. */

#include "wait/wait_internal.h"

/* struct timespec and struct timeval of every architecture with 64-bit time. */
struct target_time {
	int64_t seconds;
	int64_t fraction; /* ns, or us */
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

/* Clocks with the same value in wallsample and in the target. */
static bool
clock_read(clockid_t clock, uint64_t *ns)
{
	struct timespec now;

	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME &&
	    clock != CLOCK_TAI)
		return false;
	if (clock_gettime(clock, &now) != 0)
		return false;
	*ns = (uint64_t)now.tv_sec * NS_PER_SEC + (uint64_t)now.tv_nsec;
	return true;
}

void
wait_until_timespec(const struct wait_source *source, uint64_t address, clockid_t clock,
		    struct wait *out)
{
	uint64_t until_ns, now_ns = 0;

	if (address == 0)
		return;
	out->timed = true;
	if (!time_read(source, address, 1, &until_ns))
		return;
	if (clock != CLOCK_OF_LENGTH && !clock_read(clock, &now_ns))
		return;
	out->left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
}

void
wait_until_timeval(const struct wait_source *source, uint64_t address, struct wait *out)
{
	uint64_t length_ns;

	if (address == 0)
		return;
	out->timed = true;
	if (time_read(source, address, (int64_t)NS_PER_US, &length_ns))
		out->left_ns = length_ns;
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
