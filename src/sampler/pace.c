/* SPDX-License-Identifier: MIT */
/* pace.c - when the next tick is due, and how often a sleeper is looked at. */
#include "sampler/pace_internal.h"

/* How often the cost is judged. */
#define WINDOW_NS (250 * NS_PER_MS)

/* What is aimed at, a little below the limit that must not be passed. */
#define AIM 0.9

/* So many seconds' allowance can be saved, and is there at the start. */
#define SAVINGS_S 2.0

/* What a stop costs the target, the switch to and from the stopped thread included. */
#define STOP_COST_S 10e-6

/* With fewer looks a tick than this, ticks are what costs. */
#define THIN_LOOKS 16.0
#define THINNEST 64

/* Half the looks are half the cost: so far below the limit it may be doubled again. */
#define THICKEN 0.4

/* Never slower than this, whatever it costs: fewer ticks say nothing. */
#define LOWEST_HZ 1.0

/* A look costs 1 to 1.5 us: so many of them a second are less than 1 % of a CPU. */
#define LOOKS_PER_SECOND 5000.0

#define LONGEST_PERIOD 256

/* The next tick is expected to take as long as so many did on average. */
#define BUSY_MEMORY 16.0

/* Time for so many ticks is kept back, so that what a tick weighs hardly varies, but no more than
 * this part of all. A tick makes up for this part of what there is too much or too little. */
#define SPARE_TICKS 3.0
#define SPARE_PART (1.0 / 32.0)
#define SPARE_MENDED (1.0 / 8.0)

/*
 * From one tick to the next. Any moment is as likely as any other, so that those at which no tick
 * can be, because one is at work, are stood for by the tick that then is put off to their
 * end. What this adds to the mean is taken off again: of m + d - m (1 - exp(-d/m)) for a
 * delay of d up to the whole mean, to 1 %.
 */
static uint64_t
draw_interval(const struct pace *pace)
{
	const double mean = (double)NS_PER_SEC / pace->now_hz;
	const double busy = pace->busy_ns < mean ? pace->busy_ns / mean : 1.0;

	if (pace->config.spread_set)
		return (uint64_t)(mean * (1.0 + pace->config.spread *
						(2.0 * rng_uniform(pace->rng) - 1.0)));
	if (!pace->config.jitter)
		return (uint64_t)mean;
	return (uint64_t)rng_exponential(pace->rng, mean * (1.0 - busy * busy / 2.0));
}

void
pace_start(struct pace *pace, const struct pace_config *config, struct rng *rng)
{
	*pace = (struct pace){
		.config = *config,
		.rng = rng,
		.now_hz = config->rate_hz,
		.lowest_hz = config->rate_hz,
		.max_share = config->max_overhead / 100.0,
		.thin = 1,
		.thinnest = 1,
		.window_ns = 0, /* begins after the first tick, which takes every stack */
	};
	pace->start_ns = pace->began_ns = clock_now_ns();
	pace->due_ns = pace->began_ns + draw_interval(pace);
	pace->tick_cpu_ns = clock_own_cpu_ns();
}

/* What the present rate of spending asks for. */
static void
adjust(struct pace *pace, double share, double per_tick, double looks)
{
	bool poor = pace->saved_s < 0;

	if (poor && share > pace->max_share && looks > THIN_LOOKS && pace->thin < THINNEST) {
		for (; share > pace->max_share && pace->thin < THINNEST; share /= 2.0)
			pace->thin *= 2;
		pace->saved_s = 0;
	} else if (!poor && pace->thin > 1 && share < THICKEN * pace->max_share) {
		pace->thin /= 2;
	} else {
		pace->now_hz = pace->config.rate_hz;
		if (poor && per_tick * pace->config.rate_hz > pace->max_share)
			pace->now_hz = AIM * pace->max_share / per_tick;
		if (pace->now_hz < LOWEST_HZ)
			pace->now_hz = LOWEST_HZ;
	}
	if (pace->now_hz < pace->lowest_hz)
		pace->lowest_hz = pace->now_hz;
	if (pace->thin > pace->thinnest)
		pace->thinnest = pace->thin;
}

/*
 * Keeps to --max-overhead. What may be spent is saved up, so that the beginning, when every
 * stack and every table is new, or a burst changes nothing: only what goes on does. With
 * many threads at work each of them is looked at in fewer ticks; with few, there are
 * fewer ticks.
 */
static void
limit_cost(struct pace *pace, uint64_t now, const struct pace_cost *cost)
{
	const struct pace_cost *before = &pace->window;
	uint64_t cpu;

	if (pace->max_share >= 1.0 ||
	    (pace->window_ns != 0 && now - pace->window_ns < WINDOW_NS))
		return;
	cpu = clock_own_cpu_ns();
	if (pace->window_ns == 0) {
		pace->saved_s = SAVINGS_S * pace->max_share;
	} else if (cost->ticks > before->ticks) {
		const double ticks = cost->ticks - before->ticks;
		const double elapsed = (double)(now - pace->window_ns) / (double)NS_PER_SEC;
		const double used = (double)(cpu - pace->window_cpu_ns) / (double)NS_PER_SEC +
				    (double)(cost->stops - before->stops) * STOP_COST_S;

		pace->saved_s += pace->max_share * elapsed - used;
		if (pace->saved_s > SAVINGS_S * pace->max_share)
			pace->saved_s = SAVINGS_S * pace->max_share;
		adjust(pace, used / elapsed, used / ticks,
		       (double)(cost->looks - before->looks) / ticks);
	}
	pace->window_ns = now;
	pace->window_cpu_ns = cpu;
	pace->window = *cost;
}

void
pace_begin(struct pace *pace, uint64_t now)
{
	pace->began_ns = now;
	pace->due_ns += draw_interval(pace);
}

uint64_t
pace_weigh(const struct pace *pace, uint64_t owed_ns, bool last)
{
	const double mean = (double)NS_PER_SEC / pace->now_hz, owed = (double)owed_ns;
	const double all = SPARE_PART * (double)(pace->began_ns - pace->start_ns);
	const double spare = all < SPARE_TICKS * mean ? all : SPARE_TICKS * mean;
	const double weight = mean + SPARE_MENDED * (owed - mean - spare);

	return !last && weight < owed ? (uint64_t)weight : owed_ns;
}

void
pace_end(struct pace *pace, const struct pace_cost *cost)
{
	const uint64_t now = clock_now_ns(), cpu = clock_own_cpu_ns();
	/* Between two ticks hardly any is used. */
	const uint64_t used = cpu - pace->tick_cpu_ns;
	uint64_t earliest = now;

	pace->tick_cpu_ns = cpu;
	limit_cost(pace, now, cost);
	/* The target gets as much time to itself as we used. The first tick, which takes every
	 * stack, is one of a kind. */
	if (cost->ticks > 1) {
		earliest += used;
		pace->busy_ns +=
			((double)(earliest - pace->began_ns) - pace->busy_ns) / BUSY_MEMORY;
	}
	if (pace->due_ns < earliest)
		pace->due_ns = earliest;
}

uint32_t
pace_longest_period(const struct pace *pace, size_t threads)
{
	double a_tick = LOOKS_PER_SECOND / pace->config.rate_hz;
	uint32_t period = 1;

	while (period < LONGEST_PERIOD && (double)threads > a_tick * period)
		period *= 2;
	return period;
}
