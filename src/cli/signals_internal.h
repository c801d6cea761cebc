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
 * system calls; a second one of these signals ends the program at once, unless the target has
 * breakpoints (guard.h). If the first one is not noticed (signals_noticed), the program ends after
 * 5 s. SIGUSR1 sets signals_snapshot. SIGTTIN, SIGTTOU, SIGPIPE and SIGXFSZ are
 * ignored. Call it after target_find: a started command must inherit the original
 * signal dispositions.
 */
void signals_install(void);
/* To be called when sampling has ended because of signals_stop: what follows, such as naming, may
 * take long. Without this call the program ends 5 s after the signal. */
void signals_noticed(void);
/* With `defer`, SIGTSTP (Ctrl-Z) sets signals_suspend in place of stopping wallsample. To be in
 * effect while threads of the target may be stopped. */
void signals_defer_suspend(bool defer);
/* Stops wallsample by the signal of signals_suspend, and clears that. Returns when wallsample is
 * continued. No thread of the target may be stopped, or asked to stop. */
void signals_suspend_now(void);

#endif
