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
 * Hidden threads are the threads that are not observed at each tick. How many of them are on a CPU
 * at a tick is not known: few are observed, and a sample of one stands for many ticks, not for many
 * threads. The number is estimated as the CPU time of all processes minus that of the threads
 * observed at each tick. The real time of hidden threads is kept until one of them is observed
 * running.
 */
struct hidden {
	double on_cpu; /* hidden threads that this tick observed on a CPU */
	double queued; /* samples of hidden threads that this tick observed waiting for a CPU */
	/* Samples of hidden threads that are observed at this tick and not selected */
	int64_t unselected;
	/* CPU time that threads observed at each tick used since the last tick */
	uint64_t known_ns;
	uint64_t cpu_ns;     /* CPU time of all processes at the last tick; 0: not known */
	int64_t balance_ns;  /* CPU time of hidden threads that no tick has counted yet */
	double uncharged_ns; /* real time of hidden threads that is not charged yet */
	uint32_t last_entry; /* the profile entry charged last; UINT32_MAX: none */
};

/* Samples of a late thread at ticks at which it was runnable, or is assumed to have been. */
struct late_charge {
	int64_t samples;     /* samples of earlier ticks */
	int64_t new_samples; /* samples of this tick */
	double queued; /* estimated number of new_samples in which the thread waited for a CPU */
	double on_cpu; /* number of samples that parallelism() counted as on a CPU */
	double latency_ns; /* real time of all samples */
	bool settled;      /* its state at the tick that requested the stop is known */
};

struct charging {
	struct run *run;      /* borrowed */
	struct charged *item; /* charges of this tick */
	size_t count, capacity;
	double runnable; /* threads that are observed at each tick and runnable at this one */
	double queued;   /* estimated number of the `runnable` threads that waited for a CPU */
	/* Running mean: share of late threads that were on a CPU at the stop request */
	double late_ran;
	/* By how many threads earlier ticks counted too few on a CPU; negative: too many. */
	double on_cpu_missed;
	struct hidden hidden;
	uint64_t gap_ns; /* real time in which no thread was runnable, not charged yet */
};

/* Counts samples of a runnable thread that is not selected. */
void charge_unselected(struct charging *charging, int64_t samples);
/* Counts samples of a runnable thread, which are in the entry `entry` of the profile. */
void charge_runnable(struct charging *charging, struct sampled_thread *thread, uint32_t entry,
		     int64_t samples);
/* Initialises *late for a thread whose stop has become late. `queued`: share of the time since the
 * thread's counters were read for which it waited for a CPU, 0 to 1. */
void charge_late_begin(struct charging *charging, const struct observation *observation,
		       double queued, struct late_charge *late);
/* Charges the time in which no thread was runnable to `thread`, which was the first to wake up.
 * `selected`: the thread was selected during its sleep; otherwise the time is dropped. */
void charge_end_of_wait(struct charging *charging, struct sampled_thread *thread, bool selected);
/*
 * Charges the real time of the tick, when all its observations are attributed. Excluded threads
 * have no samples: their share of the real time, estimated from their number, is dropped, as is
 * that of unselected threads.
 */
void charge_tick(struct charging *charging);
/* At the end of the run, charges the real time that is not charged yet. */
void charge_rest(struct charging *charging);

#endif
