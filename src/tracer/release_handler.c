/* SPDX-License-Identifier: MIT */
/* release_handler.c - a handler of SIGCHLD that releases tracees as they stop. */
#include "tracer/tracer_internal.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer/stop_internal.h"

/* Returns the wait status of waitpid(2) that corresponds to a CLD_TRAPPED of waitid(2). */
static int
wait_status(const siginfo_t *info)
{
	return (int)((unsigned)info->si_status << 8 | 0x7f);
}

/* Releases the tracees that have stopped. It makes system calls only, because it runs in a signal
 * handler. */
static void
release_stopped(int options)
{
	int saved = errno;

	/* Only the thread that has seized a tracee may release it, and that is wallsample's first
	 * thread. If another thread of wallsample (a library may create some) has received SIGCHLD,
	 * it sends the signal to the first thread. */
	if (gettid() != getpid()) {
		tgkill(getpid(), getpid(), SIGCHLD);
		errno = saved;
		return;
	}
	options |= WSTOPPED | WNOHANG | __WALL | __WNOTHREAD;
	for (;;) {
		siginfo_t info = { .si_pid = 0 };

		/* WNOWAIT: a stop stays reportable until the thread is resumed, see stop_wait. */
		if (waitid(P_ALL, 0, &info, options | WNOWAIT) != 0 || info.si_pid == 0)
			break;
		if (info.si_code != CLD_TRAPPED || !stop_release(info.si_pid, wait_status(&info)))
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
	/* Releases tracees that stopped before the handler was installed. */
	raise(SIGCHLD);
}

void
release_handler_remove(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };

	sigemptyset(&action.sa_mask);
	sigaction(SIGCHLD, &action, NULL);
}
