/* SPDX-License-Identifier: MIT */
/* priority.h - while we sample we run before others, so that ticks come when they are due and a
 * thread that has stopped does not wait for us. */
#ifndef WALLSAMPLE_SAMPLER_PRIORITY_H
#define WALLSAMPLE_SAMPLER_PRIORITY_H

#include <stdbool.h>

struct priority {
	int nice;     /* ours now */
	int old_nice;
	bool short_slice;  /* a slice that somebody had set for us is the usual one afterwards */
	int old_slack_ns;
};

/* As far as that is permitted, and known to the kernel. */
void priority_raise(struct priority *priority);
void priority_restore(const struct priority *priority);

#endif
