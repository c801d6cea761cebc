/* SPDX-License-Identifier: MIT */
/*
 * stop_internal.h - operations on one thread around a stop (stop.c, stack_copy.c). stop.c is the
 * only caller of ptrace(2) apart from breakpoints (count/breakpoint_ARCH.c) and the check
 * whether a process may be traced (process/attach_probe.c).
 */
#ifndef WALLSAMPLE_TRACER_STOP_INTERNAL_H
#define WALLSAMPLE_TRACER_STOP_INTERNAL_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/tracer/target_memory.h"
#include "wallsample/tracer/tracer.h"

/*
 * Meaning of a wait status, and what has to be done with the thread:
 *
 * EXITED       the thread has exited: nothing
 * INTERRUPTED  PTRACE_INTERRUPT has stopped it: detach
 * GROUP_STOP   job control has stopped the process: detach, which leaves the thread stopped
 * SIGNAL       a signal is about to be delivered to the program: detach with the signal
 * EXEC         the thread has executed another program: detach
 * OTHER        another ptrace event, such as the creation of a thread: detach
 *
 * Events of exec and clone are reported only to a tracer that counts (count/counting.c), which
 * resumes the threads that stay seized instead of detaching them.
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

/* Returns the signal of a wait status of KIND_SIGNAL, to be delivered to the program; otherwise
 * 0. */
int stop_signal(int status);

/*
 * Waits for any child or tracee of the calling thread as waitpid(2) does, except that a stop stays
 * reportable until the thread is resumed: waitpid consumes the signal that the thread has stopped
 * for, and the signal is lost if wallsample is killed before it releases the thread (measured:
 * waitpid lost 20 of 20 signals, stop_wait none). Children that other threads of wallsample have
 * forked are not reported. Of a child that is not a tracee only the exit is reported. `options`: 0
 * or WNOHANG. `ended` is called with a thread or child that has ended, while its files in /proc can
 * still be read; NULL: not wanted.
 */
pid_t stop_wait(int *status, int options, void (*ended)(void *context, pid_t pid), void *context);

/* Consumes the stop of a thread that is to stay stopped: stop_wait does not report the thread again
 * until it is killed. Returns false when the thread has been killed. */
bool stop_keep(pid_t tid);

/* Seizes a thread (PTRACE_SEIZE). `options` are those of PTRACE_SETOPTIONS. Returns 0 or the error
 * number, which is EPERM or ESRCH for an exiting thread. */
int stop_seize(pid_t tid, unsigned long options);

/* Interrupts a tracee (PTRACE_INTERRUPT); a second interrupt has no effect. Returns false when the
 * thread is not a tracee. */
bool stop_interrupt(pid_t tid);

/*
 * Resumes a stopped thread, with a signal if it is not 0. `how`: PTRACE_DETACH, PTRACE_CONT,
 * PTRACE_SINGLESTEP, or PTRACE_LISTEN for a thread in a group stop, which stays stopped and can be
 * interrupted. Returns false if the thread was killed in its stop.
 */
bool stop_resume(pid_t tid, int how, int signo);

/* Reads the signal that a thread has stopped for. Returns false when the thread was killed. */
bool stop_read_signal(pid_t tid, siginfo_t *info);

/* True when the signal of a breakpoint is pending for a stopped thread. */
bool stop_awaits_trap(pid_t tid);

/* Makes the kernel restart the system call of a stopped thread if the call would fail with EINTR.
 * `status`: wait status of the stop. Returns true when a restart was necessary and is set up. */
bool stop_repair(pid_t tid, int status);

/*
 * Captures a stopped thread: sets `end`, `group_stopped` and `during` of its request. If the
 * registers can be read, and are not those of 32-bit code, also sets `fell_asleep`, `syscall` and
 * `snapshot`, and calls `stopped`. Returns true when the system call of the thread was repaired
 * (stop_repair).
 */
bool stop_capture(struct stop_request *request, enum stop_kind kind);

/* Returns what a captured thread, which stopped at `stopped_ns` or later, did at the tick. */
enum tick_state stop_at_tick(const struct stop_request *request, uint64_t stopped_ns);

/*
 * Releases a stopped thread that has no request: repairs its system call (stop_repair), clears its
 * breakpoints, and detaches it with the signal it has stopped for; the signal of a breakpoint is
 * dropped. If such a signal is still pending, the thread is not detached but continued, and stops
 * again for that signal: then this function must be called again. Returns false if the thread was
 * killed in its stop. Makes only system calls, and so may be called by a signal handler.
 */
bool stop_release(pid_t tid, int status);

/* --- stack_copy.c -------------------------------------------------------------------- */

/*
 * Copies up to `size` bytes from the stack pointer to the end of the mapping that contains it. If
 * the end is not known, as before Linux 6.11, the copy ends at the first page that is not readable.
 * `memory` must be given while a thread is stopped or asked to stop: pages that are not in memory
 * are then not read, as target_memory_copy_stack() describes. Returns the number of bytes.
 *
 * Memory above the mapping of the stack must not be read: a page there may have to come from a
 * file, over a network, or by userfaultfd(2) from a thread of the target, perhaps from the one that
 * is stopped.
 */
size_t stack_copy(const struct process *process, const struct target_memory *memory,
		  struct watch *watch, uint64_t sp, void *to, size_t size);

/* As stack_copy, for a stack pointer in the mapping of the previous copy. Returns 0 for any other
 * stack pointer. */
size_t stack_copy_again(const struct target_memory *memory, const struct watch *watch, uint64_t sp,
			void *to, size_t size);

#endif
