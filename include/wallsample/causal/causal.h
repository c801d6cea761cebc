/* SPDX-License-Identifier: MIT */
/*
 * causal.h - what virtual speed-up experiments found: who was sped up, by how much, and how far the
 * program got meanwhile. causal_run.h makes it, causal_curve.h makes curves of it; recordings keep
 * it, exporters show it.
 *
 * An experiment takes one candidate, some code, and one speed-up s, the part of its time that it is
 * to be without. While a thread is in the candidate the others that run are held for s of the time;
 * the sum of that is `held_ns`. In wall_ns - held_ns, the time that would have passed if the
 * candidate really were so much faster, the program got as far as the readings say.
 *
 * A progress point counts events (THROUGHPUT), or those that began and those that ended (LATENCY).
 * By Little's law the mean time from begin to end is the mean number in progress divided by the
 * rate of ends.
 */
#ifndef WALLSAMPLE_CAUSAL_CAUSAL_H
#define WALLSAMPLE_CAUSAL_CAUSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/base/base.h"
#include "wallsample/profile/run_stats.h"

/* Most there may be of each. */
#define CAUSAL_POINTS_MOST 8
#define CAUSAL_SPEEDUPS_MOST 16
#define CAUSAL_CANDIDATES_MOST 64

/* X(NAME, word) */
#define CAUSAL_POINT_KINDS(X)                                                  \
	X(THROUGHPUT, "throughput")                                            \
	X(LATENCY, "latency")

enum causal_point_kind {
#define X(name, word) CAUSAL_##name,
	CAUSAL_POINT_KINDS(X)
#undef X
};

const char *causal_point_kind_word(enum causal_point_kind kind);
bool causal_point_kind_from_word(const char *word, enum causal_point_kind *out);

/* X(NAME, word): what chosen code is */
#define CAUSAL_UNITS(X)                                                        \
	X(FUNCTION, "function")                                                \
	X(LINE, "line")                                                        \
	X(MODULE, "module")

enum causal_unit {
#define X(name, word) CAUSAL_BY_##name,
	CAUSAL_UNITS(X)
#undef X
};

const char *causal_unit_word(enum causal_unit unit);
bool causal_unit_from_word(const char *word, enum causal_unit *out);

/* X(NAME, word): how an experiment ended. Only WHOLE ones are for curves. */
#define CAUSAL_ENDS(X)                                                         \
	X(WHOLE, "whole")                                                      \
	X(STALLED, "stalled")  /* no progress while threads were held: all were released */ \
	X(CUT, "cut short")    /* the run or the target ended; --max-hold was reached; or there was
				* a gap, or hardly any time in which others were not held */

enum causal_end {
#define X(name, word) CAUSAL_##name,
	CAUSAL_ENDS(X)
#undef X
};

const char *causal_end_word(enum causal_end end);
bool causal_end_from_word(const char *word, enum causal_end *out);

struct causal_point {
	char *name;               /* "requests"; its spec if it was given none */
	char *spec;               /* "var:requests_done" */
	enum causal_point_kind kind;
};

struct causal_candidate {
	char *name;               /* "parse", "parse.c:123", "libz.so.1" */
	char *module;             /* base name; "" if it has none */
	char *file;               /* of a function or line; NULL: not known */
	uint32_t line;            /* 0: not known */
	double share;             /* of the Latency of the profile before, in [0, 1]: with it
				   * anywhere in the stack */
	double self_share;        /* the same with it on top */
};

/* Of one progress point in one experiment. */
struct causal_reading {
	double count;             /* events; of LATENCY those that ended */
	double in_progress_ns;    /* LATENCY: sum over wall_ns - held_ns of how many were in
				   * progress; made of samples, so that next to nothing may be
				   * below 0; else 0 */
};

struct causal_experiment {
	uint32_t candidate;
	double speedup;           /* in [0, 1]; 0: nobody was held, to compare with */
	uint64_t began_ns;        /* since the experiments began */
	/* held_ns has the moments in which all stood still to be looked at, too, so that it is not
	 * 0 at a speed-up of 0. It is less than wall_ns, but of one that is not WHOLE. */
	uint64_t wall_ns, held_ns;
	uint64_t ticks, chosen;   /* looks at the threads; those that found the candidate running */
	enum causal_end end;
	struct causal_reading reading[CAUSAL_POINTS_MOST]; /* one for each point */
};

/* All owned; causal_result_release frees it. */
struct causal_result {
	struct causal_point point[CAUSAL_POINTS_MOST];
	size_t point_count;
	struct causal_candidate *candidate;
	size_t candidate_count;
	double speedup[CAUSAL_SPEEDUPS_MOST]; /* ascending; the first is 0 */
	size_t speedup_count;
	struct causal_experiment *experiment; /* in the order of time */
	size_t experiment_count, experiment_capacity;

	/* How they were made. */
	enum causal_unit unit;
	bool self;                /* only the innermost function of a stack counts */
	uint64_t tick_ns;         /* mean time between looks */
	uint64_t experiment_ns;   /* wanted length of one */
	double precision;         /* wanted half width of intervals of gains: 0.02 */
	double max_hold;          /* most of the run in which others may be held, in [0, 1] */

	/* What it was made of, and what it cost. */
	pid_t pid;
	char *command;            /* of the target: its name */
	uint64_t started_ns;      /* CLOCK_REALTIME; 0: not known */
	uint64_t wall_ns, held_ns; /* of all experiments */
	uint64_t profile_ns;      /* length of the profile before them; 0: there was none */
	uint64_t stops;           /* of threads */
	uint64_t late_ticks;      /* looks that came later than half a tick */
	uint64_t unheld;          /* threads that waited for a CPU when they were to be held */
	double runnable;          /* mean number of runnable threads at a look */
	unsigned cpus;            /* that the target may use; 0: not known */
	uint64_t own_cpu_ns;      /* CPU time of wallsample's own */
	struct run_excluded excluded; /* threads left out of the experiments by their names */
	bool target_gone;         /* it ended or called exec before the experiments were over */
};

void causal_result_init(struct causal_result *result);
void causal_result_release(struct causal_result *result);
/* Texts are copied; module and file may be NULL. Returns its number. */
uint32_t causal_result_add_candidate(struct causal_result *result, const char *name,
				     const char *module, const char *file, uint32_t line);
/* False: there are CAUSAL_POINTS_MOST. */
bool causal_result_add_point(struct causal_result *result, const char *name, const char *spec,
			     enum causal_point_kind kind);
/* A zeroed one; valid until the next is added. */
struct causal_experiment *causal_result_add_experiment(struct causal_result *result);

#endif
