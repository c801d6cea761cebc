/* SPDX-License-Identifier: MIT */
/* pace.c - when the next tick is due, and how often a sleeper is looked at. */
#include "sampler_state.h"

/* The rate is judged once a second. */
#define WINDOW_NS NS_PER_SEC

/* What is aimed at, a little below the limit that must not be passed. */
#define AIM 0.9

/* So many seconds' allowance can be saved, and is there at the start. */
#define SAVINGS_S 10.0

/* Never slower than this, whatever it costs: fewer ticks say nothing. */
#define LOWEST_HZ 1.0

/* A look costs about 1 us: so many of them a second are 1 % of a CPU. */
#define LOOKS_PER_SECOND 8000.0

#define LONGEST_PERIOD 256

void
pace_start(struct sampler *sampler)
{
	struct pace *pace = &sampler->pace;

	pace->wanted_hz = sampler->config.rate_hz;
	pace->now_hz = pace->lowest_hz = pace->wanted_hz;
	pace->jitter = sampler->config.jitter;
	pace->max_share = sampler->config.max_overhead / 100.0;
	pace->due_ns = clock_now_ns();
	pace->tick_began_ns = pace->due_ns;
	pace->window_ns = 0; /* begins after the first tick, which takes every stack */
	pace->saved_s = 0;
}

/*
 * Lowers the rate when sampling costs more than it may. What may be spent is saved up,
 * so that the beginning, when every stack and every table is new, or a burst does not
 * lower the rate: only what goes on does.
 */
static void
judge(struct pace *pace, uint64_t now, uint64_t ticks)
{
	double elapsed, used, per_tick, most;
	uint64_t cpu;

	if (pace->max_share >= 1.0)
		return;
	if (pace->window_ns != 0 && now - pace->window_ns < WINDOW_NS)
		return;
	cpu = clock_own_cpu_ns();
	most = SAVINGS_S * pace->max_share;
	if (pace->window_ns == 0) {
		pace->saved_s = most;
	} else if (ticks > pace->window_ticks) {
		elapsed = (double)(now - pace->window_ns) / (double)NS_PER_SEC;
		used = (double)(cpu - pace->window_cpu_ns) / (double)NS_PER_SEC;
		per_tick = used / (double)(ticks - pace->window_ticks);
		pace->saved_s += pace->max_share * elapsed - used;
		if (pace->saved_s > most)
			pace->saved_s = most;
		pace->now_hz = pace->wanted_hz;
		if (pace->saved_s < 0 && per_tick * pace->wanted_hz > pace->max_share)
			pace->now_hz = AIM * pace->max_share / per_tick;
		if (pace->now_hz < LOWEST_HZ)
			pace->now_hz = LOWEST_HZ;
		if (pace->now_hz < pace->lowest_hz)
			pace->lowest_hz = pace->now_hz;
	}
	pace->window_ns = now;
	pace->window_cpu_ns = cpu;
	pace->window_ticks = ticks;
}

void
pace_next(struct sampler *sampler)
{
	struct pace *pace = &sampler->pace;
	uint64_t now = clock_now_ns();
	uint64_t took = now - pace->tick_began_ns;
	uint64_t used = clock_own_cpu_ns() - pace->tick_cpu_ns;
	double mean, rest;
	uint64_t earliest;

	judge(pace, now, sampler->tick);
	mean = (double)NS_PER_SEC / pace->now_hz;
	/* After a tick the target gets as much time to itself as we used; the random
	 * part makes up the rest of the mean. */
	rest = (double)(took + used);
	if (rest > mean / 2.0)
		rest = mean / 2.0;
	pace->due_ns += (uint64_t)(pace->jitter ? rest + rng_exponential(&sampler->rng, mean - rest) :
						  mean);
	/* A late tick is never made up for. The first, which takes every stack, is one
	 * of a kind. */
	earliest = now + (sampler->tick > 1 ? used : 0);
	if (pace->due_ns < earliest)
		pace->due_ns = earliest;
}

uint32_t
pace_longest_period(const struct sampler *sampler)
{
	double a_tick = LOOKS_PER_SECOND / sampler->pace.wanted_hz;
	uint32_t period = 1;

	while (period < LONGEST_PERIOD && (double)sampler->thread_count > a_tick * period)
		period *= 2;
	return period;
}
