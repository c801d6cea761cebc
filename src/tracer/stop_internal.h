/* SPDX-License-Identifier: MIT */
/*
 * stop_internal.h - what is done to one thread around a stop: the only callers of ptrace(2), but
 * for breakpoints (breakpoint.h) and the question whether a process may be traced at all
 * (target/attach_probe.c).
 */
#ifndef WALLSAMPLE_TRACER_STOP_INTERNAL_H
#define WALLSAMPLE_TRACER_STOP_INTERNAL_H

#include <signal.h>

#include "wallsample/tracer/tracer.h"

/*
 * What a wait status says, and what has to be done with the thread:
 *
 * EXITED       it is gone; nothing
 * INTERRUPTED  our interrupt; detach
 * GROUP_STOP   job control has stopped the process; detach leaves it stopped
 * SIGNAL       a signal for the program is about to be delivered; detach with it
 * EXEC         it is another program now; detach (asked for by counting.c alone)
 * OTHER        another ptrace event, of a clone if counting.c has asked for it; detach
 */
enum stop_kind {
	KIND_EXITED,
	KIND_INTERRUPTED,
	KIND_GROUP_STOP,
	KIND_SIGNAL,
	KIND_EXEC,
	KIND_OTHER,
};

enum stop_kind stop_classify(int status);

/* The program's signal that the thread has stopped for, as a wait status says; 0: none. */
int stop_signal(int status);

/* To be called shortly before: what the stop will touch is in the caches then. */
void stop_rehearse(struct stop_request *request);

/*
 * waitpid(2) for any of ours, but that a stop stays to be told until the thread goes on: once
 * it is told, the signal it has stopped for is in our hands alone, and lost if we are killed
 * before the release (tried: 20 of 20; none this way). Of a child that is no tracee only the
 * exit is told.
 */
pid_t stop_wait(int *status, int options);

/* A thread that is to stay stopped: stop_wait tells nothing of it until it is killed. False
 * when it has been. */
bool stop_tell(pid_t tid);

/* 0, or the error number. EPERM and ESRCH are what an exiting thread answers. Options are those of
 * PTRACE_SETOPTIONS. */
int stop_seize(pid_t tid, unsigned long options);

/* To ask twice changes nothing; false when the thread is no tracee of ours (any more). */
bool stop_interrupt(pid_t tid);

/* Lets the thread go on, with the signal if it is not 0. False: it was killed in its stop. */
bool stop_detach(pid_t tid, int signo);

/*
 * The same, and it stays seized; for one instruction; as one that job control has stopped stays,
 * and can be interrupted.
 */
bool stop_continue(pid_t tid, int signo);
bool stop_step(pid_t tid, int signo);
bool stop_listen(pid_t tid);

/* The signal that a thread has stopped for. */
bool stop_read_signal(pid_t tid, siginfo_t *info);

/* Of a stopped thread: will it take the signal of a breakpoint next? */
bool stop_awaits_trap(pid_t tid);

/* Of a stopped thread: saves its system call from EINTR, as stop_capture does. True: it had to. */
bool stop_repair(pid_t tid, int status);

/*
 * The thread stands still, as the kind says: fills in the request, but for what is said of
 * its time below. True when a system call had to be saved from EINTR.
 */
bool stop_capture(const struct process *process, struct stop_request *request,
		  enum stop_kind kind);

/* Did a captured thread, which stopped at this moment, wait for a CPU at the tick? */
bool stop_was_queued(const struct stop_request *request, uint64_t stopped_ns);

/*
 * Of a stopped thread that nobody wants a snapshot of: the same saving, and it goes on, with
 * its signal. Breakpoints that it has are cleared, and of one that it has met it does not learn.
 * False: it was killed in its stop. Makes system calls alone, as a signal handler may.
 */
bool stop_release(pid_t tid, int status);

#endif
