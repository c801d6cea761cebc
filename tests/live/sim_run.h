/* SPDX-License-Identifier: MIT */
/*
 * sim_run.h - a sampler in the test itself, at work on targets/sim_tasks.c: its profile, and what
 * stacks in that are called.
 */
#ifndef LIVE_SIM_RUN_H
#define LIVE_SIM_RUN_H

#include "wallsample/recording/recording_read.h"
#include "wallsample/sampler/sampler.h"

struct sim_wish {
	double rate_hz;
	uint64_t ticks;         /* then it ends */
	double max_overhead;    /* 0: no limit */
	bool threads_only, nonblocking, records;
	bool dumps;             /* one tick, at which all threads are held */
	bool counts;            /* the runtime tells how often tasks have run */
};

struct sim_run {
	struct process *process;
	struct modules *modules;
	struct maps *maps;
	struct profile *profile;
	struct symbols *symbols;
	struct recorder *recorder; /* of a temporary recording, which is whole; or NULL */
	struct run_stats stats;
	uint64_t cpu_ns;        /* that sampling took, the beginning and the end not counted */
	struct strbuf text;
	/* While it is at work. */
	struct sampler *sampler;
	uint64_t left;
	volatile sig_atomic_t stop;
};

void sim_run(struct sim_run *run, pid_t pid, const struct sim_wish *wish);
void sim_run_release(struct sim_run *run);

/*
 * "change;red_1;red_2": outermost first, the functions of the target itself and frames that have a
 * text of their own, without those of libraries. Valid until the next call.
 */
const char *sim_run_stack(struct sim_run *run, const struct profile *profile, uint32_t stack);
/* The name of such a frame; "": it has none. Valid until the run is released. */
const char *sim_run_frame(struct sim_run *run, const struct profile *profile, uint32_t frame);

#endif
