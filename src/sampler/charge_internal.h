/* SPDX-License-Identifier: MIT */
/*
 * charge_internal.h - a consumer of attributed samples: divides the real time of each tick (weight
 * LATENCY) among the threads that were runnable.
 */
#ifndef WALLSAMPLE_SAMPLER_CHARGE_INTERNAL_H
#define WALLSAMPLE_SAMPLER_CHARGE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/thread/state.h"

struct observation;
struct run;
struct sampled_thread;

/* Samples of a runnable thread in the present tick, and their entry of the profile. */
struct charged {
	uint32_t entry;
	int64_t samples;
};

/*
 * Hidden threads are those that are not observed at each tick. The number of them on a CPU at a
 * tick is not known: few are observed, and each of these stands for many ticks, not for many
 * threads. So it is estimated from the CPU time that the processes used and the threads observed at
 * each tick did not. The real time of hidden threads is kept until one of them is observed running.
 */
struct hidden {
	double on_cpu;       /* threads that this tick observed on a CPU */
	double queued;       /* samples of threads that this tick observed waiting for a CPU */
	int64_t unselected;  /* samples of threads observed at this tick that are not selected */
	uint64_t known_ns;   /* CPU time since the last tick of threads observed at each tick */
	uint64_t cpu_ns;     /* CPU time of all processes at the last tick; 0: not known */
	int64_t balance_ns;  /* CPU time of hidden threads that no tick has counted yet */
	double uncharged_ns; /* real time of hidden threads that is not charged yet */
	uint32_t last_entry; /* the entry charged last; UINT32_MAX: none */
};

/* Samples of a late thread at ticks at which it was runnable, or is assumed to have been. */
struct late_charge {
	int64_t samples;     /* samples of earlier ticks */
	int64_t new_samples; /* samples of this tick */
	double queued;       /* estimate of the part of new_samples that waited for a CPU */
	double on_cpu;       /* part of all samples that parallelism() counted as on a CPU */
	double latency_ns;   /* real time of all samples */
	bool settled;        /* the thread's state at the first tick is known */
};

struct charging {
	struct run *run;      /* borrowed */
	struct charged *item; /* charges of this tick */
	size_t count, capacity;
	double runnable; /* threads that are observed at each tick and runnable at this one */
	double queued;   /* threads among these that waited for a CPU */
	double late_ran; /* running mean: part of late threads on a CPU at the request */
	/* Threads on a CPU that earlier ticks did not count; negative: that they counted without
	 * reason. */
	double on_cpu_missed;
	struct hidden hidden;
	uint64_t gap_ns; /* real time in which no thread was runnable, not charged yet */
};

/* Counts samples of a runnable thread that is not selected. */
void charge_unselected(struct charging *charging, int64_t samples);
/* Counts samples of a runnable thread, which the profile's entry `entry` has. */
void charge_runnable(struct charging *charging, struct sampled_thread *thread, uint32_t entry,
		     int64_t samples);
/* Sets *late when a stop becomes late. `queued`: part of the time that the thread waited for a CPU,
 * 0 to 1. */
void charge_late_begin(struct charging *charging, const struct observation *observation,
		       double queued, struct late_charge *late);
/* Charges the time in which no thread was runnable to the thread, whose sleep ended it. `selected`:
 * the thread was selected during that sleep. */
void charge_end_of_wait(struct charging *charging, struct sampled_thread *thread, bool selected);
/*
 * Charges the tick when all its threads are attributed. Excluded threads are never observed: their
 * part of the real time, estimated by their number, is dropped like that of unselected threads,
 * because no sample of theirs can take it.
 */
void charge_tick(struct charging *charging);
/* Charges the remaining time at the end of the run. */
void charge_rest(struct charging *charging);

#endif
