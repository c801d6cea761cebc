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
 * Threads that are not observed at each tick. How many of them had a CPU at a tick is not known:
 * few are observed, and each of these stands for many ticks, not for many threads. So the number is
 * estimated from the CPU time that the processes used and the observed threads did not; their real
 * time is kept for the next of them that is observed running.
 */
struct hidden {
	double on_cpu, queued; /* observed at this tick on a CPU; samples that wait for one */
	int64_t unwanted;      /* samples of observed threads that are not selected */
	uint64_t known_ns;     /* CPU time since the last tick of threads observed at each tick */
	uint64_t cpu_ns;       /* of all processes at the last tick; 0: not known */
	int64_t balance_ns;    /* CPU time of hidden threads that no tick has counted yet */
	double owed_ns;        /* real time that hidden threads are to be charged */
	uint32_t entry;        /* the last one that was charged; UINT32_MAX: none */
};

/* Ticks at which a late thread was runnable, or may prove to have been. */
struct late_charge {
	int64_t samples;       /* of earlier ticks */
	int64_t new_samples;   /* of this tick; `queued` of them waited for a CPU, by estimate */
	double queued;
	double on_cpu;         /* of all, those that parallelism counted as on a CPU */
	double latency_ns;     /* real time of all */
	bool settled;          /* what the thread did at the first tick is known */
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
	unsigned cpus;         /* that the target may use */

	struct charged *item;  /* of this tick */
	size_t count, capacity;
	double runnable;       /* threads that are observed at each tick and runnable at this one */
	double queued;         /* those of them that waited for a CPU */
	double late_ran;       /* mean part of late threads that were on a CPU when it was asked */
	double on_cpu_owed;    /* threads on a CPU that ticks before did not count */
	struct hidden hidden;
	uint64_t gap_ns;       /* real time in which no thread was runnable, not charged yet */
};

void charging_init(struct charging *charging);
void charging_release(struct charging *charging);
/* A thread was observed: takes its CPU time if it is observed at each tick. */
void charge_cpu_time(struct charging *charging, const struct observation *observation);
/* Samples of a runnable thread that is not selected. */
void charge_unwanted(struct charging *charging, int64_t samples);
/* Samples of a runnable thread went into the entry. */
void charge_runnable(struct charging *charging, struct sampled_thread *thread, uint32_t entry,
		     int64_t samples);
/* A stop became late: sets *late. `queued`: the part of the time that it waited for a CPU. */
void charge_late_begin(struct charging *charging, const struct observation *observation,
		       double queued, struct late_charge *late);
/* The late thread was runnable in further samples. */
void charge_late_extend(struct late_charge *late, int64_t samples, double queued);
/* The late thread counts as runnable at this tick. */
void charge_late(struct charging *charging, const struct late_charge *late);
/* The late stop is over, and all its samples are charged. */
void charge_late_end(struct charging *charging, const struct late_charge *late);
/* The thread slept and has run: it has ended the time in which no thread was runnable. */
void charge_end_of_wait(struct charging *charging, struct sampled_thread *thread);
/* All threads of the tick are attributed. `skipped`: threads that it did not observe. */
void charge_tick(struct charging *charging, size_t skipped);
/* The run is over: charges what is left. */
void charge_rest(struct charging *charging);

#endif
