/* SPDX-License-Identifier: MIT */
/*
 * supervisor.h - a process that watches wallsample, so that no thread of the target stays stopped
 * while wallsample does not run.
 *
 * A thread that wallsample has stopped, or has asked to stop, continues only when wallsample
 * releases it or ends. So threads of the target would be stopped for as long as wallsample is
 * itself stopped (SIGSTOP), frozen (cgroup freezer), traced, or blocked in the kernel. The
 * supervisor is a child process in a session of its own, which signals to wallsample's process
 * group do not reach. Every SUPERVISOR_LOOK_MS the supervisor checks whether the target has a
 * thread that is stopped, has a pending stop request, or has breakpoints. If it has:
 *   - If wallsample is stopped (state T), the supervisor sends SIGCONT. wallsample then releases
 *     all threads and stops again (supervisor_sent).
 *   - In any case the supervisor sends SIGRTMAX - 1, which a handler acknowledges. If it is not
 *     acknowledged SUPERVISOR_LOOKS checks later, the supervisor kills wallsample (SIGKILL), and
 *     the kernel releases all threads.
 * So no thread is stopped for longer than SUPERVISOR_BOUND_MS, as long as the supervisor gets a CPU
 * and is not frozen together with wallsample: it leaves wallsample's control group (v2) if it may.
 *
 * There is one supervisor for the whole process. A thread of its own forks it and waits for its
 * end, so that the waits of the tracer (__WNOTHREAD) do not report it. A supervisor that ends is
 * started again.
 */
#ifndef WALLSAMPLE_CLI_SUPERVISOR_H
#define WALLSAMPLE_CLI_SUPERVISOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "wallsample/base/error.h"
#include "wallsample/tracer/tracer_load.h"

#define SUPERVISOR_LOOK_MS 200
#define SUPERVISOR_LOOKS 3
/* From a stop just after a look, to the look at which wallsample is killed. */
#define SUPERVISOR_BOUND_MS (SUPERVISOR_LOOK_MS * (SUPERVISOR_LOOKS + 1))

/*
 * Starts the supervisor of the calling process, which must not have one. To be called by the main
 * thread, before any thread of the target is stopped. Installs a handler of SIGRTMAX - 1. Returns 0
 * or the error. pidfd_open(2) (Linux 5.3) is needed.
 */
int supervisor_start(struct error *err);
/* Returns true if the supervisor may not leave the control group of wallsample (v2), and the
 * process with this directory in /proc is in another group: while wallsample's group is frozen,
 * nothing then releases threads of the process. */
bool supervisor_may_freeze(int dirfd);
/* Ends the supervisor and waits for its end. No effect if there is none. */
void supervisor_end(void);
/* To be called before _exit(2): kills the supervisor and waits for its end, so that it does not
 * become a child of another process. Async-signal-safe. */
void supervisor_abandon(void);

/* Returns the numbers of threads that the tracer updates (tracer_set_load) and the supervisor
 * reads; valid until supervisor_end. NULL if there is no supervisor. */
struct tracer_load *supervisor_load(void);

/*
 * Calls `task` in the thread that forks the supervisor and the keeper, and waits for its end. No
 * effect if there is no supervisor.
 */
void supervisor_call(void (*task)(void));

/*
 * Forks a process, the keeper, that has a copy of what was sampled, and replaces an earlier one. If
 * the supervisor has to kill wallsample later, report(context) is called in the keeper, whose exit
 * status its result becomes; otherwise the keeper ends with wallsample. In the keeper there is no
 * other thread, nothing is traced, and no SQLite database may be used. To be called by the first
 * thread while no thread of the target is stopped. Takes as long as a fork, some milliseconds.
 */
void supervisor_keep(int (*report)(void *context), void *context);

/* Sets the text that the supervisor appends to its message when it kills wallsample: which samples
 * are saved. `text` is copied, at most 511 bytes. */
void supervisor_say(const char *text);

/* Returns true if `sender` is the process id of the supervisor. A SIGCONT from it means that
 * wallsample was stopped while threads were stopped, and must stop again when it has released them.
 * Async-signal-safe. */
bool supervisor_sent(pid_t sender);

#endif
