/* SPDX-License-Identifier: MIT */
/* clock.c - time, and the CPU time of wallsample itself, in nanoseconds. */
#include <time.h>

#include "wallsample/base/base.h"

static uint64_t
read_ns(clockid_t id)
{
	struct timespec now = { 0, 0 };

	/* clock_gettime fails only for clocks that the kernel does not have. */
	(void)clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * NS_PER_SEC + (uint64_t)now.tv_nsec;
}

uint64_t
clock_now_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

uint64_t
clock_date_ns(void)
{
	return read_ns(CLOCK_REALTIME);
}

uint64_t
clock_own_cpu_ns(void)
{
	return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}
