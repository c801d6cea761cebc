/* SPDX-License-Identifier: MIT */
/*
 * charge_internal.h - divides the elapsed time ("real time") of each tick among the threads that
 * were runnable at the tick: charges it to their entries of the profile, as weight LATENCY
 * (profile.h). Runs at the end of the tick, when its samples are in the profile.
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

/* A runnable thread of the present tick that is not late: its entry of the profile, and the number
 * of samples that this tick has added to that entry for the thread. */
struct charged {
	struct sampled_thread *thread; /* NULL: removed since (charge_removed) */
	uint32_t entry;
	int64_t samples;
};

/* Latency of ticks without a runnable thread that was added to an entry of the profile. */
struct charged_gap {
	uint32_t entry;
	int64_t ns;
};

/*
 * Hidden threads are the threads that are not observed at each tick. How many of them are on a CPU
 * at a tick is not known: a tick observes few of them, and a sample of one stands for many ticks,
 * not for many threads. The number is estimated: from the CPU time that all processes of the target
 * used since the last tick, that of the threads observed at each tick is subtracted; the remainder
 * is divided by the length of a tick. The real time of hidden threads is kept until one of them is
 * observed runnable.
 */
struct hidden {
	double on_cpu; /* number of hidden threads that this tick observed on a CPU */
	/* number of samples of hidden threads that this tick observed waiting for a CPU */
	double queued;
	/* Number of samples of hidden threads that this tick observed running and that are not
	 * selected (sampler_context.selected, sampler.h). */
	int64_t unselected;
	/* CPU time in this tick of the threads whose sample stands for one tick. */
	uint64_t known_ns;
	/* CPU time that the target's processes had used at the last tick; 0: not known */
	uint64_t cpu_ns;
	/* CPU time of hidden threads that no tick has counted yet; negative: counted in excess */
	int64_t balance_ns;
	/* real time of hidden threads that is not charged yet, in ns */
	double uncharged_ns;
	/* profile entry of the hidden thread charged last; UINT32_MAX: none */
	uint32_t last_entry;
};

/* The samples of a late thread (its stop was requested and has not happened, late.c) at ticks at
 * which it was runnable, or is assumed to have been. */
struct late_charge {
	/* number of samples of earlier ticks, and of the tick that requested the stop if the thread
	 * slept then */
	int64_t samples;
	int64_t new_samples; /* number of samples of this tick */
	/* estimated number of new_samples in which the thread waited for a CPU; for a hidden thread
	 * all of them, because struct hidden estimates how many are on a CPU */
	double queued;
	/* number of samples that parallelism() (charge.c) counted as on a CPU */
	double on_cpu;
	/* real time of the samples so far, in ns; charged when the thread has stopped */
	double latency_ns;
	/* late_ran (struct charging) includes this thread */
	bool settled;
};

struct charging {
	struct run *run; /* borrowed */
	/* array of `count` elements: the runnable threads of this tick */
	struct charged *item;
	size_t count, capacity;
	/* number of runnable threads of this tick that are late, or are observed at each tick */
	double runnable;
	double queued; /* estimated number of the `runnable` threads that waited for a CPU */
	/* Share, 0 to 1, of the recent late threads that were on a CPU when their stop was
	 * requested; a running mean */
	double late_ran;
	/* how many threads too few earlier ticks counted as on a CPU; negative: too many */
	double on_cpu_missed;
	struct hidden hidden;
	/* real time, not charged yet, of ticks at which no thread was runnable */
	uint64_t gap_ns;
	/* array of `gap_count` elements, owned: what was charged since the last calibration
	 * (weights_internal.h) */
	struct charged_gap *gap;
	size_t gap_count, gap_capacity;
};

/* Charges latency to an entry of the thread; NULL: the thread has been removed. */
void charge_entry(struct charging *charging, struct sampled_thread *thread, uint32_t entry,
		  int64_t latency_ns);
/* Counts samples of a thread that is runnable (`state`) and not selected, and so has no entry in
 * the profile. */
void charge_unselected(struct charging *charging, enum run_state state, int64_t samples);
/* Counts samples of a runnable thread, which are in the entry `entry` of the profile; charge_tick
 * will charge them. Samples of a late thread are counted only when its stop request has ended or
 * the thread has exited; they are charged at once. */
void charge_runnable(struct charging *charging, struct sampled_thread *thread, uint32_t entry,
		     int64_t samples);
/* To be called before a thread is freed: a thread that was observed first in this tick may be
 * removed before the tick is charged. */
void charge_removed(struct charging *charging, const struct sampled_thread *thread);
/* Initialises *late for a thread whose stop has become late. `queued`: the share, 0 to 1, of the
 * time since the thread's counters were read for which the thread waited for a CPU. */
void charge_late_begin(struct charging *charging, const struct observation *observation,
		       double queued, struct late_charge *late);
/* To be called for each thread that has run, or was woken, since its last observation. If the
 * thread slept at that observation, the real time of ticks without a runnable thread that is not
 * charged yet (gap_ns) is charged to that sleep: the thread counts as the first to wake.
 * `selected`: the thread was selected during the sleep; otherwise the time is dropped. */
void charge_end_of_wait(struct charging *charging, struct sampled_thread *thread, bool selected);
/*
 * Charges the real time of the tick, when all its observations are attributed (added to the
 * profile). Excluded threads have no samples: their share of the real time, estimated from their
 * number, is dropped. The share of unselected threads is dropped, too. If no thread was runnable,
 * adds the time to gap_ns.
 */
void charge_tick(struct charging *charging);
/* Counts a time in which wallsample did not run (absence.c): on average `on_cpu` threads were on a
 * CPU and `runnable` could run. The caller has charged the real time if `runnable` is above 0. */
void charge_absence(struct charging *charging, uint64_t span_ns, double on_cpu, double runnable);
/* At the end of the run, charges the real time that is not charged yet: that of hidden threads to
 * the hidden thread charged last; that of ticks without a runnable thread to the first thread of
 * the list that is selected and not late. If no hidden thread was ever charged, the time of hidden
 * threads is treated like that of ticks without a runnable thread. Without a thread to charge, the
 * time is dropped. */
void charge_rest(struct charging *charging);

#endif
