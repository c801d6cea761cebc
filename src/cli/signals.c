/* SPDX-License-Identifier: MIT */
/* signals.c - INT, TERM and HUP end sampling, USR1 asks for a snapshot. */
#include <stddef.h>
#include <unistd.h>

#include "cli/cli_internal.h"
#include "wallsample/cli/guard.h"

volatile sig_atomic_t signals_stop;
volatile sig_atomic_t signals_snapshot;

/*
 * The second signal ends the program at once: the kernel detaches the tracees, which continue.
 * While tracees have breakpoints, the second signal has no effect: a tracee that hits a breakpoint
 * without a tracer would be killed.
 */
static void
on_stop(int signal_number)
{
	if (signals_stop != 0 && !guard_is_watching())
		_exit(128 + signal_number);
	signals_stop = signal_number;
}

static void
on_snapshot(int signal_number)
{
	(void)signal_number;
	signals_snapshot = 1;
}

/*
 * Sets a handler without SA_RESTART, so that a signal interrupts system calls that wait for the
 * reader of a pipe or for a tick.
 */
static void
handle(int signal_number, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	sigemptyset(&action.sa_mask);
	(void)sigaction(signal_number, &action, NULL);
}

static bool
is_ignored(int signal_number)
{
	struct sigaction action;

	return sigaction(signal_number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void
signals_install(void)
{
	/*
	 * SIGTSTP (Ctrl-Z), and SIGTTIN and SIGTTOU (terminal access from the background), would
	 * suspend wallsample, and any thread of the target that it holds at that moment would stay
	 * stopped. With SIGPIPE and SIGXFSZ ignored, write(2) returns an error instead.
	 */
	static const int ignored[] = { SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU, SIGXFSZ };
	sigset_t ours;

	handle(SIGINT, on_stop);
	handle(SIGTERM, on_stop);
	handle(SIGUSR1, on_snapshot);
	/* nohup(1) starts programs with SIGHUP ignored; it stays ignored then. */
	if (!is_ignored(SIGHUP))
		handle(SIGHUP, on_stop);
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		handle(ignored[i], SIG_IGN);
	/* The program that started wallsample may have set SIGCHLD to be ignored; the kernel
	 * would then keep no exit status of a child. */
	handle(SIGCHLD, SIG_DFL);

	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGHUP);
	sigaddset(&ours, SIGUSR1);
	(void)sigprocmask(SIG_UNBLOCK, &ours, NULL);
}
