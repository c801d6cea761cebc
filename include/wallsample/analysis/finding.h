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
 *         sleep in system calls for files only, such as fsync and pread64, sleep in a page fault,
 *         and uninterruptible sleep in any call that reads, writes or changes files, such as read
 *         and openat (but not vfork or munmap)
 * QUEUE   share of the runnable time in which threads waited for a CPU
 * GIL     share of real time in which a thread held the interpreter's lock, if on average more than
 *         GIL_WAIT_LIMIT other threads waited for the lock: more threads do not make such a program
 *         faster. Not computed if several interpreters have a lock each
 * STOPPED share of the time of all threads in which a signal or a tracer had stopped them
 * LIMIT   share of real time in which the limit of a control group on CPU time had been used up
 *         (counters.throttled_ns)
 * CALLS   share of real time in which threads ran in system calls that read or write, if there are
 *         at least CALLS_LEAST of them per second, and they transfer at most CALL_BYTES_MOST bytes
 *         each on average
 * SPIN    share of the CPU time in functions that busy-wait for another thread, such as
 *         pthread_spin_lock and sched_yield
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
#include "wallsample/analysis/own_code.h"
#include "wallsample/analysis/view.h"
#include "wallsample/profile/run_stats.h"

/* X(NAME, threshold of the share) */
#define FINDINGS(X)                                                                                \
	X(CPU, 0.50)                                                                               \
	X(SERIAL, 0.25)                                                                            \
	X(LOCK, 0.10)                                                                              \
	X(IO, 0.10)                                                                                \
	X(QUEUE, 0.20)                                                                             \
	X(GIL, GIL_HELD_LIMIT)                                                                     \
	X(STOPPED, 0.10)                                                                           \
	X(LIMIT, 0.10)                                                                             \
	X(CALLS, 0.10)                                                                             \
	X(SPIN, 0.10)                                                                              \
	X(IDLE, 0.50)

/* Least number of calls in a second, and largest mean size of a transfer in bytes, of CALLS: such
 * calls cost more than what they transfer. */
#define CALLS_LEAST 1000
#define CALL_BYTES_MOST 1024

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
	 * The time of each stack is attributed to its place (own_code.h). view_function_count() if
	 * no function has any of the time.
	 */
	uint32_t function;
	double waiting; /* set for GIL only: mean number of threads that waited for the lock */
};

struct findings {
	struct finding item[FINDING_COUNT]; /* ordered by `real`, the largest first */
	size_t count;
};

/* True for a state and system call that IO counts as a wait for a file. */
bool finding_waits_for_file(enum run_state state, int32_t syscall);
/* Returns the database lock that a stack, innermost function first, waits for; NULL: none. */
const struct database_lock *finding_database_lock(const struct view *view, const uint32_t *function,
						  size_t depth);
/* True if one of the innermost functions of a stack takes a lock: a thread that sleeps in it waits
 * for that lock. The view's key must be a function, a line or an address. */
bool finding_is_in_lock(const struct view *view, const uint32_t *function, size_t depth);

/*
 * Fills `out` with the findings of the view, of which `own` has the program's functions. Of `stats`
 * these members are used: `cpus` (0 stands for the largest number of CPUs that were busy at one
 * tick), `division` for the margin of GIL, `elapsed_ns` and `work`.
 */
void findings_make(const struct view *view, const struct own *own, const struct run_stats *stats,
		   struct findings *out);

#endif
