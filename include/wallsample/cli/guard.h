/* SPDX-License-Identifier: MIT */
/*
 * guard.h - runs a command in a child process, so that breakpoints are cleared even if the parent
 * or the child is killed.
 *
 * Breakpoints stay in the target when their tracer dies (tracer_count.h). Therefore a child does
 * the work; its parent, the process that the user started, only waits. When the parent is killed,
 * even by SIGKILL, the kernel sends SIGTERM to the child, which clears the breakpoints and exits,
 * as after any SIGTERM. When the child is killed, the parent clears the breakpoints. This takes
 * about a millisecond; a breakpoint that the target hits in this time ends the target. If parent
 * and child are killed by SIGKILL at the same time, breakpoints remain.
 */
#ifndef WALLSAMPLE_CLI_GUARD_H
#define WALLSAMPLE_CLI_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

#include "wallsample/base/error.h"
#include "wallsample/process/process.h"

/*
 * Calls run(context) in a child process. The value that `run` returns becomes the exit status of
 * the child, and guard_run returns it. If a signal kills the child, the caller ends by the same
 * signal. The child shares standard files, terminal and process group: the terminal's signals reach
 * it directly. Of the signals that other processes send to the caller alone, SIGHUP, SIGINT,
 * SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1 and SIGUSR2 are passed on. Call guard_run from a
 * single-threaded process, before files are opened and before the signal dispositions are changed:
 * the child inherits files and dispositions. Returns < 0 if no child could be created.
 */
int guard_run(int (*run)(void *context), void *context, struct error *err);

/*
 * Called in the child: records that threads of `process` have breakpoints from now on, or if
 * `process` is NULL, that no thread has breakpoints any more. Has no effect outside guard_run.
 */
void guard_watch(const struct process *process);
/*
 * True while a process is recorded by guard_watch: wallsample must then clear the breakpoints of
 * that process before it exits. Async-signal-safe.
 */
bool guard_is_watching(void);

#endif
