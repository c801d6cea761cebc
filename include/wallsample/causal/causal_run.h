/* SPDX-License-Identifier: MIT */
/*
 * causal_run.h - makes virtual speed-up experiments on a process that a sampler looks at.
 *
 * One experiment follows the other, every second one at a speed-up of 0, the others in random
 * order, until all gains are known well enough. An experiment begins and ends at a look that has
 * found progress, so that it is not off by a part of an event.
 *
 * At a look all that run stand still. Who is in the candidate goes on at once, the others are held
 * for the speed-up's part of the time to the next look. Whoever sleeps is left alone: if the
 * candidate's thread wakes it meanwhile it runs at once, as it would have run earlier.
 */
#ifndef WALLSAMPLE_CAUSAL_CAUSAL_RUN_H
#define WALLSAMPLE_CAUSAL_CAUSAL_RUN_H

#include "wallsample/causal/causal.h"
#include "wallsample/profile/profile.h"
#include "wallsample/causal/progress.h"
#include "wallsample/profile/run_stats.h"
#include "wallsample/symbol/symbol.h"

/* Looks are this part of their mean distance around it, evenly: nothing periodic is in step. */
#define CAUSAL_SPREAD 0.3
/* An experiment goes on until so many events were seen, */
#define CAUSAL_EVENTS_LEAST 20
/* but no longer than so many times its wanted length. */
#define CAUSAL_LONGEST 20

struct causal_run;

/*
 * All is borrowed. The result has points, candidates, speed-ups and what is asked for in it
 * (unit, self, tick_ns, experiment_ns, precision, max_hold); the run adds experiments. `profile` is
 * the sampler's. `seed`: of the order of experiments; 0: from the clock.
 */
struct causal_run *causal_run_create(struct causal_result *result, struct progress *progress,
				     const struct profile *profile, struct symbols *symbols,
				     uint64_t seed);
void causal_run_free(struct causal_run *run);

/* For struct sampler_config. */
const struct sampler_control *causal_run_control(struct causal_run *run);

/*
 * To be called after each tick; `held`: threads of the target stand still, and nothing that takes
 * long is done. Names functions that were not seen before, plans the next experiment.
 */
void causal_run_tick(struct causal_run *run, bool held);

/* Are there functions to be named, which may take as long as it takes to read a large file, or is
 * the next experiment to be planned? The target is left alone meanwhile (sampler_pause). */
bool causal_run_needs_time(const struct causal_run *run);

/* All gains are known well enough, or progress cannot be read any more. */
bool causal_run_is_over(const struct causal_run *run);

/* For a line of status, and to say when nothing moves. */
struct causal_status {
	size_t done, wanted;      /* experiments so far; about how many there will be */
	double speedup;           /* of the present one */
	uint32_t candidate;
	uint64_t elapsed_ns;      /* of all */
	double events;            /* of the first point, so far */
};
void causal_run_status(const struct causal_run *run, struct causal_status *out);

/* Fills in what the result says of all experiments, so far. */
void causal_run_sum_up(struct causal_run *run, const struct run_stats *stats);
/* The end: what was going on is cut short, and sums are made. */
void causal_run_finish(struct causal_run *run, const struct run_stats *stats);

#endif
