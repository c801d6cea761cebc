/* SPDX-License-Identifier: MIT */
/*
 * sampler_internal.h - the driver: sampler.c runs ticks from the beginning to the end of a run,
 * tick.c runs one tick. Only the files that include this header use struct sampler; a stage or
 * consumer gets struct run, and the context of its own if it has one.
 */
#ifndef WALLSAMPLE_SAMPLER_SAMPLER_INTERNAL_H
#define WALLSAMPLE_SAMPLER_SAMPLER_INTERNAL_H

#include "sampler/hold/hold_internal.h"
#include "sampler/pipeline_internal.h"
#include "sampler/priority_internal.h"

struct sampler {
	struct run run;
	struct priority priority;
	/* Contexts of those stages and consumers that exist once per run; struct sampled_process
	 * has those that exist once per process. */
	struct unwinding unwinding;
	struct charging charging;
	struct hold hold;
	struct deadlocks deadlocks;
	/* Buffer for the observations of a tick. */
	struct observation *observation;
	size_t observation_capacity;
	uint64_t cpu_began_ns; /* CPU time of the target when the run began; UINT64_MAX: unknown */
	uint64_t own_cpu_began_ns; /* CPU time of wallsample when the run began */
	bool runs;                 /* sampler_run has begun and not yet returned */
};

/* Runs one tick; `last`: no other follows. Returns false if the target has exited. */
bool tick_run(struct sampler *sampler, bool last);
/* Reads the processes, and notes an exec. Returns false if the target has exited. */
bool tick_read_processes(struct sampler *sampler);
/* Lists the threads again, and removes those that have exited from the list. */
void tick_list_threads(struct sampler *sampler);
/* Reads the language runtimes, and notes the threads that they have found. */
void tick_read_runtimes(struct sampler *sampler, uint64_t now);
/* Removes all threads from the list. */
void tick_remove_threads(struct sampler *sampler);

#endif
