/* SPDX-License-Identifier: MIT */
/*
 * priority_internal.h - the scheduling priority of the sampler: it is raised during a run, so that
 * ticks happen when they are due and a stopped thread does not wait for the sampler.
 */
#ifndef WALLSAMPLE_SAMPLER_PRIORITY_INTERNAL_H
#define WALLSAMPLE_SAMPLER_PRIORITY_INTERNAL_H

#include <stdbool.h>
#include <sys/resource.h>

#include "wallsample/base/error.h"

struct priority {
	int nice;     /* present nice value of the sampler */
	int old_nice; /* nice value before priority_raise */
	/* a short time slice is set; priority_restore sets the default slice */
	bool short_slice;
	/* A real-time class may be entered: the user has set neither a scheduling class nor
	 * scheduling flags, and the kernel has not refused the real-time class. */
	bool may_be_urgent;
	bool urgent;             /* the sampler is in a real-time class now */
	int old_slack_ns;        /* timer slack before priority_raise */
	struct rlimit old_limit; /* RLIMIT_RTTIME before priority_limit */
};

/* Sets a low nice value, a short time slice and a short timer slack, each as far as the kernel
 * permits and supports it. Keeps the time slice if the user has set a scheduling class or flags. */
void priority_raise(struct priority *priority);
/* Sets the nice value and the timer slack to the values before priority_raise, and the time slice
 * to the default. The sampler must not be in a real-time class. */
void priority_restore(const struct priority *priority);
/* Gives the calling thread, which the sampler has created after priority_raise, the timer slack of
 * the sampler and, with `urgent`, a real-time class until it ends. Without `urgent`, or if the
 * kernel refuses the class, it gets the time slice of the sampler. The nice value is inherited. */
void priority_join(const struct priority *priority, bool urgent);
/* Enters a real-time class and leaves it. Returns 0, or ERROR_SYSTEM with the reason for which it
 * cannot be entered. To be called before priority_raise. */
int priority_check_urgent(struct error *err);
/*
 * Limits the CPU time that a thread in a real-time class uses without a sleep: a thread of
 * wallsample that used more would be a defect, and SIGXCPU ends wallsample, which resumes the
 * threads of the target. priority_unlimit restores the limit.
 */
void priority_limit(struct priority *priority);
void priority_unlimit(const struct priority *priority);

/*
 * Enters or leaves a real-time class, where permitted. With sampler_config.realtime the sampler is
 * in the class from before the sleep that ends with a tick until the tick has requested its stops,
 * or until work begins that may take long (occupy_relax).
 *
 * In runs that hold threads, the sampler enters the class at the first tick that holds threads, and
 * leaves it only for work that may take long (hold_pause). Outside the class, one time in forty the
 * first of several resumed threads preempts the sampler for 3 ms: threads that are to be resumed
 * next, or whose hold ends in that time, must wait for the sampler. The sampler does not leave the
 * class for its sleep between ticks, because it would then be late for the next tick.
 */
void priority_urgent(struct priority *priority, bool urgent);

#endif
