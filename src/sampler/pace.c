/* SPDX-License-Identifier: MIT */
/* pace.c - decides when the next tick is due, and how often a sleeping thread is observed. */
#include "sampler/pace_internal.h"

#include <math.h>

/* Length of a window. At its end the cost of sampling is compared with the limit of
 * --max-overhead. */
#define WINDOW_NS (250 * NS_PER_MS)

/* Share of the limit of --max-overhead that sampling is to cost after the rate was lowered. */
#define AIM 0.9

/* CPU time that --max-overhead allows and that was not used is saved for later, up to the amount
 * that it allows in this number of seconds. The run starts with that amount. */
#define SAVINGS_S 2.0

/* CPU time in seconds that a stop takes from the target, including the switches from the stopped
 * thread to the sampler and back. */
#define STOP_COST_S 10e-6

/* If a tick has at most THIN_READS observations, running threads are not observed less often
 * (pace.thin is not raised): that would save little. THINNEST is the largest value of pace.thin. */
#define THIN_READS 16.0
#define THINNEST 64

/* If the cost is below this share of the limit, running threads that are not observed at each tick
 * are observed twice as often. That at most doubles the cost. */
#define THICKEN 0.4

/* The cost never lowers the rate below this number of ticks per second, even if it exceeds the
 * limit: with fewer ticks a profile is meaningless. The user may choose a lower rate. */
#define LOWEST_HZ 1.0

/* Number of observations per second above which sleeping threads are observed less often. An
 * observation costs 1 to 1.5 us, so that this number takes less than 1 % of a CPU. */
#define READS_PER_SECOND 5000.0

/* Largest number of ticks between two observations of a sleeping thread, on average. */
#define LONGEST_PERIOD 256

/* Number of ticks over which busy_ns is the running mean. */
#define BUSY_MEMORY 16.0

/*
 * Each tick leaves some time to later ticks to account for (pace_weigh): the time of SPARE_TICKS
 * mean intervals, but at most the share SPARE_PART of the time since pace_start. Then the weight of
 * a tick hardly varies, though the intervals do. If more or less time is left, each tick corrects
 * SPARE_MENDED of the difference.
 */
#define SPARE_TICKS 3.0
#define SPARE_PART (1.0 / 32.0)
#define SPARE_MENDED (1.0 / 8.0)

/*
 * Returns the interval to the next tick. With a control it is uniformly distributed
 * (sampler_control.spread); else without jitter it is always the mean; else it is exponentially
 * distributed, so that any moment is as likely as any other to have a tick. A tick that would begin
 * within the duration d of the previous tick is delayed to the end of d, so that a mean interval m
 * would become d + m exp(-d/m). To compensate, the exponential interval is drawn with a smaller
 * mean; the mean of all intervals is then m, within 1 % as long as d is at most m.
 */
static uint64_t
draw_interval(const struct pace *pace)
{
	const double mean = (double)NS_PER_SEC / pace->now_hz;
	const double busy = pace->busy_ns < mean ? pace->busy_ns / mean : 1.0;

	if (pace->control != NULL)
		return (uint64_t)(mean * (1.0 + pace->control->spread *
							(2.0 * rng_uniform(pace->rng) - 1.0)));
	if (!pace->config->jitter)
		return (uint64_t)mean;
	return (uint64_t)rng_exponential(pace->rng, mean * (1.0 - busy * busy / 2.0));
}

void
pace_start(struct pace *pace, const struct sampler_config *config,
	   const struct sampler_control *control, struct rng *rng)
{
	*pace = (struct pace){
		.config = config,
		.control = control,
		.rng = rng,
		.now_hz = config->rate_hz,
		.lowest_hz = config->rate_hz,
		.max_share = config->max_overhead / 100.0,
		.thin = 1,
		.thinnest = 1,
		/* The first window begins after the first tick, which copies every stack. */
		.window_ns = 0,
	};
	pace->start_ns = pace->began_ns = clock_now_ns();
	pace->due_ns = pace->began_ns + draw_interval(pace);
	pace->tick_cpu_ns = clock_own_cpu_ns();
}

/* Sets now_hz and thin from the cost of the last window. `share`: number of CPUs that sampling
 * used; `per_tick`: its CPU seconds per tick; `reads`: observations per tick. */
static void
adjust(struct pace *pace, double share, double per_tick, double reads)
{
	bool poor = pace->saved_s < 0;

	if (poor && share > pace->max_share && reads > THIN_READS && pace->thin < THINNEST) {
		for (; share > pace->max_share && pace->thin < THINNEST; share /= 2.0)
			pace->thin *= 2;
		pace->saved_s = 0;
	} else if (!poor && pace->thin > 1 && share < THICKEN * pace->max_share) {
		pace->thin /= 2;
	} else {
		pace->now_hz = pace->config->rate_hz;
		if (poor && per_tick * pace->config->rate_hz > pace->max_share)
			pace->now_hz = fmin(pace->now_hz,
					    fmax(AIM * pace->max_share / per_tick, LOWEST_HZ));
	}
	if (pace->now_hz < pace->lowest_hz)
		pace->lowest_hz = pace->now_hz;
	if (pace->thin > pace->thinnest)
		pace->thinnest = pace->thin;
}

/*
 * At the end of a window, keeps the cost of sampling within --max-overhead. Allowed CPU time that
 * was not used is saved, so that neither the beginning of the run, when every stack and table is
 * new, nor a burst lowers the rate. If the cost stays high and many threads run, each of them is
 * observed at fewer ticks; with few threads there are fewer ticks.
 */
static void
limit_cost(struct pace *pace, uint64_t now, const struct run_stats *stats)
{
	const uint64_t reads = stats->looks + stats->green_looks;
	const double ticks = (double)(stats->ticks - pace->window_ticks);
	uint64_t cpu;

	if (pace->max_share >= 1.0 || (pace->window_ns != 0 && now - pace->window_ns < WINDOW_NS))
		return;
	cpu = clock_own_cpu_ns();
	if (pace->window_ns == 0) {
		pace->saved_s = SAVINGS_S * pace->max_share;
	} else if (ticks > 0) {
		const double elapsed = (double)(now - pace->window_ns) / (double)NS_PER_SEC;
		const double used = (double)(cpu - pace->window_cpu_ns) / (double)NS_PER_SEC +
				    (double)(stats->stopped - pace->window_stops) * STOP_COST_S;

		pace->saved_s += pace->max_share * elapsed - used;
		if (pace->saved_s > SAVINGS_S * pace->max_share)
			pace->saved_s = SAVINGS_S * pace->max_share;
		adjust(pace, used / elapsed, used / ticks,
		       (double)(reads - pace->window_reads) / ticks);
	}
	pace->window_ns = now;
	pace->window_cpu_ns = cpu;
	pace->window_ticks = stats->ticks;
	pace->window_reads = reads;
	pace->window_stops = stats->stopped;
}

void
pace_begin(struct pace *pace, uint64_t now)
{
	pace->began_ns = now;
	pace->due_ns += draw_interval(pace);
}

uint64_t
pace_weigh(const struct pace *pace, uint64_t open_ns, bool last)
{
	const double mean = (double)NS_PER_SEC / pace->now_hz, open = (double)open_ns;
	const double all = SPARE_PART * (double)(pace->began_ns - pace->start_ns);
	const double spare = all < SPARE_TICKS * mean ? all : SPARE_TICKS * mean;
	const double weight = mean + SPARE_MENDED * (open - mean - spare);

	return !last && weight < open ? (uint64_t)weight : open_ns;
}

void
pace_end(struct pace *pace, const struct run_stats *stats)
{
	const uint64_t now = clock_now_ns(), cpu = clock_own_cpu_ns();
	/* CPU time since the last tick ended. Nearly all of it was used in this tick. */
	const uint64_t used = cpu - pace->tick_cpu_ns;
	uint64_t earliest = now;

	pace->tick_cpu_ns = cpu;
	limit_cost(pace, now, stats);
	/* After a tick the next one may begin when as much time has passed as the tick used CPU
	 * time. The first tick, which copies every stack, is an exception. */
	if (stats->ticks > 1) {
		earliest += used;
		pace->busy_ns += ((double)(earliest - pace->began_ns) - pace->busy_ns) /
				 BUSY_MEMORY;
	}
	if (pace->due_ns < earliest)
		pace->due_ns = earliest;
}

uint32_t
pace_longest_period(const struct pace *pace, size_t threads)
{
	double a_tick = READS_PER_SECOND / pace->config->rate_hz;
	uint32_t period = 1;

	while (period < LONGEST_PERIOD && (double)threads > a_tick * period)
		period *= 2;
	return period;
}
