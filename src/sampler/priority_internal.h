/* SPDX-License-Identifier: MIT */
/*
 * priority_internal.h - the scheduling priority of the sampler: it is raised during a run, so that
 * ticks happen when they are due and a stopped thread does not wait for the sampler.
 */
#ifndef WALLSAMPLE_SAMPLER_PRIORITY_INTERNAL_H
#define WALLSAMPLE_SAMPLER_PRIORITY_INTERNAL_H

#include <stdbool.h>

struct priority {
	int nice; /* of the sampler now */
	int old_nice;
	bool short_slice;   /* a short time slice is set; priority_restore sets the default one */
	bool may_be_urgent; /* a real-time class was not tried yet, or was granted */
	bool urgent;        /* in a real-time class now */
	int old_slack_ns;
};

/* Raises the priority as far as the kernel permits and supports that. */
void priority_raise(struct priority *priority);
void priority_restore(const struct priority *priority);

/*
 * Enters or leaves a real-time class, where permitted. It is kept from the first tick that holds
 * threads until something takes long (hold_pause). The first of several resumed threads may preempt
 * the sampler, one time in forty; the next ones then wait 3 ms, as do threads whose hold ends
 * meanwhile, and a sampler that leaves the class before it sleeps is late for the next tick.
 */
void priority_urgent(struct priority *priority, bool urgent);

#endif
