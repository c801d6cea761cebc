/* SPDX-License-Identifier: MIT */
/* sampler_control.h - somebody else decides who goes on after a tick, and when: src/causal. */
#ifndef WALLSAMPLE_SAMPLER_SAMPLER_CONTROL_H
#define WALLSAMPLE_SAMPLER_SAMPLER_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A thread that ran at a tick and stands still now. */
struct sampler_caught {
	pid_t tid;
	uint32_t stack; /* of the profile */
	bool goes_on;   /* at once: `decide` says so */
};

/* What a tick has found: everybody that runs stands still. */
struct sampler_stand {
	struct sampler_caught *caught;
	size_t count;
	size_t held;          /* besides, since an earlier tick: they are where they were */
	size_t missed;        /* threads that ran and could not be stopped in time */
	uint64_t standing_ns; /* for so long has this tick had them standing still */
	uint64_t stopped_ns;  /* so long after its standing_ns did the last one let nobody go */
	uint64_t idle_ns;     /* since then others were held for so long while those that had gone
			       * on at once slept, for what a held one does; 0: or not known */
};

/*
 * Somebody who has threads held for longer than it takes to look at them: virtual speed-ups. At
 * each tick all that run are stopped and stand still until their stacks are walked.
 */
struct sampler_control {
	/*
	 * Says of each whether it goes on, and for which part of the time to the next tick, from
	 * 0 to 1, the others are held; at 1 until the tick after this has decided. To be quick
	 * about it.
	 */
	double (*decide)(void *context, const struct sampler_stand *stand);
	/*
	 * They stood still for so much longer than was told before, or would have, if there was
	 * nobody to hold: right after `decide`, what that took; when those that were held go on,
	 * for how long they were; at the next tick, before its `decide`, how much longer it was
	 * than that, or below zero: shorter.
	 */
	void (*held)(void *context, int64_t more_ns);
	void *context;
	/* Code whose runs are counted meanwhile by breakpoints (tracer_count.h), at most
	 * TRACER_COUNT_MOST; before `decide`, `counted` is told the totals. */
	const uint64_t *address;
	size_t addresses;
	void (*counted)(void *context, const uint64_t *total, size_t count);
	double spread;  /* ticks are this part of the mean around it, evenly */
};

#endif
