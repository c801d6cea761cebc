/* SPDX-License-Identifier: MIT */
/* pace.h - when the next tick is due, and how --max-overhead is kept to. */
#ifndef WALLSAMPLE_PACE_H
#define WALLSAMPLE_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct sampler;

struct pace {
	double wanted_hz, now_hz, lowest_hz;
	bool jitter;
	double max_share;       /* of one CPU; >= 1: no limit */
	double saved_s;         /* CPU time that may be used on top */
	uint64_t due_ns;        /* the next tick */
	uint64_t tick_began_ns, tick_cpu_ns;
	/* Each thread is looked at once in so many ticks, on average; most there was. */
	uint32_t thin, thinnest;
	/* Where the present window of judgement began. */
	uint64_t window_ns, window_cpu_ns, window_ticks, window_stops, window_looks;
};

void pace_start(struct sampler *sampler);
/* Sets pace.due_ns after a tick that began at pace.tick_began_ns. */
void pace_next(struct sampler *sampler);
/* The longest period between looks that the number of threads asks for. */
uint32_t pace_longest_period(const struct sampler *sampler);

#endif
