/* SPDX-License-Identifier: MIT */
/*
 * priority_internal.h - while we sample we run before others, so that ticks come when they are
 * due and a thread that has stopped does not wait for us.
 */
#ifndef WALLSAMPLE_SAMPLER_PRIORITY_INTERNAL_H
#define WALLSAMPLE_SAMPLER_PRIORITY_INTERNAL_H

#include <stdbool.h>

struct priority {
	int nice;     /* ours now */
	int old_nice;
	bool short_slice;   /* a slice that somebody had set for us is the usual one afterwards */
	bool may_be_urgent; /* as far as is known: not tried, or obtained */
	bool urgent;        /* it is now */
	int old_slack_ns;
};

/* As far as that is permitted, and known to the kernel. */
void priority_raise(struct priority *priority);
void priority_restore(const struct priority *priority);

/*
 * From the first tick on that may hold threads, until there is much to do: the first of several
 * that is let go may want the CPU that we have, and if it gets it, as it does one time in forty,
 * the next ones wait for 3 ms, as do those whose hold is over meanwhile; and who gives it back
 * before it sleeps is late for the next tick. A real-time class does not give its CPU away, where
 * it is permitted.
 */
void priority_urgent(struct priority *priority, bool urgent);

#endif
