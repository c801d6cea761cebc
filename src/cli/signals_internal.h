/* SPDX-License-Identifier: MIT */
/* signals_internal.h - what signals do to a run: INT, TERM and HUP end it, USR1 asks for a
 * snapshot, TSTP (Ctrl-Z) suspends it. */
#ifndef WALLSAMPLE_CLI_SIGNALS_INTERNAL_H
#define WALLSAMPLE_CLI_SIGNALS_INTERNAL_H

#include <signal.h>
#include <stdbool.h>

/* Not 0: sampling ends; the signal that arrived, or SIGTERM if wallsample itself ends it. */
extern volatile sig_atomic_t signals_stop;
/* Set by SIGUSR1, cleared by the code that writes the snapshot. */
extern volatile sig_atomic_t signals_snapshot;
/* The signal that asks to suspend wallsample, 0: none. Set by SIGTSTP while signals_defer_suspend
 * is in effect, and by a SIGCONT of the supervisor (supervisor.h). Any other SIGCONT clears it. */
extern volatile sig_atomic_t signals_suspend;

/*
 * From now on SIGINT, SIGTERM and SIGHUP (unless it is ignored) set signals_stop and interrupt
 * system calls. A second one of these signals ends the program at once; so does a first one after
 * 5 s, unless signals_noticed is called before. Neither happens while the target has breakpoints
 * (guard.h). SIGUSR1 sets signals_snapshot. SIGTTIN, SIGTTOU, SIGPIPE and SIGXFSZ are ignored. Call
 * it after target_find: a started command must inherit the original signal dispositions.
 */
void signals_install(void);
/* Cancels the time limit of 5 s that INT, TERM and HUP begin. To be called when sampling has ended
 * because of signals_stop: writing the report may take longer. */
void signals_noticed(void);
/* With `defer`, SIGTSTP (Ctrl-Z) sets signals_suspend in place of stopping wallsample. To be in
 * effect while threads of the target may be stopped. */
void signals_defer_suspend(bool defer);
/* Resets signals_suspend and raises the signal that it held, which stops wallsample. Returns when
 * wallsample is continued; at once if the kernel ignores SIGTSTP (orphaned process group). No
 * thread of the target may be stopped or have a pending stop request. */
void signals_suspend_now(void);

#endif
