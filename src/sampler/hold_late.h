/* SPDX-License-Identifier: MIT */
/*
 * hold_late.h - when those that were let go really went on. A thread that stood still has to get a
 * CPU, which may have to be woken, or which we have while we look: 20 to 100 us a tick. So much
 * longer it was held, and so much shorter ran who went on at once. Its CPU time tells.
 */
#ifndef WALLSAMPLE_SAMPLER_HOLD_LATE_H
#define WALLSAMPLE_SAMPLER_HOLD_LATE_H

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
	uint64_t cpu_ns; /* struct sched */
};

/* Of so many threads the CPU time is read at a tick, while all stand still: 1 us each. */
#define HOLD_MARKS 4

struct hold_late {
	uint64_t read_ns, last_read_ns; /* when it was, at this tick and at the last one */
	pid_t goes[HOLD_MARKS]; /* those that went on at once at the last tick, if so few */
	size_t goes_count;
	/* Of those of each role that ran on until this tick: how much longer they stood still than
	 * was told. */
	struct {
		double sum_ns;
		size_t count;
	} role[HOLD_ROLES];
};

/* All stand still: what has become of those that were caught at the last tick. */
void hold_late_see(struct sampler *sampler);
/* In the mean, in ns; 0: nothing is known. */
double hold_late_mean(const struct hold_late *late, enum hold_role role);
/* For so much of that time somebody ran that had gone on at once. */
double hold_late_used(struct sampler *sampler, double told_ns);
/* It is decided who goes on at once. */
void hold_late_mark(struct sampler *sampler, bool holds);

#endif
