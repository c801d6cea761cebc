/* SPDX-License-Identifier: MIT */
/*
 * weights_scene.h - a run of the sampler without a target: threads with given samples and given
 * counters of the kernel, whose windows the sampler's own code calibrates (weights_internal.h).
 *
 * The samples of a thread in a window are a text with one letter for each tick:
 *
 *	a to z  on a CPU, in the function of this name: the stack is start;main;work;a
 *	A to Z  waiting for a CPU, in the function of the same name in lower case
 *	-       asleep in the function "sleep"
 *	+       woken from this sleep, waiting for a CPU
 *	.       no sample
 *
 * A text that is shorter than the longest one of the window is continued with '.'.
 */
#ifndef TEST_WEIGHTS_SCENE_H
#define TEST_WEIGHTS_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include "sampler/threads_internal.h"

#define WEIGHTS_THREADS 4
#define WEIGHTS_SPAN_NS ((int64_t)(10 * NS_PER_MS)) /* of a tick */

struct weights_scene {
	struct run run;
	struct charging charging;
	struct calibration calibration;
	struct sampled_process process;
	struct sampled_thread thread[WEIGHTS_THREADS]; /* all of the name "worker" */
	struct sampled_thread *list[WEIGHTS_THREADS];
};

/* What the next reading of the machine's time returns; zeroed by weights_scene_begin. */
extern struct machine_time weights_scene_machine_time;

/* Starts a run with the first `threads` threads on two CPUs. To be released with weights_scene_end.
 * `change`: called before the run starts, to change its configuration; NULL: not called. */
void weights_scene_begin(struct weights_scene *scene, size_t threads,
			 void (*change)(struct run *run));
void weights_scene_end(struct weights_scene *scene);
/* Adds to the counters of a thread: milliseconds on a CPU and waiting for one. */
void weights_scene_count(struct weights_scene *scene, size_t thread, int64_t cpu_ms,
			 int64_t delay_ms);
/* Adds the samples of ticks to the present window; `samples` has one text for each thread. */
void weights_scene_tick(struct weights_scene *scene, const char *const *samples);
/* The same, then ends the window. `last`: the run ends. */
void weights_scene_window(struct weights_scene *scene, const char *const *samples, bool last);
/* Ends the window of a thread, and removes the thread, which must be the last one of the list. */
void weights_scene_remove(struct weights_scene *scene);

/* Returns the sum of a weight, in ns, over all entries of the profile with this state and this
 * leaf. thread: index; -1: any. state: RUN_STATE_COUNT: any. leaf: NULL: any. */
int64_t weights_scene_sum(struct weights_scene *scene, int thread, enum run_state state,
			  const char *leaf, enum weight weight);

#endif
