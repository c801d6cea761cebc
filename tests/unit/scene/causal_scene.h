/* SPDX-License-Identifier: MIT */
/*
 * causal_scene.h - simulates experiments on a program whose gains are known.
 *
 * The program has events, at even intervals or independent of each other. Their rate drifts during
 * the run and differs between experiments, as the scene demands. An experiment begins when an event
 * is noticed. It lasts until the first event that is noticed after a second and after 20 events;
 * with `fixed`, just a second. The other threads are held for half of the speed-up.
 */
#ifndef CAUSAL_SCENE_H
#define CAUSAL_SCENE_H

#include "wallsample/base/base.h"
#include "wallsample/causal/causal.h"

#define SCENE_CANDIDATES_MOST 10

struct causal_scene {
	double rate;      /* events per second at the beginning */
	bool independent; /* events are a Poisson process; else they come at even intervals */
	double scatter;   /* standard deviation of the rates of experiments, divided by the rate */
	double drift;     /* the rate at the end is 1 + drift times that at the beginning */
	bool fixed;       /* an experiment lasts a second, even if it ends between two events */
	bool latency;     /* gains shorten the time from begin to end; the rate does not change */
	double sampled;   /* latencies are sampled: standard deviation of that of one event, in s */
	size_t candidates;
	const double *speedups; /* ascending, the first 0 */
	size_t speedup_count;
	size_t repeats;   /* experiments for each candidate and speed-up, each with one at 0 */
	double (*gain)(size_t candidate, double speedup); /* the true gain */
};

/* Adds experiments with the speed-ups 0, s1, 0, s2 … in random order to *result. */
void causal_scene_run(const struct causal_scene *scene, struct rng *rng,
		      struct causal_result *result);

#endif
