/* SPDX-License-Identifier: MIT */
/*
 * hold_late_internal.h - when those that were let go really went on. A thread that stood still
 * has to get a CPU, which may have to be woken, or which we have while we look: 20 to 100 us a
 * tick. So much longer it was held, and so much shorter ran who went on at once. Its CPU time
 * tells, where there is a schedstat; where not, nothing is known, and all means are 0.
 */
#ifndef WALLSAMPLE_SAMPLER_HOLD_HOLD_LATE_INTERNAL_H
#define WALLSAMPLE_SAMPLER_HOLD_HOLD_LATE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sampler;

/* What a tick did with a thread that it had caught. */
enum hold_role {
	HOLD_NONE,
	HOLD_HELD,
	HOLD_GOES, /* at once */
	HOLD_ROLES
};

/* How it stood then; a part of struct tracked. */
struct hold_mark {
	enum hold_role role;
	uint32_t tick;
	uint64_t cpu_ns, switches; /* struct sched */
	bool waits;                /* at the last look it slept for what another thread does */
};

/* Of so many threads that a tick has caught the CPU time is read while all stand still, and of so
 * many that go on at once. */
#define HOLD_MARKS 4

/* What became of a thread of the last tick until it was stopped at this one. */
struct hold_run {
	double between_ns; /* from when its CPU time was read then until now: of that */
	double stopped_ns; /* it stood while the last tick decided and this one stopped it, */
	double held_ns;    /* besides it was held, */
	double cpu_ns;     /* had a CPU, */
	uint64_t switches; /* and was scheduled in so often */
};

/* How much longer than was told it stood, or shorter: below 0. False: it cannot be told, because it
 * has slept, or others had the CPUs. `tick_ns`: the mean time between ticks. */
bool hold_late_stood(const struct hold_run *run, double tick_ns, double *late_ns);

struct hold_late {
	uint64_t read_ns, last_read_ns; /* when CPU times were, at this tick and at the last one */
	pid_t goes[HOLD_MARKS]; /* those that went on at once at the last tick, if so few */
	size_t goes_count;
	struct {
		double sum_ns;
		size_t count;
	} role[HOLD_ROLES];     /* what hold_late_stood says of those that ran on until now */
};

/* All stand still: what has become of those that were caught at the last tick. */
void hold_late_see(struct sampler *sampler);
/* In the mean, in ns; 0: nothing is known. */
double hold_late_mean(const struct hold_late *late, enum hold_role role);
/* Others were held for so long: for how much of it somebody ran that had gone on at once. Less only
 * if all of those sleep now, for what a thread does that was held. */
double hold_late_used(struct sampler *sampler, double told_ns);
/* It is decided who goes on at once. */
void hold_late_mark(struct sampler *sampler, bool holds);

#endif
