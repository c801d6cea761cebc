/* SPDX-License-Identifier: MIT */
/*
 * priority_internal.h - the scheduling priority of the sampler: it is raised during a run, so that
 * ticks happen when they are due and a stopped thread does not wait for the sampler.
 */
#ifndef WALLSAMPLE_SAMPLER_PRIORITY_INTERNAL_H
#define WALLSAMPLE_SAMPLER_PRIORITY_INTERNAL_H

#include <stdbool.h>

struct priority {
	int nice;           /* present nice value of the sampler */
	int old_nice;       /* nice value before priority_raise */
	bool short_slice;   /* a short time slice is set; priority_restore sets the default one */
	bool may_be_urgent; /* a real-time class was not tried yet, or was granted */
	bool urgent;        /* in a real-time class now */
	int old_slack_ns;   /* timer slack before priority_raise */
};

/* Raises the priority as far as the kernel permits and supports that. */
void priority_raise(struct priority *priority);
/* Sets priority, time slice and timer slack to what they were before priority_raise. */
void priority_restore(const struct priority *priority);

/*
 * Enters or leaves a real-time class, where permitted. The sampler enters the class at the first
 * tick that holds threads, and leaves it only for work that may take long (hold_pause). Outside the
 * class, the first of several resumed threads preempts the sampler one time in forty; the threads
 * that are to be resumed next, and those whose hold ends meanwhile, then wait for 3 ms. A sampler
 * that left the class before it sleeps would be late for the next tick.
 */
void priority_urgent(struct priority *priority, bool urgent);

#endif
