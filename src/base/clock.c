/* SPDX-License-Identifier: MIT */
/* clock.c - time, and the CPU time of wallsample itself, in nanoseconds; a limit of CPU time. */
#include <time.h>

#include "wallsample/base/base.h"

/* A struct cpu_budget grows by 1/BUDGET_SHARE of the time, up to the share of a second. */
#define BUDGET_SHARE 100
#define BUDGET_MOST_NS ((int64_t)(NS_PER_SEC / BUDGET_SHARE))

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
clock_thread_cpu_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t
clock_own_cpu_ns(void)
{
	return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

bool
cpu_budget_begin(struct cpu_budget *budget, uint64_t now_ns)
{
	const uint64_t since = budget->filled_ns;

	if (since == 0)
		budget->left_ns = BUDGET_MOST_NS;
	else if (now_ns > since)
		budget->left_ns += (int64_t)((now_ns - since) / BUDGET_SHARE);
	if (budget->left_ns > BUDGET_MOST_NS)
		budget->left_ns = BUDGET_MOST_NS;
	budget->filled_ns = now_ns;
	budget->began_ns = clock_own_cpu_ns();
	return budget->left_ns > 0;
}

void
cpu_budget_end(struct cpu_budget *budget)
{
	budget->left_ns -= (int64_t)(clock_own_cpu_ns() - budget->began_ns);
}
