/* SPDX-License-Identifier: MIT */
/*
 * stop_internal.h - operations on one thread around a stop (stop.c, stack_copy.c). stop.c is the
 * only caller of ptrace(2) apart from breakpoints (hold/breakpoint_ARCH.c) and the check
 * whether a process may be traced (process/attach_probe.c).
 */
#ifndef WALLSAMPLE_TRACER_STOP_INTERNAL_H
#define WALLSAMPLE_TRACER_STOP_INTERNAL_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/tracer/tracer.h"

/*
 * Meaning of a wait status, and what has to be done with the thread:
 *
 * EXITED       the thread has exited; nothing
 * INTERRUPTED  stop of PTRACE_INTERRUPT; detach
 * GROUP_STOP   job control has stopped the process; detach leaves it stopped
 * SIGNAL       a signal is about to be delivered to the program; detach with the signal
 * EXEC         the thread has executed another program; detach (requested by counting.c only)
 * OTHER        another ptrace event, of a clone if counting.c has requested it; detach
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

/* The signal to be delivered to the program, of a wait status of KIND_SIGNAL; else 0. */
int stop_signal(int status);

/* Brings memory that the stop will read into the caches. To be called just before the stop. */
void stop_prefetch(struct stop_request *request);

/*
 * waitpid(2) for any child or tracee, except that a stop stays reportable until the thread is
 * resumed: waitpid consumes the signal that the thread has stopped for, and the signal is lost
 * if wallsample is killed before it releases the thread (tried: 20 of 20; none this way). For a
 * child that is not a tracee only its exit is reported. `options`: 0 or WNOHANG.
 */
pid_t stop_wait(int *status, int options);

/* Consumes the stop of a thread that is to stay stopped: stop_wait does not report the thread
 * again until it is killed. False when it has been killed. */
bool stop_keep(pid_t tid);

/* PTRACE_SEIZE. Returns 0 or the error number; an exiting thread answers EPERM or ESRCH.
 * `options` are those of PTRACE_SETOPTIONS. */
int stop_seize(pid_t tid, unsigned long options);

/* PTRACE_INTERRUPT; a second one has no effect. False when the thread is not a tracee. */
bool stop_interrupt(pid_t tid);

/* PTRACE_DETACH, with a signal if it is not 0. False: the thread was killed in its stop. */
bool stop_detach(pid_t tid, int signo);

/* Resume without detaching: PTRACE_CONT; PTRACE_SINGLESTEP; PTRACE_LISTEN, for a thread in a
 * group stop, which stays stopped and can be interrupted. False: as stop_detach. */
bool stop_continue(pid_t tid, int signo);
bool stop_step(pid_t tid, int signo);
bool stop_listen(pid_t tid);

/* The signal that a thread has stopped for. */
bool stop_read_signal(pid_t tid, siginfo_t *info);

/* True when the signal of a breakpoint is pending for a stopped thread. */
bool stop_awaits_trap(pid_t tid);

/* Repairs the system call of a stopped thread: the kernel restarts it in place of EINTR. True
 * when that was necessary. */
bool stop_repair(pid_t tid, int status);

/*
 * Fills in the request of a stopped thread, apart from `queued` and `stopped_ns`. True when its
 * system call had to be repaired.
 */
bool stop_capture(const struct process *process, struct stop_request *request, enum stop_kind kind);

/* True when a captured thread, stopped since `stopped_ns`, was waiting for a CPU at the tick. */
bool stop_was_queued(const struct stop_request *request, uint64_t stopped_ns);

/*
 * Repairs and detaches a stopped thread that no request waits for, with its signal. Clears its
 * breakpoints, and drops the signal of a breakpoint that it has hit. False: it was killed in its
 * stop. Makes system calls only: it may be called in a signal handler.
 */
bool stop_release(pid_t tid, int status);

/* --- stack_copy.c -------------------------------------------------------------------- */

/*
 * Copies up to `size` bytes from the stack pointer to the end of the mapping that contains it.
 * Returns the number of bytes.
 *
 * Memory above the stack is not read: a page of it may have to come from a file, over a network,
 * or from userfaultfd(2), whose page a thread of the target has to provide, which may be the very
 * thread that is stopped.
 */
size_t stack_copy(const struct process *process, struct watch *watch, uint64_t sp, void *to,
		  size_t size);

/* The same for the stack of the previous copy; 0 when `sp` is in another mapping. */
size_t stack_copy_again(const struct watch *watch, uint64_t sp, void *to, size_t size);

#endif
