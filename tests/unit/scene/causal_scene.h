/* SPDX-License-Identifier: MIT */
/*
 * causal_scene.h - a program with a known answer, and experiments on it, made by arithmetic.
 *
 * Events come at a rate, at even intervals or independent of each other; the rate drifts and is
 * another one in each experiment, as asked for. An experiment begins with a look that sees an
 * event, and lasts a second, or until 20 were seen, to the next look that sees one; or just a
 * second. The others are held for half of the speed-up.
 */
#ifndef CAUSAL_SCENE_H
#define CAUSAL_SCENE_H

#include "wallsample/base/base.h"
#include "wallsample/causal/causal.h"

#define SCENE_CANDIDATES_MOST 10

struct causal_scene {
	double rate;      /* events a second, at first */
	bool independent; /* Poisson; else at even intervals */
	double scatter;   /* standard deviation of the rate of an experiment, as a part of it */
	double drift;     /* the rate at the end is 1 + drift times as high */
	bool fixed;       /* each lasts a second, in the middle of events or not */
	bool latency;     /* gains are of the time from begin to end, the rate has none */
	double sampled;   /* it is found by samples: so many seconds off, of each event */
	size_t candidates;
	const double *speedups; /* ascending, the first 0 */
	size_t speedup_count;
	size_t repeats;   /* experiments for each candidate and speed-up, and one at 0 for each */
	double (*gain)(size_t candidate, double speedup); /* the truth */
};

/* Experiments 0, s1, 0, s2 … in random order. The result is fresh. */
void causal_scene_run(const struct causal_scene *scene, struct rng *rng,
		      struct causal_result *result);

#endif
