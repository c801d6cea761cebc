/* SPDX-License-Identifier: MIT */
/*
 * finding.h - the rules that decide what limits a program, for the summary of a report.
 *
 * Each rule computes a share of time and has a threshold (FINDINGS). The rule yields a finding if
 * the share minus its margin of error (margin.h) reaches the threshold, and if the real time that
 * the finding stands for, less its own margin, is at least FINDING_REAL_LIMIT of all real time: a
 * large share of a time that is short itself limits nothing.
 *
 * CPU     share of real time in which the program used all CPUs that it may use
 * SERIAL  share of real time in which exactly one thread ran, although the program may use more
 *         than one CPU and no other thread waited for a CPU
 * LOCK    time in which threads waited for a lock, as a share of the time in which they ran, waited
 *         for a CPU, or waited for a lock. A thread waits for a lock if it is not runnable and one
 *         of its six innermost functions acquires a lock. Waits for an interpreter's lock are part
 *         of the waits only if GIL is no finding. Idle workers, which wait on a condition, do not
 *         count
 * IO      share of real time in which no thread was runnable until a file or disk had answered:
 *         sleep in system calls for files only, such as fsync and pread64, and uninterruptible
 *         sleep in a page fault or in any call that reads, writes or changes files, such as read
 *         and openat (but not vfork or munmap)
 * QUEUE   share of the runnable time in which threads waited for a CPU
 * GIL     share of real time in which a thread held the interpreter's lock, if on average more than
 *         GIL_WAIT_LIMIT other threads waited for the lock: more threads do not make such a program
 *         faster. Not computed if several interpreters have a lock each
 * IDLE    share of real time in which no thread was runnable until something other than a file or
 *         disk had answered, such as a peer or a timer. The program has nothing to do
 *
 * The real time that a finding stands for is its share if that is a share of real time. For LOCK
 * and QUEUE it is the time of the waiting threads: for LOCK at most all real time, for QUEUE at
 * most the real time in which a thread was runnable.
 *
 * Real time is WEIGHT_LATENCY. The time with n threads on a CPU comes from profile_parallelism(),
 * which covers the whole process, so the view must select all samples.
 */
#ifndef WALLSAMPLE_ANALYSIS_FINDING_H
#define WALLSAMPLE_ANALYSIS_FINDING_H

#include <stddef.h>
#include <stdint.h>

#include "wallsample/analysis/gil_table.h"
#include "wallsample/analysis/view.h"

/* X(NAME, threshold of the share) */
#define FINDINGS(X)                                                                                \
	X(CPU, 0.50)                                                                               \
	X(SERIAL, 0.25)                                                                            \
	X(LOCK, 0.10)                                                                              \
	X(IO, 0.10)                                                                                \
	X(QUEUE, 0.20)                                                                             \
	X(GIL, GIL_HELD_LIMIT)                                                                     \
	X(IDLE, 0.50)

/* Least part of all real time that a finding stands for. */
#define FINDING_REAL_LIMIT 0.10

enum finding_kind {
#define X(name, threshold) FINDING_##name,
	FINDINGS(X) FINDING_COUNT
#undef X
};

struct finding {
	enum finding_kind kind;
	double share, margin; /* from 0 to 1 */
	double real;          /* real time that it stands for, as a share of all; from 0 to 1 */
	/*
	 * Id in the view of the function with the largest part of the time that `share` measures.
	 * The time of each stack is attributed to one of its functions, in general the innermost
	 * function of the program itself. view_function_count() if no function has any of the time.
	 */
	uint32_t function;
	double waiting; /* set for GIL only: mean number of threads that waited for the lock */
};

struct findings {
	struct finding item[FINDING_COUNT]; /* ordered by `real`, the largest first */
	size_t count;
};

/*
 * Fills `out` with the findings of the view. `cpus` is the number of CPUs that the program may use;
 * 0 stands for the largest number of CPUs that were busy at one tick. `division`: how samples have
 * divided the CPU time of the run (run_stats.h), which the margin of GIL needs; NULL: not known.
 */
void findings_make(const struct view *view, unsigned cpus, const struct run_division *division,
		   struct findings *out);

#endif
