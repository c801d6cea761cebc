/* SPDX-License-Identifier: MIT */
/* charge.h - to whom the real time of a tick is charged. */
#ifndef WALLSAMPLE_CHARGE_H
#define WALLSAMPLE_CHARGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sampler;
struct tracked;

/* Samples of runnable threads in the present tick, and where they went in the profile. */
struct charge {
	uint32_t entry;
	int64_t samples;
};

struct charges {
	struct charge *item;
	size_t count, capacity;
};

/*
 * Of one that is late, the ticks at which it was runnable; `fresh` samples are of this one, so
 * many of which it waited for a CPU, as far as can be told. `on_cpu` of all were taken for it
 * being on one.
 */
struct late_charge {
	int64_t samples, fresh;
	double queued, on_cpu, latency_ns;
	bool told; /* what it did at its first tick is known by now */
};

/* So many samples of a thread that was counted as runnable went into the entry. */
void charge_runnable(struct sampler *sampler, struct tracked *thread, uint32_t entry,
		     int64_t samples);
/* It is late no more, and all its samples have been charged. */
void charge_late_end(struct sampler *sampler, const struct late_charge *charge);
/* The thread, which slept, has run: it has ended the time in which nobody did. */
void charge_end_of_wait(struct sampler *sampler, struct tracked *thread);
/* Everybody was looked at. */
void charge_tick(struct sampler *sampler);
/* There is no tick any more. */
void charge_rest(struct sampler *sampler);

#endif
