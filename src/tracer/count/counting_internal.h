/* SPDX-License-Identifier: MIT */
/* counting_internal.h - the threads that stay seized while their tracer counts (tracer_count.h),
 * and their breakpoints. */
#ifndef WALLSAMPLE_TRACER_COUNT_COUNTING_INTERNAL_H
#define WALLSAMPLE_TRACER_COUNT_COUNTING_INTERNAL_H

#include <signal.h>

#include "tracer/tracer_internal.h"
#include "wallsample/tracer/tracer_count.h"

/* --- breakpoint_ARCH.c -------------------------------------------------------------------- */

struct breakpoints {
	uint64_t address[TRACER_COUNT_MOST];
	size_t count;
};

/* Sets the breakpoints in a stopped thread. Returns 0 or the error number: ENOSPC when another
 * program uses the breakpoint registers or the processor has fewer, EINVAL for an impossible
 * address, ESRCH when the thread was killed in its stop. */
int breakpoints_set(pid_t tid, const struct breakpoints *breakpoints);

/* Clears all breakpoints of a stopped thread. Returns 0 or the error number; ESRCH: the thread was
 * killed in its stop. Makes only system calls, and so may be called by a signal handler. */
int breakpoints_clear(pid_t tid);

/*
 * Returns true if the signal is that of a breakpoint of the thread, whose address is si_addr. The
 * thread has stopped for the signal, or the signal is pending for it. No process can send a signal
 * with such a si_code to another process. Makes only system calls, and so may be called by a signal
 * handler.
 */
bool breakpoint_is_hit(pid_t tid, const siginfo_t *info);

/*
 * True on architectures where a thread that is resumed at a breakpoint hits it again, so that it
 * has to be stepped over it. False on x86-64, where the kernel sets the resume flag, and keeps it
 * across signal handlers (since Linux 3.11).
 */
extern const bool breakpoint_needs_step;

/* Prepares a thread that has stopped for such a signal to be resumed: sets its resume flag if the
 * kernel has not set it. No effect if breakpoint_needs_step is true. */
void breakpoint_pass(pid_t tid, const siginfo_t *info);

struct breakpoint_place {
	uint64_t pc, sp;
};

/* Reads program counter and stack pointer of a stopped thread. Returns false if it was killed. */
bool breakpoint_find_place(pid_t tid, struct breakpoint_place *out);

/* --- counting.c: stops of a tracer that counts (tracer_count.h) ------------------------------ */

struct tracee {
	pid_t tid;
	bool set; /* the breakpoints are set in the thread */
	/* the thread steps over a breakpoint; all its breakpoints are cleared meanwhile */
	bool stepping;
	/*
	 * Address of a breakpoint that was hit just before a signal handler began, and the stack
	 * pointer at the hit: when the handler returns, the breakpoint is hit again there. again_pc
	 * is 0 if there is none.
	 */
	uint64_t again_pc, again_sp;
};

/* The threads that stay seized, in ascending order of their ids. A set whose bytes are all zero is
 * empty. */
struct tracees {
	struct tracee *item;
	size_t count, capacity;
	struct tracer_load *load; /* borrowed; NULL: none */
};

/* Adds a thread, which must not be in the set. Returns its entry, valid until the set changes. */
struct tracee *tracees_add(struct tracees *tracees, pid_t tid);
void tracees_remove(struct tracees *tracees, pid_t tid);

struct counting {
	struct breakpoints breakpoints;
	struct tracees tracees;
	uint64_t total[TRACER_COUNT_MOST];
	enum tracer_count_end state;
	bool ending;  /* each thread that stops loses its breakpoints and is detached */
	bool refused; /* the kernel refused to seize a thread (EPERM) */
	int error;    /* error number of the first breakpoint that could not be set; 0: none */
};

/* True when the thread stays seized between stops. */
bool counting_has(const struct tracer *tracer, pid_t tid);

/* As stop_seize, for a thread that is to stay seized. Returns 0, too, when it is seized already. */
int counting_seize(struct tracer *tracer, pid_t tid);

/*
 * Handles a stop for a breakpoint, a signal, a clone or an exec, and resumes the thread; while the
 * counting ends, handles every stop, and detaches. Sets the breakpoints in a thread at its first
 * stop. Returns false when the caller has to handle `end`: nothing is counted; the thread has
 * exited; it does not belong to the target; or, unless the counting ends, the stop was caused by an
 * interrupt or by job control.
 */
bool counting_serve(struct tracer *tracer, const struct wait_end *end, struct waiting *waiting);

/*
 * Resumes a stopped thread that stays seized, with the signal if it is not 0. With `group_stopped`
 * the thread stays in its group stop, without a signal. Returns false if the thread was killed in
 * its stop.
 */
bool counting_continue(struct tracer *tracer, pid_t tid, int signo, bool group_stopped);

/* --- tracer_count.c ------------------------------------------------------------------------- */

/* After tracer_count_stop: sets the breakpoints again and continues to count. No effect if the
 * state is not COUNT_RUNNING. */
void counting_resume(struct tracer *tracer);
/* Ends the counting, if there is one. */
void counting_free(struct tracer *tracer);

#endif
