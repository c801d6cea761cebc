/* SPDX-License-Identifier: MIT */
/* pace_internal.h - sets the times of ticks, within the CPU time of --max-overhead. */
#ifndef WALLSAMPLE_SAMPLER_PACE_INTERNAL_H
#define WALLSAMPLE_SAMPLER_PACE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/base.h"
#include "wallsample/sampler/sampler.h"

struct pace {
	/* Borrowed. */
	const struct sampler_config *config;
	const struct sampler_control *control; /* NULL: `config` sets the intervals */
	struct rng *rng;
	double now_hz, lowest_hz; /* the present rate, and the lowest of the run */
	double max_share;         /* limit of CPU time, in CPUs; 1 or more: no limit */
	double saved_s;           /* CPU time saved earlier, which may be used beyond max_share */
	uint64_t start_ns;        /* when sampled time began */
	uint64_t began_ns;        /* when the present tick began; start_ns before the first */
	uint64_t due_ns;          /* when the next tick is due */
	uint64_t tick_cpu_ns;     /* CPU time of wallsample after the last tick */
	/* Running mean: time from the beginning of a tick to the earliest next tick */
	double busy_ns;
	uint32_t thin, thinnest; /* a running thread is observed once in `thin` ticks, on average;
				   * thinnest is the largest value of the run */
	/*
	 * The present window, at whose end the cost is compared with the limit: when it began, and
	 * what wallsample's CPU time and the run's numbers of ticks, observations and stops were
	 * then.
	 */
	uint64_t window_ns, window_cpu_ns, window_ticks, window_reads, window_stops;
};

/* Begins sampled time. All arguments but `pace` are borrowed; `control` may be NULL. */
void pace_start(struct pace *pace, const struct sampler_config *config,
		const struct sampler_control *control, struct rng *rng);

/*
 * Begins a tick: sets due_ns to the time of the next tick. That time is drawn before any thread is
 * observed, so that it depends neither on what threads do nor on waits for their stops.
 */
void pace_begin(struct pace *pace, uint64_t now);
/* Returns for which part of `open_ns`, the time that no tick has accounted for yet, this tick
 * accounts: about the mean interval, at most open_ns. With `last` it is all of open_ns. */
uint64_t pace_weigh(const struct pace *pace, uint64_t open_ns, bool last);
/* Ends a tick: delays the next one if it is due too early for --max-overhead. `stats` has the cost
 * of the run up to now. */
void pace_end(struct pace *pace, const struct run_stats *stats);
/* Returns the longest mean number of ticks between observations of a sleeping thread: a power of
 * two that grows with the number of threads. */
uint32_t pace_longest_period(const struct pace *pace, size_t threads);

#endif
