/* SPDX-License-Identifier: MIT */
/* pace_internal.h - sets the times of ticks, within the CPU time of --max-overhead. */
#ifndef WALLSAMPLE_SAMPLER_PACE_INTERNAL_H
#define WALLSAMPLE_SAMPLER_PACE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/base.h"

/* How ticks are timed; set once. */
struct pace_config {
	double rate_hz;  /* wanted */
	bool jitter;     /* exponential intervals, otherwise equal ones */
	bool spread_set; /* intervals are uniform in mean * (1 +- spread) */
	double spread;
	double max_overhead; /* share of one CPU in percent; 100 or more: no limit */
};

/* The cost of a run up to now. */
struct pace_cost {
	uint32_t ticks;
	uint64_t looks; /* reads of threads and green tasks */
	uint64_t stops;
};

struct pace {
	struct pace_config config;
	struct rng *rng; /* borrowed */
	double now_hz, lowest_hz;
	double max_share;     /* of one CPU; >= 1: no limit */
	double saved_s;       /* CPU time saved earlier, which may be used beyond max_share */
	uint64_t start_ns;    /* when sampled time began */
	uint64_t began_ns;    /* the present tick; before the first: start_ns */
	uint64_t due_ns;      /* the next tick */
	uint64_t tick_cpu_ns; /* own CPU time after the last tick */
	double busy_ns;       /* mean time from the beginning of a tick to the earliest next */
	/* A thread is observed once in `thin` ticks, on average; the largest so far. */
	uint32_t thin, thinnest;
	/* Beginning of the present window. At its end, cost is compared with the limit. */
	uint64_t window_ns, window_cpu_ns;
	struct pace_cost window;
};

/* Begins sampled time. `rng` is borrowed. */
void pace_start(struct pace *pace, const struct pace_config *config, struct rng *rng);

/*
 * Begins a tick: sets due_ns to the time of the next. That is drawn before any thread is observed,
 * so that it depends neither on what threads do nor on waits for their stops.
 */
void pace_begin(struct pace *pace, uint64_t now);
/*
 * Returns the part of `owed_ns`, the time that no tick has accounted for yet, that this tick
 * accounts for: about the mean interval, at most owed_ns; `last`: all of it.
 */
uint64_t pace_weigh(const struct pace *pace, uint64_t owed_ns, bool last);
/* Ends a tick: delays the next if it is due too early for --max-overhead. */
void pace_end(struct pace *pace, const struct pace_cost *cost);
/* Returns the longest mean number of ticks between observations of a sleeping thread, a power of
 * two that grows with `threads`. */
uint32_t pace_longest_period(const struct pace *pace, size_t threads);

#endif
