/* SPDX-License-Identifier: MIT */
/*
 * causal.h - the result of virtual speed-up experiments: for each experiment the candidate, its
 * speed-up, and the progress of the program. causal_run.h makes the result, causal_curve.h computes
 * curves from it, recordings contain it, and exporters show it.
 *
 * An experiment has one candidate (a function, a source line or a module) and one speed-up s, the
 * part of the candidate's time that is removed virtually. At each tick the sampler stops and
 * unwinds all running threads (sampler_control.h). While a thread executes the candidate, the other
 * running threads are held (kept stopped) for the share s of the time; held_ns is the time for
 * which threads were held. The virtual time, wall_ns - held_ns, is the time that would have passed
 * if the candidate were faster by s. The readings (struct causal_reading) are the progress that the
 * program made during the experiment.
 *
 * A progress point counts events (THROUGHPUT), or begins and ends of events (LATENCY). By Little's
 * law the mean time from begin to end is the mean number of events in progress divided by the rate
 * of ends.
 */
#ifndef WALLSAMPLE_CAUSAL_CAUSAL_H
#define WALLSAMPLE_CAUSAL_CAUSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/base/base.h"
#include "wallsample/profile/run_stats.h"

/* Largest numbers of progress points, speed-ups and candidates of a result. */
#define CAUSAL_POINTS_MOST 8
#define CAUSAL_SPEEDUPS_MOST 16
#define CAUSAL_CANDIDATES_MOST 64

/* X(NAME, word): the kinds of progress points that are described above. `word` names the kind in
 * recordings and in exported files. */
#define CAUSAL_POINT_KINDS(X)                                                                      \
	X(THROUGHPUT, "throughput")                                                                \
	X(LATENCY, "latency")

enum causal_point_kind {
#define X(name, word) CAUSAL_##name,
	CAUSAL_POINT_KINDS(X)
#undef X
};

/* Each function *_word returns the word of a value. Each function *_from_word stores the value that
 * has the word, and returns false if there is none. */
const char *causal_point_kind_word(enum causal_point_kind kind);
bool causal_point_kind_from_word(const char *word, enum causal_point_kind *out);

/* X(NAME, word): what a candidate may be */
#define CAUSAL_UNITS(X)                                                                            \
	X(FUNCTION, "function")                                                                    \
	X(LINE, "line")                                                                            \
	X(MODULE, "module")

enum causal_unit {
#define X(name, word) CAUSAL_BY_##name,
	CAUSAL_UNITS(X)
#undef X
};

const char *causal_unit_word(enum causal_unit unit);
bool causal_unit_from_word(const char *word, enum causal_unit *out);

/* X(NAME, word): how an experiment ended. Only WHOLE experiments are used for curves. */
#define CAUSAL_ENDS(X)                                                                             \
	X(WHOLE, "whole")                                                                          \
	X(STALLED, "stalled") /* above speed-up 0, the first point had no event for a long time */ \
	X(CUT, "cut short")   /* the run or the target ended; --max-hold was reached; no tick was
				* made for a long time; or threads were held nearly all the time */

enum causal_end {
#define X(name, word) CAUSAL_##name,
	CAUSAL_ENDS(X)
#undef X
};

const char *causal_end_word(enum causal_end end);
bool causal_end_from_word(const char *word, enum causal_end *out);

struct causal_point {
	char *name; /* "requests"; the spec if no name was given */
	char *spec; /* "var:requests_done" */
	enum causal_point_kind kind;
};

struct causal_candidate {
	char *name;    /* "parse", "parse.c:123", "libz.so.1" */
	char *module;  /* base name of the file that has the code; "" if it is not known */
	char *file;    /* source file of a function or of a line; NULL: not known */
	uint32_t line; /* 0: not known */
	/* Share of the preceding profile's Latency (a weight of samples, profile.h) with the
	 * candidate anywhere in the stack, in [0, 1]. */
	double share;
	/* Share of the Latency with the candidate as the leaf of the stack, in [0, 1]. */
	double self_share;
};

/* The reading of one progress point in one experiment. */
struct causal_reading {
	double count; /* number of events; LATENCY: number of ends */
	/* LATENCY: integral over the virtual time, in ns, of the number of events in progress. The
	 * integral is estimated from samples, and may therefore be slightly below 0. THROUGHPUT:
	 * 0. */
	double in_progress_ns;
};

struct causal_experiment {
	uint32_t candidate;
	/* In [0, 1]; 0: an experiment for comparison, in which no thread was held longer than the
	 * stops at ticks take. */
	double speedup;
	/* When its settling time (causal_run.h) ended, as a time since the first experiment
	 * began. */
	uint64_t began_ns;
	/* wall_ns is the duration. held_ns is the time for which threads were held; it includes the
	 * stops of all threads at ticks, and is therefore above 0 even at a speed-up of 0. It is
	 * less than wall_ns if the experiment is WHOLE. */
	uint64_t wall_ns, held_ns;
	uint64_t ticks;
	uint64_t chosen; /* number of ticks that found the candidate running */
	enum causal_end end;
	struct causal_reading reading[CAUSAL_POINTS_MOST]; /* one reading for each point */
};

/* All pointers are owned; causal_result_release frees them. */
struct causal_result {
	struct causal_point point[CAUSAL_POINTS_MOST];
	size_t point_count;
	struct causal_candidate *candidate;
	size_t candidate_count;
	double speedup[CAUSAL_SPEEDUPS_MOST]; /* ascending; the first is 0 */
	size_t speedup_count;
	struct causal_experiment *experiment; /* in chronological order */
	size_t experiment_count, experiment_capacity;

	/* Settings of the experiments. */
	enum causal_unit unit;
	/* Only the leaf of a stack and its innermost interpreted function are compared with
	 * candidates, not the functions that called them. */
	bool self;
	uint64_t tick_ns; /* mean time between ticks */
	/* Length of the target's bursts in ns, measured before the experiments: a tenth of the CPU
	 * time is in bursts of this length or shorter. 0: not known, or one thread used at least
	 * 90 % of the CPU time (burst_summary.burst_ns, bursts.h). */
	uint64_t burst_ns;
	uint64_t experiment_ns; /* requested length of an experiment, settling time excluded */
	/* Requested half width of the 95 % confidence intervals of gains (causal_curve.h); 0.02 is
	 * 2 percentage points. */
	double precision;
	/* Largest permitted share of held time in the time of the preceding profile and the run
	 * together, in [0, 1]. */
	double max_hold;

	/* The target, and the cost of the experiments. */
	pid_t pid;
	char *command;       /* name of the target's program */
	uint64_t started_ns; /* start of the run, by CLOCK_REALTIME; 0: not known */
	/* Time from the beginning of the first experiment to the last tick, settling times
	 * (causal_run.h) included, and the part of this time for which threads were held. */
	uint64_t wall_ns, held_ns;
	uint64_t profile_ns; /* length of the preceding profile; 0: there was none */
	uint64_t stops;      /* number of stacks that were read in a stop of their thread */
	/* Number of ticks that came more than half of tick_ns after the longest planned interval
	 * between ticks (CAUSAL_SPREAD, causal_run.h). */
	uint64_t late_ticks;
	/* Sum over ticks of the number of threads that were to be held but were not: they did not
	 * stop in time, or were not stopped because of a recent stop (tick_snapshot.missed,
	 * sampler_control.h). */
	uint64_t unheld;
	double runnable;              /* mean number of runnable threads at a tick */
	unsigned cpus;                /* number of CPUs that the target may use; 0: not known */
	uint64_t own_cpu_ns;          /* CPU time of wallsample itself */
	struct run_excluded excluded; /* threads excluded from the experiments by their names */
	/* True if, before the experiments ended, the target ended or called exec, or its progress
	 * could no longer be read. */
	bool target_gone;
};

void causal_result_init(struct causal_result *result);
void causal_result_release(struct causal_result *result);
/* Adds a candidate and returns its index in result->candidate. Texts are copied; `module` and
 * `file` may be NULL if they are not known. */
uint32_t causal_result_add_candidate(struct causal_result *result, const char *name,
				     const char *module, const char *file, uint32_t line);
/* Adds a progress point; texts are copied. False: there are CAUSAL_POINTS_MOST already. */
bool causal_result_add_point(struct causal_result *result, const char *name, const char *spec,
			     enum causal_point_kind kind);
/* Appends an experiment, all zero, and returns it; the pointer is valid until the next one is
 * added. */
struct causal_experiment *causal_result_add_experiment(struct causal_result *result);

#endif
