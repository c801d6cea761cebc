/* SPDX-License-Identifier: MIT */
/*
 * causal_run.h - runs virtual speed-up experiments on a process that a sampler samples.
 *
 * At least every second experiment is at a speed-up of 0; the others are in random order. The run
 * ends when each gain of the first progress point has the requested precision or is abandoned,
 * because several of its experiments were made and none became WHOLE. A settling time precedes each
 * experiment and is not counted, so that the program is in a steady state when the experiment
 * begins. An experiment begins and ends at a tick that has found progress of the first point. Both
 * ends therefore lie shortly after an event, and the experiment has nearly a whole number of
 * intervals between events. Exceptions are experiments that reach the largest length
 * (CAUSAL_LONGEST), and those that do not end WHOLE.
 *
 * At a tick all running threads are stopped. If at least one of them executes the candidate, the
 * threads that execute it are resumed at once, and the other stopped threads are held for the part
 * of the time to the next tick that the speed-up gives: half of it at a speed-up of 0.5. Sleeping
 * threads are not held: a thread that the candidate's thread wakes during the hold runs at once,
 * because with a faster candidate it would have run even earlier.
 */
#ifndef WALLSAMPLE_CAUSAL_CAUSAL_RUN_H
#define WALLSAMPLE_CAUSAL_CAUSAL_RUN_H

#include "wallsample/causal/causal.h"
#include "wallsample/profile/profile.h"
#include "wallsample/causal/progress.h"
#include "wallsample/profile/run_stats.h"
#include "wallsample/symbol/symbol.h"

/* The time between ticks varies uniformly by up to this share of its mean in both directions, so
 * that ticks do not stay in phase with periodic work. */
#define CAUSAL_SPREAD 0.3
/*
 * An experiment continues beyond its requested length until the first progress point has this
 * number of events, but not beyond CAUSAL_LONGEST. More are not needed, because experiments begin
 * and end at events: whether events are periodic or independent, the confidence intervals of gains
 * contain the true gain as often with 3 events per experiment as with 20.
 */
#define CAUSAL_EVENTS_LEAST 5
/* Largest length of an experiment, as a multiple of the requested length. */
#define CAUSAL_LONGEST 20

struct causal_run;

/*
 * Creates a run, which causal_run_free frees. All pointers are borrowed. The caller has filled in
 * these members of *result: the points, candidates, speed-ups and settings (unit, self, tick_ns,
 * experiment_ns, precision, max_hold), and profile_ns. The run adds experiments to it. `profile` is
 * the profile that the sampler fills. `seed` determines the order of experiments; 0: seeded from
 * the clock.
 */
struct causal_run *causal_run_create(struct causal_result *result, struct progress *progress,
				     const struct profile *profile, struct symbols *symbols,
				     uint64_t seed);
void causal_run_free(struct causal_run *run);

/* Returns the control that the caller passes to the sampler as sampler_context.control; it is
 * borrowed from the run. */
const struct sampler_control *causal_run_control(struct causal_run *run);

/*
 * To be called after each tick. Looks up the names of functions that are new in the profile, and
 * plans the next experiment. If `held` is true, threads of the target are stopped: then the
 * function does nothing, because both may take long, and a later call does them.
 */
void causal_run_tick(struct causal_run *run, bool held);

/* True when causal_run_tick has work: functions are to be named, which may take as long as reading
 * a large file, or the next experiment is to be planned. The caller then pauses the sampler
 * (sampler_pause). */
bool causal_run_needs_time(const struct causal_run *run);

/* True when each gain of the first progress point has the requested precision or is abandoned, or
 * when progress is no longer readable. */
bool causal_run_is_over(const struct causal_run *run);

/* Values for a status line, and for a warning when there is no progress. */
struct causal_status {
	size_t done, wanted; /* number of finished experiments, and estimated total number */
	double speedup;      /* speed-up of the current experiment */
	uint32_t candidate;
	uint64_t elapsed_ns; /* from the beginning of the first experiment to the last tick */
	double events; /* number of events of the first point since the first experiment began */
};
void causal_run_status(const struct causal_run *run, struct causal_status *out);

/* Sets the totals of the result from all experiments so far and from the sampler's `stats`: the
 * members of struct causal_result from wall_ns on, except profile_ns. May be called repeatedly. */
void causal_run_sum_up(struct causal_run *run, const struct run_stats *stats);
/* Ends the run: adds the current experiment as CUT if its settling time has ended, and sets the
 * totals as causal_run_sum_up does. */
void causal_run_finish(struct causal_run *run, const struct run_stats *stats);

#endif
