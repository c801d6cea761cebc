/* SPDX-License-Identifier: MIT */
/* pace_internal.h - when the next tick is due, and how --max-overhead is kept to. */
#ifndef WALLSAMPLE_SAMPLER_PACE_INTERNAL_H
#define WALLSAMPLE_SAMPLER_PACE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct sampler;

struct pace {
	double wanted_hz, now_hz, lowest_hz;
	bool jitter;
	double max_share;       /* of one CPU; >= 1: no limit */
	double saved_s;         /* CPU time that may be used on top */
	uint64_t start_ns;      /* when time began */
	uint64_t began_ns;      /* the present tick; before the first, when time began */
	uint64_t due_ns;        /* the next tick */
	uint64_t tick_cpu_ns;   /* own CPU time after the last */
	double busy_ns;         /* how soon after a tick there usually can be another */
	/* Each thread is looked at once in so many ticks, on average; most there was. */
	uint32_t thin, thinnest;
	/* Where the present window of judgement began. */
	uint64_t window_ns, window_cpu_ns, window_ticks, window_stops, window_looks;
};

void pace_start(struct sampler *sampler);

/*
 * A tick begins: sets pace.due_ns to the next. It is drawn before anybody has been looked at, so
 * that it is independent of what the threads do: of whether one had to be waited for, too.
 */
void pace_begin(struct sampler *sampler, uint64_t now);
/*
 * For how much of the time that no tick has stood for yet this one stands: for the mean, more or
 * less, if there is so much; the last one for all of it.
 */
uint64_t pace_weigh(const struct sampler *sampler, uint64_t owed_ns, bool last);
/* The tick is over: puts the next off if it is due too early for --max-overhead. */
void pace_end(struct sampler *sampler);
/* The longest period between looks that the number of threads asks for. */
uint32_t pace_longest_period(const struct sampler *sampler);

#endif
