/* SPDX-License-Identifier: MIT */
/* priority.c - sets the nice value, time slice, scheduling class and timer slack of the sampler. */
#include "sampler/priority_internal.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "wallsample/base/base.h"

/* The nice value that priority_raise sets, if permitted. Runs that hold threads between ticks also
 * use a real-time class (priority_urgent). */
#define NICE (-15)

/*
 * The time slice that is set by sched_setattr(2), the shortest that the kernel allows. Since Linux
 * 6.12 a thread that wakes preempts a running thread with a longer slice. Without a short slice,
 * another thread that has just got the CPU keeps it for 3 ms, and a tick that is due in that time
 * is late. Older kernels accept the value and ignore it.
 */
#define SLICE_NS (100 * NS_PER_US)

/* The kernel's struct sched_attr, version 0, which glibc has since 2.41 only. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* Largest CPU time of a thread in a real-time class without a sleep, in us: RLIMIT_RTTIME. A tick
 * usually takes less than a millisecond before the class is left. */
#define URGENT_MOST_US 200000

#define POLICY_OTHER 0
#define POLICY_FIFO 1

/* True if the user has set neither a scheduling class nor scheduling flags for this process. What
 * the user has set is kept. */
static bool
is_usual(void)
{
	struct attributes own = { .size = sizeof(own) };

	return syscall(SYS_sched_getattr, 0, &own, sizeof(own), 0) == 0 &&
	       own.policy == POLICY_OTHER && own.flags == 0;
}

/* Sets the usual scheduling class (SCHED_OTHER) with this nice value and time slice; slice_ns 0:
 * the default slice. Returns false if the kernel refuses it. */
static bool
set_usual(int nice, uint64_t slice_ns)
{
	const struct attributes own = { .size = sizeof(own), .nice = nice, .runtime = slice_ns };

	return syscall(SYS_sched_setattr, 0, &own, 0) == 0;
}

/* Sets the timer slack so that sleeps end when they are due, not up to 50 us later. */
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

/* Only the sampler's thread starts processes, and never while it is in the class. So no process
 * inherits the class. */
static bool
set_urgent(void)
{
	const struct attributes first = { .size = sizeof(first),
					  .policy = POLICY_FIFO,
					  .priority = 1 };

	return syscall(SYS_sched_setattr, 0, &first, 0) == 0;
}

void
priority_join(const struct priority *priority, bool urgent)
{
	if (!(urgent && set_urgent()) && priority->short_slice)
		set_usual(priority->nice, SLICE_NS);
	set_punctual();
}

int
priority_check_urgent(struct error *err)
{
	const int nice = getpriority(PRIO_PROCESS, 0);

	if (!is_usual())
		return error_set(err, ERROR_SYSTEM,
				 "--realtime: wallsample was started with a scheduling class of "
				 "its own, as by chrt(1), and keeps it");
	if (!set_urgent())
		return error_set(
			err, ERROR_SYSTEM,
			"--realtime: the kernel refuses a real-time class: %s; it needs "
			"CAP_SYS_NICE or a limit RLIMIT_RTPRIO of 1 or more (ulimit -r), and "
			"a control group that has real-time CPU time",
			strerror(errno));
	set_usual(nice, 0);
	return 0;
}

void
priority_limit(struct priority *priority)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_RTTIME, &limit) != 0)
		limit = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
	priority->old_limit = limit;
	if (limit.rlim_cur > URGENT_MOST_US)
		limit.rlim_cur = URGENT_MOST_US;
	(void)setrlimit(RLIMIT_RTTIME, &limit);
}

void
priority_unlimit(const struct priority *priority)
{
	(void)setrlimit(RLIMIT_RTTIME, &priority->old_limit);
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
	if (!priority->may_be_urgent || priority->urgent == urgent)
		return;
	if (urgent) {
		priority->urgent = set_urgent();
		priority->may_be_urgent = priority->urgent;
		return;
	}
	if (!set_usual(priority->nice, priority->short_slice ? SLICE_NS : 0))
		return;
	priority->urgent = false;
	/* Leaving a real-time class resets the timer slack, since Linux 6.12. */
	set_punctual();
}
