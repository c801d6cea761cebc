/* SPDX-License-Identifier: MIT */
/* charge_internal.h - to whom the real time of a tick is charged. */
#ifndef WALLSAMPLE_SAMPLER_CHARGE_INTERNAL_H
#define WALLSAMPLE_SAMPLER_CHARGE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/thread/state.h"

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
 * Threads that are not looked at each tick. How many of them had a CPU at a tick is not known: few
 * are seen, and each of these stands for many ticks, not for many threads of its own. So that is
 * told by the CPU time that the process has used but not those who are looked at; and the real time
 * is kept for the next of them that is seen to run.
 */
struct hidden {
	double on_cpu, queued; /* seen at this tick to have a CPU; samples that wait for one */
	int64_t unwanted;      /* samples of those seen that nobody wants to have */
	uint64_t known_ns;     /* CPU time since the last tick of those that are always looked at */
	uint64_t cpu_ns;       /* of the process at the last tick; 0: not known */
	int64_t balance_ns;    /* CPU time of theirs, less ticks that were counted for it */
	double owed_ns;        /* real time that they are to be charged */
	uint32_t entry;        /* the last one that was; UINT32_MAX: none */
};

/*
 * Of one that is late, the ticks at which it was runnable, or may prove to have been; `fresh`
 * samples are of this one, so many of which it waited for a CPU, as far as can be told. `on_cpu`
 * of all were taken for it being on one.
 */
struct late_charge {
	int64_t samples, fresh;
	double queued, on_cpu, latency_ns;
	bool told; /* what it did at its first tick is known by now */
};

/* A look at a thread has found these counters; `ticks` since the look before. */
void charge_count_cpu(struct sampler *sampler, const struct tracked *thread,
		      const struct sched *sched, int64_t ticks);
/* So many samples of a runnable thread that nobody wants to have. */
void charge_unwanted(struct sampler *sampler, int64_t samples);
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
