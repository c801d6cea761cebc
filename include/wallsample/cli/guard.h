/* SPDX-License-Identifier: MIT */
/*
 * guard.h - two processes, so that what must be undone is undone even if one of them is killed.
 *
 * Breakpoints of another process stay when their tracer dies (tracer_count.h). The work is done by
 * a child; the command that the user sees is its parent, which only waits. When the parent is
 * killed, by SIGKILL too, the child gets SIGTERM and ends as it does at any SIGTERM: it clears.
 * When the child is killed, the parent clears; a breakpoint that is met in the millisecond until
 * then ends the target. What is left: both are killed by SIGKILL at once.
 */
#ifndef WALLSAMPLE_CLI_GUARD_H
#define WALLSAMPLE_CLI_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

#include "wallsample/base/error.h"
#include "wallsample/process/process.h"

/*
 * Runs `run` in a child, whose exit status is what it returns, and returns that. If the child dies
 * of a signal, so does the caller. Standard files, terminal and process group are shared: what is
 * typed reaches the child by itself, and signals for the caller alone are passed on. When the
 * caller is stopped (Ctrl-Z) the child goes on if it ignores SIGTSTP. To be called before anything
 * else is begun, by a process of one thread: its signals are still as the child is to have them.
 * < 0: no child could be made.
 */
int guard_run(int (*run)(void *context), void *context, struct error *err);

/*
 * In the child: threads of this process have breakpoints from now on; NULL: none has any more.
 * Without guard_run nothing happens.
 */
void guard_watch(const struct process *process);
/* Is there such a process? As a signal handler may ask: while there is, leave in order. */
bool guard_is_watching(void);

#endif
