/* SPDX-License-Identifier: MIT */
/*
 * causal_scene.h - simulates experiments on a program whose gains are known.
 *
 * The program has events, at even intervals or independent of each other. Their rate drifts during
 * the run and differs between experiments, as the scene demands. An experiment begins when an event
 * is noticed. It lasts until the first event that is noticed after a second and after 20 events;
 * with `fixed`, it lasts exactly a second. The threads that do not run the candidate are held for a
 * share of the time that is half of the speed-up.
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
	double drift;     /* the rate at the end is 1 + drift times the rate at the beginning */
	bool fixed;       /* an experiment lasts a second, even if it ends between two events */
	bool latency;     /* gains shorten the time from begin to end; the rate does not change */
	/* standard deviation in s of the sampled latency of one event; 0: latencies are exact */
	double sampled;
	size_t candidates;
	const double *speedups; /* in ascending order, the first is 0 */
	size_t speedup_count;
	/* number of experiments for each candidate and speed-up; each has one more at speed-up 0 */
	size_t repeats;
	/* returns the true gain of a candidate, as a share of the rate or latency */
	double (*gain)(size_t candidate, double speedup);
};

/* Adds experiments to *result: one at each speed-up above 0, in random order, each after one at
 * speed-up 0. */
void causal_scene_run(const struct causal_scene *scene, struct rng *rng,
		      struct causal_result *result);

#endif
