/* SPDX-License-Identifier: MIT */
/* pending_internal.h - samples of a tick that have no stack yet: what they are captured with. */
#ifndef WALLSAMPLE_SAMPLER_PENDING_INTERNAL_H
#define WALLSAMPLE_SAMPLER_PENDING_INTERNAL_H

#include "sampler/charge_internal.h"
#include "wallsample/runtime/runtime.h"
#include "wallsample/tracer/tracer.h"

struct tracked;

struct sampler;

/* What is read while a thread stands still, besides its stack. */
struct in_stop {
	struct sampler *sampler;
	struct tracked *thread;
	struct runtime_capture *capture;
};

/* A sample of this tick that has no stack yet, and the snapshot it will come from. */
struct pending {
	struct tracked *thread;
	int64_t samples, weight_ns;
	uint64_t looked_ns;     /* when its counters were read last */
	struct syscall_info info;
	enum run_state state;
	bool moved;             /* a sleeper that ran before all threads were held */
	/* Of one that is late: what the ticks since the first add, by what it did then. */
	struct late_part {
		int64_t samples, weight_ns;
	} part[RUN_STATE_COUNT];
	enum run_state part_state; /* at the last of them */
	struct late_charge charge;
	struct sched latest;       /* counters at the last of them */
	struct stop_request *request; /* its buffers are kept from tick to tick */
	struct runtime_capture *capture; /* likewise; NULL: no runtime is looked for */
	struct in_stop *in_stop; /* likewise: for the request */
};

struct batch {
	struct pending *pending;
	size_t count, capacity;
};

struct pending *batch_add(struct sampler *sampler, struct batch *batch, struct tracked *thread,
			  int64_t samples, int64_t weight_ns);
/* What a batch keeps for each: it is made, and freed. */
void pending_create(struct sampler *sampler, struct pending *pending);
void pending_free(struct pending *pending);
void batch_release(struct batch *batch);

#endif
