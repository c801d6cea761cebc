/* SPDX-License-Identifier: MIT */
/*
 * tracer_count.h - counts how often code is run, by hardware breakpoints. Intrusive.
 *
 * While it counts, a tracer keeps all threads of the process seized: each run of a counted address
 * is a stop (tens of microseconds), and so is each signal and each new thread. Stops are served in
 * every call of tracer.h that waits or polls, so that one of them must be going on, or be called
 * within a millisecond, at all times. All else of the tracer works as ever.
 *
 * A breakpoint belongs to its thread and not to the tracer. The kernel does not clear it when the
 * tracer dies; the thread's next run of the address then ends the target with SIGTRAP. So every way
 * out clears them: tracer_free, tracer_pause, an end by a signal that is handled. What no process
 * can do for itself, SIGKILL, is what guard.h is for.
 *
 * The exception of a breakpoint is a forced signal: in a thread that blocks or ignores SIGTRAP the
 * kernel unblocks it, and sets its handler back to the default, which nobody outside can undo. That
 * matters to programs that both handle SIGTRAP and run the address while it is blocked.
 */
#ifndef WALLSAMPLE_TRACER_TRACER_COUNT_H
#define WALLSAMPLE_TRACER_TRACER_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/error.h"
#include "wallsample/tracer/tracer.h"

/* Processors have so many; more need not be there on aarch64. */
#define TRACER_COUNT_MOST 4

/* X(name): why nothing is counted any more */
enum tracer_count_end {
	COUNT_RUNNING,
	COUNT_OFF,      /* tracer_count was not called, or has failed */
	COUNT_EXEC,     /* the process has become another program: breakpoints went with the old */
	COUNT_GONE,     /* the process has no threads that we trace any more */
};

/*
 * Seizes all threads and sets breakpoints in them; new threads get them before their first
 * instruction. Children of fork are not traced and have none. `count` from 0: nothing is counted,
 * and breakpoints that somebody has left behind are cleared by tracer_free. ERROR_NOT_PERMITTED,
 * ERROR_SYSTEM (no free breakpoints, no such address) and ERROR_NO_PROCESS leave the process as it
 * was. To be called once, and with nothing outstanding.
 */
int tracer_count(struct tracer *tracer, const uint64_t *address, size_t count, struct error *err);

/* Runs of each address so far; zeros behind the last. */
void tracer_counts(const struct tracer *tracer, uint64_t total[TRACER_COUNT_MOST]);

enum tracer_count_end tracer_count_state(const struct tracer *tracer);

/*
 * Clears all breakpoints and detaches, waiting at most so long: a thread in an uninterruptible
 * sleep does not stop before that is over. Returns how many threads are left; tracer_free waits
 * for them without a bound. Between tracer_pause and tracer_resume nothing is counted, either.
 */
size_t tracer_count_stop(struct tracer *tracer, uint64_t bound_ns);

#endif
