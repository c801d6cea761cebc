/* SPDX-License-Identifier: MIT */
/*
 * bench_judge.h - what was measured, against a bound: met, missed, or not to be told
 * on a machine as unquiet as this one.
 */
#ifndef BENCH_JUDGE_H
#define BENCH_JUDGE_H

#include "bench_profile.h"
#include "bench_rows.h"

enum verdict { MET, MISSED, UNCLEAR };

/* Prints what the bound is about and the verdict, and counts it. */
void judge(struct bench *bench, enum verdict verdict, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A figure that the report should give, and must be below `bound`. */
void judge_at_most(struct bench *bench, double value, double bound, const char *what,
		   const char *unit);

/* At most 1.2 times the floor's loss, as far as the noise of both allows to say. */
void judge_against_floor(struct bench *bench, const struct summary *ours,
			 const struct summary *floor);

/* A loss that cannot be told from none. */
void judge_no_loss(struct bench *bench, const struct summary *ours);

/* A ratio that must be at least `bound`. */
void judge_share(struct bench *bench, const struct summary *ours, double bound, const char *what);

/* How long a stop takes that does nothing of its own: nobody is quicker on this machine. */
struct floor_stops {
	double median_us, p99_us;
};

/* The bounds are for an idle machine: where the floor breaks them, ours say nothing. */
void judge_stops(struct bench *bench, const struct profile_run *run,
		 const struct floor_stops *floor, double median_us, double p99_us);

#endif
