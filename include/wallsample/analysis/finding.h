/* SPDX-License-Identifier: MIT */
/*
 * finding.h - what limits a program, in a word: the rules behind the summary of a report.
 *
 * Each rule is a share, its threshold stands beside it. A finding is one whose share, less its
 * margin of error (margin.h), still reaches the threshold: noise finds nothing.
 *
 * CPU     real time in which all CPUs that the program may use were busy with it
 * SERIAL  real time in which one thread ran alone, although there is more than one CPU and no
 *         other waited for one
 * LOCK    of the time in which threads had work (ran, could run, wanted a lock), the part in
 *         which they waited for a lock: asleep below a function that takes one. Workers
 *         without work, who wait on a condition, do not count
 * IO      real time in which nobody could run until a file or disk had answered: sleeps that
 *         signals do not end, and calls that read, write or sync files
 * QUEUE   of the time in which threads could run, the part in which they waited for a CPU
 * GIL     real time in which a thread had the interpreter's lock, if enough others waited for it
 *         meanwhile (GIL_WAIT_LIMIT): a program that more threads do not make faster
 * IDLE    real time in which nobody could run, and waited for something else: replies, timers,
 *         events. The program has nothing to do
 *
 * Real time is Latency, and time with so many threads on a CPU is of the parallelism histogram.
 * The histogram is of the whole process, so the view has to be one of all samples.
 */
#ifndef WALLSAMPLE_ANALYSIS_FINDING_H
#define WALLSAMPLE_ANALYSIS_FINDING_H

#include <stddef.h>
#include <stdint.h>

#include "wallsample/analysis/gil_table.h"
#include "wallsample/analysis/view.h"

/* X(NAME, threshold) */
#define FINDINGS(X)                                                            \
	X(CPU, 0.50)                                                           \
	X(SERIAL, 0.25)                                                        \
	X(LOCK, 0.10)                                                          \
	X(IO, 0.10)                                                            \
	X(QUEUE, 0.20)                                                         \
	X(GIL, GIL_HELD_LIMIT)                                                 \
	X(IDLE, 0.50)

enum finding_kind {
#define X(name, threshold) FINDING_##name,
	FINDINGS(X)
#undef X
	FINDING_COUNT
};

struct finding {
	enum finding_kind kind;
	double share, margin;
	uint32_t function;   /* where most of it was; view_function_count if nowhere */
	double waiting;      /* GIL: threads that waited for it, on average */
};

struct findings {
	struct finding item[FINDING_COUNT]; /* the largest share first */
	size_t count;
};

/* `cpus` that the program may use; 0 when it is not known: then the most that were seen. */
void findings_make(const struct view *view, unsigned cpus, struct findings *out);

/* The threshold of a kind. */
double finding_threshold(enum finding_kind kind);

/* Is it, innermost first, a stack that waits for a lock, an interpreter's included? */
bool finding_waits_for_lock(const struct view *view, const struct view_row *row);

#endif
