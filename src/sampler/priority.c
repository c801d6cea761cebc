/* SPDX-License-Identifier: MIT */
/* priority.c - our own place among those who want a CPU. */
#include "sampler/priority_internal.h"

#include <errno.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "wallsample/base/base.h"

/* A real-time class is not ours to take unasked, but where threads are held. */
#define NICE (-15)

/*
 * sched_setattr(2), since Linux 6.12: a thread that asks for a shorter slice than who has the CPU
 * gets it when it wakes, where otherwise that one has 3 ms first, if it has just got it: the
 * ticks that come when something else has been woken would be that late. The least that there
 * is; older kernels take it and do nothing.
 */
#define SLICE_NS (100 * NS_PER_US)

/* The kernel's struct sched_attr, version 0: libc has it since 2.41 only. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

#define POLICY_OTHER 0
#define POLICY_FIFO 1

/* Of a class or with flags that somebody has chosen for us nothing is changed. */
static bool
is_usual(void)
{
	struct attributes own = { .size = sizeof(own) };

	return syscall(SYS_sched_getattr, 0, &own, sizeof(own), 0) == 0 &&
	       own.policy == POLICY_OTHER && own.flags == 0;
}

/* slice_ns 0: the usual one. */
static bool
set_usual(int nice, uint64_t slice_ns)
{
	const struct attributes own = { .size = sizeof(own), .nice = nice, .runtime = slice_ns };

	return syscall(SYS_sched_setattr, 0, &own, 0) == 0;
}

/* Timers fire when they are due, not up to 50 us later. */
static void
set_punctual(void)
{
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

void
priority_raise(struct priority *priority)
{
	errno = 0;
	priority->nice = priority->old_nice = getpriority(PRIO_PROCESS, 0);
	if (priority->old_nice > NICE && setpriority(PRIO_PROCESS, 0, NICE) == 0)
		priority->nice = NICE;
	priority->may_be_urgent = is_usual();
	priority->short_slice = priority->may_be_urgent && set_usual(priority->nice, SLICE_NS);
	priority->old_slack_ns = prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
	set_punctual();
}

void
priority_restore(const struct priority *priority)
{
	if (priority->old_slack_ns > 0)
		prctl(PR_SET_TIMERSLACK, (unsigned long)priority->old_slack_ns, 0UL, 0UL, 0UL);
	if (priority->short_slice)
		set_usual(priority->nice, 0);
	if (priority->nice != priority->old_nice)
		setpriority(PRIO_PROCESS, 0, priority->old_nice);
}

void
priority_urgent(struct priority *priority, bool urgent)
{
	const struct attributes first = { .size = sizeof(first), .policy = POLICY_FIFO,
					  .priority = 1 };

	if (!priority->may_be_urgent || priority->urgent == urgent)
		return;
	if (urgent) {
		priority->urgent = syscall(SYS_sched_setattr, 0, &first, 0) == 0;
		priority->may_be_urgent = priority->urgent;
		return;
	}
	if (!set_usual(priority->nice, priority->short_slice ? SLICE_NS : 0))
		return;
	priority->urgent = false;
	/* Who leaves a real-time class gets the usual slack, since Linux 6.12. */
	set_punctual();
}
