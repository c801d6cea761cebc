/* SPDX-License-Identifier: MIT */
/* signals.c - INT, TERM and HUP end sampling, USR1 asks for a snapshot, TSTP (Ctrl-Z) suspends. */
#include <stddef.h>
#include <unistd.h>

#include "cli/signals_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/cli/guard.h"
#include "wallsample/cli/supervisor.h"

/* Seconds from the first INT, TERM or HUP to the end of wallsample, unless signals_noticed cancels
 * that or the target has breakpoints. */
#define GRACE_S 5

volatile sig_atomic_t signals_stop;
volatile sig_atomic_t signals_snapshot;
volatile sig_atomic_t signals_suspend;
/* signals_defer_suspend is in effect: there is a sampler. */
static volatile sig_atomic_t is_deferring;

/*
 * Sets a handler without SA_RESTART, so that a signal interrupts system calls that wait for the
 * reader of a pipe or for a tick.
 */
static void
handle(int signal_number, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	/* SIGTSTP and SIGCONT take effect in the order in which they arrive. */
	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGCONT);
	(void)sigaction(signal_number, &action, NULL);
}

/*
 * The second signal ends the program at once: the kernel detaches the tracees, which continue.
 * While tracees have breakpoints, the second signal has no effect: a tracee that hits a breakpoint
 * without a tracer would be killed.
 */
static void
on_stop(int signal_number)
{
	if (signals_stop != 0 && !guard_is_watching()) {
		supervisor_abandon();
		_exit(128 + signal_number);
	}
	signals_stop = signal_number;
	alarm(GRACE_S);
}

/* The signal was not noticed: something takes long, such as looking up names. */
static void
on_overdue(int signal_number)
{
	static const char text[] = "wallsample: ended before the output was complete\n";

	if (signals_stop == 0) {
		/* An alarm that was set before wallsample was executed. */
		handle(signal_number, SIG_DFL);
		raise(signal_number);
		return;
	}
	if (guard_is_watching())
		return;
	/* The last tick, and releasing all threads, may take longer. */
	if (is_deferring) {
		is_deferring = false;
		alarm(GRACE_S);
		return;
	}
	supervisor_abandon();
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(128 + signals_stop);
}

static void
on_snapshot(int signal_number)
{
	(void)signal_number;
	signals_snapshot = 1;
}

static void
on_suspend(int signal_number)
{
	signals_suspend = signal_number;
}

/* A SIGCONT from the supervisor means that wallsample was stopped while threads of the target were
 * stopped: the sampler must release them and stop wallsample again. Any other SIGCONT cancels a
 * pending suspension. */
static void
on_continue(int signal_number, siginfo_t *info, void *context)
{
	(void)signal_number;
	(void)context;
	signals_suspend = supervisor_sent(info->si_pid) ? SIGSTOP : 0;
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
	 * SIGTTIN and SIGTTOU (terminal access from the background) would stop wallsample, and
	 * threads that it has stopped would stay stopped. With SIGPIPE and SIGXFSZ ignored,
	 * write(2) returns an error instead.
	 */
	static const int ignored[] = { SIGPIPE, SIGTTIN, SIGTTOU, SIGXFSZ };
	struct sigaction resumed = { .sa_sigaction = on_continue, .sa_flags = SA_SIGINFO };
	sigset_t ours;

	handle(SIGINT, on_stop);
	handle(SIGTERM, on_stop);
	handle(SIGUSR1, on_snapshot);
	handle(SIGALRM, on_overdue);
	/* nohup(1) starts programs with SIGHUP ignored; it stays ignored then. */
	if (!is_ignored(SIGHUP))
		handle(SIGHUP, on_stop);
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		handle(ignored[i], SIG_IGN);
	/* The program that started wallsample may have set SIGCHLD to be ignored; the kernel
	 * would then keep no exit status of a child. */
	handle(SIGCHLD, SIG_DFL);
	sigemptyset(&resumed.sa_mask);
	sigaddset(&resumed.sa_mask, SIGTSTP);
	(void)sigaction(SIGCONT, &resumed, NULL);

	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGHUP);
	sigaddset(&ours, SIGUSR1);
	sigaddset(&ours, SIGALRM);
	sigaddset(&ours, SIGTSTP);
	sigaddset(&ours, SIGCONT);
	(void)sigprocmask(SIG_UNBLOCK, &ours, NULL);
}

void
signals_noticed(void)
{
	if (signals_stop != 0)
		alarm(0);
}

void
signals_defer_suspend(bool defer)
{
	is_deferring = defer;
	/* A shell without job control ignores SIGTSTP in the commands that it starts. */
	if (!is_ignored(SIGTSTP))
		handle(SIGTSTP, defer ? on_suspend : SIG_DFL);
}

void
signals_suspend_now(void)
{
	sigset_t resume, before, pending;
	int number;

	/* A SIGCONT that arrives from now on is pending, and ends a stop nevertheless. */
	sigemptyset(&resume);
	sigaddset(&resume, SIGCONT);
	sigprocmask(SIG_BLOCK, &resume, &before);
	number = signals_suspend;
	signals_suspend = 0;
	if (number == SIGTSTP)
		/* The kernel ignores SIGTSTP if no shell could continue wallsample again. */
		handle(SIGTSTP, SIG_DFL);
	if (number != 0 && sigpending(&pending) == 0 && !sigismember(&pending, SIGCONT))
		raise(number);
	if (number == SIGTSTP)
		handle(SIGTSTP, is_deferring ? on_suspend : SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
}
