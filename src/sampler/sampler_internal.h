/* SPDX-License-Identifier: MIT */
/*
 * sampler_internal.h - the driver: sampler.c runs ticks from the beginning to the end of a run,
 * tick.c runs one tick. Only these two use struct sampler; stages and consumers get contexts.
 */
#ifndef WALLSAMPLE_SAMPLER_SAMPLER_INTERNAL_H
#define WALLSAMPLE_SAMPLER_SAMPLER_INTERNAL_H

#include "sampler/hold/hold_internal.h"
#include "sampler/pace_internal.h"
#include "sampler/pipeline_internal.h"
#include "sampler/priority_internal.h"
#include "wallsample/sampler/sampler.h"

struct sampler {
	struct sampler_config config;
	struct sampler_context context;
	/* Values that stages and consumers share. */
	struct tick tick;
	struct process_list processes;
	struct thread_list threads;
	struct late_stops late_stops;
	struct thread_records records;
	struct rng rng;
	struct pace pace;
	struct priority priority;
	/* Contexts of the stages. */
	struct selection selection;
	struct observer observer;
	struct capturer capturer;
	struct unwinding unwinding;
	struct attribution attribution;
	struct late_stage late;
	/* Contexts of the consumers; waits and green tasks belong to their process. */
	struct charging charging;
	struct hold hold;
	struct deadlocks deadlocks;
	struct coroutines coroutines;
	/* The observations of a tick; kept from tick to tick. */
	struct observation *observation;
	size_t observation_capacity;
	uint64_t began_ns;         /* CLOCK_MONOTONIC when the run began */
	uint64_t cpu_began_ns;     /* CPU time of the target at that time; UINT64_MAX: unknown */
	uint64_t own_cpu_began_ns; /* CPU time of wallsample at that time */
	bool runs;                 /* sampler_run has begun and not yet returned */
	struct run_stats stats;
};

/* Runs one tick; `last`: no other follows. Returns false if the target has exited. */
bool tick_run(struct sampler *sampler, bool last);
/* Reads the processes, and notes an exec. Returns false if the target has exited. */
bool tick_read_processes(struct sampler *sampler);
/* Lists the threads again, and removes those that have exited. */
void tick_list_threads(struct sampler *sampler);
/* Reads the language runtimes, and notes the threads that they have found. */
void tick_read_runtimes(struct sampler *sampler, uint64_t now);
/* Removes all threads. */
void tick_remove_threads(struct sampler *sampler);

#endif
