/* SPDX-License-Identifier: MIT */
/* away.c - the handler of SIGCHLD that releases what stops. */
#include "tracer/tracer_internal.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer/stop_internal.h"

/* The wait status, as waitpid(2) tells it, of what waitid(2) calls a trap. */
static int
wait_status(const siginfo_t *info)
{
	return (int)((unsigned)info->si_status << 8 | 0x7f);
}

/* Nothing but system calls: it runs in a signal handler. */
static void
release_stopped(int options)
{
	int saved = errno;

	/* Only the thread that has seized may release; a library may have made others. */
	if (gettid() != getpid()) {
		tgkill(getpid(), getpid(), SIGCHLD);
		errno = saved;
		return;
	}
	options |= WSTOPPED | WNOHANG | __WALL;
	for (;;) {
		siginfo_t info = { .si_pid = 0 };

		/* A stop stays to be told until it is over: see stop_wait. */
		if (waitid(P_ALL, 0, &info, options | WNOWAIT) != 0 || info.si_pid == 0)
			break;
		if (info.si_code != CLD_TRAPPED ||
		    !stop_release(info.si_pid, wait_status(&info)))
			waitid(P_PID, (id_t)info.si_pid, &info, options);
	}
	errno = saved;
}

static void
on_tracee_stop(int signo)
{
	(void)signo;
	release_stopped(0);
}

static void
on_stop_or_exit(int signo)
{
	(void)signo;
	release_stopped(WEXITED);
}

void
release_handler_install(bool reap)
{
	struct sigaction action = { .sa_handler = reap ? on_stop_or_exit : on_tracee_stop,
				    .sa_flags = SA_RESTART };
	sigset_t signals;

	sigemptyset(&action.sa_mask);
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaction(SIGCHLD, &action, NULL);
	sigprocmask(SIG_UNBLOCK, &signals, NULL);
	/* For those that have stopped before there was a handler. */
	raise(SIGCHLD);
}

void
release_handler_remove(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };

	sigemptyset(&action.sa_mask);
	sigaction(SIGCHLD, &action, NULL);
}
