/* SPDX-License-Identifier: MIT */
/*
 * sampler_control.h - virtual speed-ups: a controller (src/causal) decides after each tick which
 * threads are resumed at once, and for how long the others stay stopped.
 *
 * With a controller each tick stops all running threads and keeps them stopped until their stacks
 * are known and `decide` has returned. "Hold time" is the time for which threads stay stopped so
 * that others run: it is counted whether or not there was a thread to hold, so that ticks compare.
 * All times are in ns.
 */
#ifndef WALLSAMPLE_SAMPLER_SAMPLER_CONTROL_H
#define WALLSAMPLE_SAMPLER_SAMPLER_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A thread that ran and is stopped now. */
struct stopped_thread {
	pid_t tid;
	uint32_t stack; /* number of its stack in the profile */
	bool resume;    /* set by `decide`: resume it at once; otherwise it is held */
};

/* The target at a tick, when all running threads are stopped and unwound. */
struct tick_snapshot {
	struct stopped_thread *stopped;
	size_t count;
	size_t held;          /* further threads, held since an earlier tick */
	size_t missed;        /* threads that ran and did not stop in time */
	uint64_t standing_ns; /* time since this tick began to stop threads */
	/* How much longer the previous tick kept threads stopped after its own standing_ns:
	 * duration of `decide` plus the mean resume delay. */
	uint64_t stopped_ns;
	/* Part of the previous hold in which every resumed thread was itself blocked on a held
	 * thread: hold time without effect. 0 if not known. */
	uint64_t idle_ns;
};

struct sampler_control {
	/*
	 * Sets `resume` of each stopped thread. Returns the part of the time to the next tick,
	 * from 0 to 1, for which the others are held; 1 holds them until the next tick has decided.
	 * All running threads are stopped meanwhile: it must take microseconds.
	 */
	double (*decide)(void *context, const struct tick_snapshot *snapshot);
	/*
	 * Adds more_ns, which may be negative, to the accumulated hold time. Called (1) after
	 * `decide` with the time that deciding and resuming took, (2) when held threads are
	 * resumed, with the duration of the hold, (3) at the next tick before `decide`, with the
	 * correction for threads that resumed late. Called the same if no thread was held.
	 */
	void (*held)(void *context, int64_t more_ns);
	void *context;
	/* Code addresses whose executions are counted by breakpoints (tracer_count.h), at most
	 * TRACER_COUNT_MOST; borrowed. `counted` gets the totals before each `decide`. */
	const uint64_t *address;
	size_t addresses;
	void (*counted)(void *context, const uint64_t *total, size_t count);
	/* Intervals between ticks are uniform in mean * (1 - spread) .. mean * (1 + spread). */
	double spread;
};

#endif
