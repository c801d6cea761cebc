/* SPDX-License-Identifier: MIT */
/*
 * supervisor.h - a process that watches wallsample, so that no thread of the target stays stopped
 * while wallsample does not run.
 *
 * A thread that wallsample has stopped, or has asked to stop, continues only when wallsample
 * releases it or ends. So threads of the target would be stopped for as long as wallsample is
 * itself stopped (SIGSTOP), frozen (cgroup freezer), traced, or blocked in the kernel. The
 * supervisor is a child process in a session of its own, which signals to wallsample's process
 * group do not reach. Every SUPERVISOR_LOOK_MS it looks whether threads of the target are stopped
 * or are to stop. If so:
 *   - If wallsample is stopped, it is continued (SIGCONT). It then releases all threads and stops
 *     again (supervisor_sent).
 *   - Otherwise it gets a signal to which its handler must react. If it has not reacted at
 *     SUPERVISOR_LOOKS later looks, it is killed (SIGKILL), and the kernel releases all threads.
 * So no thread is stopped for longer than SUPERVISOR_BOUND_MS, as long as the supervisor gets a CPU
 * and is not frozen together with wallsample: it leaves wallsample's control group (v2) if it may.
 *
 * There is one supervisor for the whole process. A thread of wallsample forks it and waits for its
 * end, so that the waits of the tracer, which is another thread, do not see it; a supervisor that
 * dies is started again.
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
 * Starts the supervisor of the calling process, which must not have one. To be called by the first
 * thread, before any thread of the target is stopped. Installs a handler of SIGRTMAX - 1. Returns 0
 * or the error. pidfd_open(2) (Linux 5.3) is needed.
 */
int supervisor_start(struct error *err);
/* Ends the supervisor and waits for its end. No effect if there is none. */
void supervisor_end(void);

/* Numbers of threads that the supervisor reads, for the tracer; valid until supervisor_end. NULL if
 * there is no supervisor. */
struct tracer_load *supervisor_load(void);

/*
 * Forks a process, the keeper, that has a copy of what was sampled, and replaces an earlier one. If
 * the supervisor has to kill wallsample later, report(context) is called in the keeper, whose exit
 * status its result becomes; otherwise the keeper ends with wallsample. In the keeper there is no
 * other thread, nothing is traced, and no SQLite database may be used. To be called by the first
 * thread while no thread of the target is stopped. Takes as long as a fork, some milliseconds.
 */
void supervisor_keep(int (*report)(void *context), void *context);

/* Sets the end of the message that is written if wallsample has to be killed: what is left of the
 * samples. `text` is copied, up to 511 bytes. */
void supervisor_say(const char *text);

/* True if this process id, the sender of a SIGCONT, is the supervisor's: wallsample was stopped
 * while threads were stopped, and is to stop again when it has released them. Async-signal-safe. */
bool supervisor_sent(pid_t sender);

#endif
