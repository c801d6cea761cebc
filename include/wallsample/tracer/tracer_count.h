/* SPDX-License-Identifier: MIT */
/*
 * tracer_count.h - counts executions of code addresses by hardware breakpoints. Intrusive.
 *
 * While it counts, a tracer keeps all threads of the process seized: each execution of a counted
 * address stops the thread (tens of microseconds), and so does each signal and each new thread. The
 * functions of tracer.h that wait or poll also handle these stops: they count the execution and
 * resume the thread. The caller must call one of these functions at least every millisecond,
 * because until then a thread that has stopped stays stopped. Stops can be requested as without
 * counting.
 *
 * A breakpoint belongs to its thread and not to the tracer. The kernel does not clear it when the
 * tracer dies; the next execution of the address then ends the target with SIGTRAP. Therefore
 * tracer_free and tracer_pause clear the breakpoints, and wallsample calls one of them before it
 * exits, also after SIGINT or SIGTERM. If wallsample is killed before it does so (SIGKILL), its
 * parent process clears them (wallsample/cli/guard.h).
 *
 * The exception of a breakpoint is a forced signal: in a thread that blocks or ignores SIGTRAP the
 * kernel unblocks the signal and resets its handler to the default, which another process cannot
 * undo. That affects only programs that execute a counted address while they block or ignore
 * SIGTRAP.
 *
 * On x86-64 the SIGTRAP of an int1 instruction directly before a counted address is taken for that
 * of the breakpoint: it is not delivered, and counts as the execution of the address.
 */
#ifndef WALLSAMPLE_TRACER_TRACER_COUNT_H
#define WALLSAMPLE_TRACER_TRACER_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/error.h"
#include "wallsample/tracer/tracer.h"

/* Most addresses that can be counted at once. x86-64 has four breakpoint registers; processors of
 * aarch64 have two or more. */
#define TRACER_COUNT_MOST 4

/* State of the counting, or why it has ended. */
enum tracer_count_end {
	COUNT_RUNNING,
	COUNT_OFF,  /* tracer_count was not called, or has failed */
	COUNT_EXEC, /* the process has called exec, which removed the breakpoints */
	COUNT_GONE, /* no tracee is left */
};

/*
 * Seizes all threads and sets breakpoints at `count` addresses (0 to TRACER_COUNT_MOST); a new
 * thread gets the breakpoints before its first instruction. Child processes are not traced and have
 * no breakpoints. With a count of 0 nothing is counted; tracer_free then clears breakpoints that a
 * killed tracer has left.
 *
 * Returns 0, or a negative error: ERROR_NOT_PERMITTED, ERROR_SYSTEM (all breakpoint registers are
 * in use, or an address is not possible) or ERROR_NO_PROCESS. After an error the process is as it
 * was before. To be called at most once per tracer, with no request outstanding.
 */
int tracer_count(struct tracer *tracer, const uint64_t *address, size_t count, struct error *err);

/* Sets total[n] to the number of executions of address n so far; 0 for n of `count` or more. */
void tracer_counts(const struct tracer *tracer, uint64_t total[TRACER_COUNT_MOST]);

/* Returns the state of the counting. */
enum tracer_count_end tracer_count_state(const struct tracer *tracer);

/*
 * Clears all breakpoints and detaches all threads. A thread in an uninterruptible sleep stops only
 * when the sleep ends, so this function returns after `bound_ns` at the latest. Returns the number
 * of threads that still have breakpoints; tracer_free waits for these without a bound. tracer_pause
 * calls this function, and tracer_resume sets the breakpoints again.
 */
size_t tracer_count_stop(struct tracer *tracer, uint64_t bound_ns);

#endif
