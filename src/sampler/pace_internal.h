/* SPDX-License-Identifier: MIT */
/* pace_internal.h - decides when ticks begin, and keeps the CPU time of sampling within
 * --max-overhead. */
#ifndef WALLSAMPLE_SAMPLER_PACE_INTERNAL_H
#define WALLSAMPLE_SAMPLER_PACE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/base.h"
#include "wallsample/sampler/sampler.h"

/* A time (CLOCK_MONOTONIC), and the CPU time that all threads of wallsample have used by then. */
struct pace_clock {
	uint64_t now_ns, cpu_ns;
};

/* Returns the present time and wallsample's CPU time. With `holds` only that of the calling thread:
 * the CPU time of occupiers does not count then for --max-overhead. */
static inline struct pace_clock
pace_read_clock(bool holds)
{
	return (struct pace_clock){ .now_ns = clock_now_ns(),
				    .cpu_ns = holds ? clock_thread_cpu_ns() : clock_own_cpu_ns() };
}

struct pace {
	/* `config`, `control` and `rng` are borrowed. */
	const struct sampler_config *config;
	/* its `spread` determines the intervals; NULL: config->jitter does */
	const struct sampler_control *control;
	struct rng *rng;
	/* present number of ticks per second, and the lowest of the run */
	double now_hz, lowest_hz;
	/* limit of --max-overhead as a number of CPUs; 1 or more: no limit */
	double max_share;
	/* allowed CPU time that was not used and may be used later; negative: overdrawn */
	double saved_s;
	/* limit of --max-stopped as a share of a thread's time; 1 or more: no limit */
	double max_stopped;
	/* Time in seconds for which a thread may be stopped now; negative: overdrawn. */
	double may_stop_s;
	/* number of ticks that --max-overhead and --max-stopped have delayed */
	uint64_t overhead_delays, stop_delays;
	/* the number and the sum (ns) of the stops up to the end of the last tick */
	uint64_t stop_count, stop_sum;
	/* running mean of the CPU time of a tick in seconds, the first tick excepted */
	double tick_s;
	/* CPU time used between the last tick and the present one; the part of such work that ticks
	 * have not paid for; and its running mean per second */
	uint64_t between_ns;
	double unpaid_s, between_share;
	/* number of ticks that are missing to reach now_hz; negative: there were too many. The rate
	 * at times lowered by the limit counts as reached. */
	double behind;
	/* when pace_start was called: the profile accounts for the time from then on */
	uint64_t start_ns;
	uint64_t began_ns; /* when the present tick began; start_ns before the first */
	uint64_t due_ns;   /* when the next tick is due */
	/* The end of the last tick (before the first tick: pace_start): its time, wallsample's CPU
	 * time and the run's number of stops */
	uint64_t ended_ns, tick_cpu_ns, stops;
	/* A running thread is observed at one in `thin` ticks on average; `thinnest` is the largest
	 * value of `thin` in the run. */
	uint32_t thin, thinnest;
	/*
	 * The present window, a period of 250 ms at whose end now_hz and thin are adapted to the
	 * cost of sampling: when it began (0: no window has begun), the run's numbers of ticks and
	 * observations at that moment, and the CPU time in seconds of its ticks, and between them.
	 */
	uint64_t window_ns, window_ticks, window_reads;
	double window_used_s, window_between_s;
};

/* Initialises *pace. The time for which ticks account begins at clock->now_ns. `config`, `control`
 * and `rng` are borrowed; `control` may be NULL. */
void pace_start(struct pace *pace, const struct sampler_config *config,
		const struct sampler_control *control, struct rng *rng,
		const struct pace_clock *clock);

/*
 * Begins a tick at the time `clock`: sets due_ns to the moment at which the next tick is due. The
 * interval is chosen before any thread is observed, so that it depends neither on what threads do
 * nor on how long the tick waits for stops.
 */
void pace_begin(struct pace *pace, const struct pace_clock *clock);
/* Returns the time for which this tick accounts: about the mean interval, at most open_ns, which is
 * the time for which no tick has accounted yet. With `last` it is all of open_ns. */
uint64_t pace_weigh(const struct pace *pace, uint64_t open_ns, bool last);
/*
 * Ends a tick at the time `clock`. The next tick will not begin before that time plus the CPU time
 * that wallsample used in the tick; after the first tick, which copies every stack, that CPU time
 * is not added. If the limit of --max-overhead or --max-stopped requires it, the next
 * tick is delayed further, by at most one second; at the end of a window, now_hz and thin are
 * adapted. `stats` has the numbers of ticks, observations and stops of the run up to now.
 */
void pace_end(struct pace *pace, const struct run_stats *stats, const struct pace_clock *clock);
/* False if the limit of --max-stopped does not allow stopping threads at this moment. */
bool pace_may_stop(const struct pace *pace, uint64_t now);
/* Returns the longest mean number of ticks between observations of a sleeping thread: a power of
 * two, at most 256, that grows with the number of threads. */
uint32_t pace_longest_period(const struct pace *pace, size_t threads);

#endif
