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

struct late_stops;
struct observation;
struct pace;
struct process_list;
struct profile;
struct sampled_thread;
struct thread_list;
struct thread_records;
struct tick;

/* Samples of a runnable thread in the present tick, and their entry of the profile. */
struct charged {
	uint32_t entry;
	int64_t samples;
};

/*
 * Hidden threads: those that are not observed at each tick. The number of them on a CPU at a tick
 * is not known: few are observed, and each of these stands for many ticks, not for many threads. So
 * it is estimated from the CPU time that the processes used and the threads observed at each tick
 * did not. The real time of hidden threads is kept for the next of them that is observed running.
 */
struct hidden {
	double on_cpu, queued; /* at this tick: threads observed on a CPU; samples queued for one */
	int64_t unwanted;      /* samples of observed threads that are not selected */
	uint64_t known_ns;     /* CPU time since the last tick of threads observed at each tick */
	uint64_t cpu_ns;       /* of all processes at the last tick; 0: not known */
	int64_t balance_ns;    /* CPU time of hidden threads that no tick has counted yet */
	double owed_ns;        /* real time of hidden threads that is not charged yet */
	uint32_t entry;        /* the entry charged last; UINT32_MAX: none */
};

/* Samples of a late thread at ticks at which it was runnable, or is assumed to have been. */
struct late_charge {
	int64_t samples;     /* of earlier ticks */
	int64_t new_samples; /* of this tick */
	double queued;       /* estimate of the part of new_samples that waited for a CPU */
	double on_cpu;       /* part of all samples that parallelism() counted as on a CPU */
	double latency_ns;   /* real time of all samples */
	bool settled;        /* the thread's state at the first tick is known */
};

struct charging {
	/* Borrowed. */
	const struct process_list *processes;
	const struct thread_list *threads;
	const struct late_stops *late;
	const struct tick *tick;
	const struct pace *pace;
	struct thread_records *records;
	struct profile *profile;
	unsigned cpus; /* CPUs that the target may use */

	struct charged *item; /* of this tick */
	size_t count, capacity;
	double runnable;    /* threads that are observed at each tick and runnable at this one */
	double queued;      /* those of them that waited for a CPU */
	double late_ran;    /* running mean: part of late threads on a CPU at the request */
	double on_cpu_owed; /* threads on a CPU that earlier ticks did not count; may be < 0 */
	struct hidden hidden;
	uint64_t gap_ns; /* real time in which no thread was runnable, not charged yet */
};

void charging_init(struct charging *charging);
void charging_release(struct charging *charging);
/* Adds the CPU time of an observation to that of threads observed at each tick. */
void charge_cpu_time(struct charging *charging, const struct observation *observation);
/* Counts samples of a runnable thread that is not selected. */
void charge_unwanted(struct charging *charging, int64_t samples);
/* Counts samples of a runnable thread, which the profile's entry `entry` has. */
void charge_runnable(struct charging *charging, struct sampled_thread *thread, uint32_t entry,
		     int64_t samples);
/* Sets *late when a stop becomes late. `queued`: part of the time that the thread waited for a CPU,
 * 0 to 1. */
void charge_late_begin(struct charging *charging, const struct observation *observation,
		       double queued, struct late_charge *late);
/* Adds samples of a later tick at which the late thread was runnable. */
void charge_late_extend(struct late_charge *late, int64_t samples, double queued);
/* Counts the late thread as runnable at this tick. */
void charge_late(struct charging *charging, const struct late_charge *late);
/* Ends a late stop. All its samples must have been charged. */
void charge_late_end(struct charging *charging, const struct late_charge *late);
/* Charges the time in which no thread was runnable to the thread, which slept and ended it. */
void charge_end_of_wait(struct charging *charging, struct sampled_thread *thread);
/*
 * Charges the tick when all its threads are attributed. `skipped`: threads not observed at it, of
 * which `excluded` never are: their part of the real time, estimated by their number, is dropped
 * like that of unselected threads, because no sample of theirs can take it.
 */
void charge_tick(struct charging *charging, size_t skipped, size_t excluded);
/* Charges the remaining time at the end of the run. */
void charge_rest(struct charging *charging);

#endif
