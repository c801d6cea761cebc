/* SPDX-License-Identifier: MIT */
/*
 * bench_profile.h - one run of wallsample: what it says about itself, and what the
 * kernel says about it.
 */
#ifndef BENCH_PROFILE_H
#define BENCH_PROFILE_H

#include "bench_tool.h"

#define PROFILE_UNKNOWN (-1.0) /* the report does not say */

struct profile_run {
	bool finished;        /* it ended by itself with status 0 or 1 */
	/* from its report */
	double rate;          /* ticks a second, reached */
	double own_cpu;       /* percent of one CPU */
	double stop_median_us, stop_p99_us;
	double unwind_ns;     /* a frame */
	/* from the kernel */
	double cpu;           /* percent of one CPU, start and report included */
	double cpu_steady;    /* the same from one second after the start on */
	double peak_kib;      /* largest resident set */
	double early_kib, late_kib; /* resident at a quarter of the run, and at its end */
};

/*
 * The first group of the extended regular expression in the text as a number, times
 * `unit`; PROFILE_UNKNOWN when the text has no such place.
 */
double find_number(const char *text, const char *pattern, double unit);

/* Runs `words` with -d `seconds` and -v; `words` names pid and rate. */
void profile_run(const struct words *words, double seconds, struct profile_run *run);

#endif
