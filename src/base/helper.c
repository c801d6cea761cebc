/* SPDX-License-Identifier: MIT */
/* helper.c - starts processes of wallsample's own, in which a system call may block for ever. */
#include "wallsample/base/helper.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wallsample/base/sandbox.h"

/* Closes all descriptors but `fd`, so that a reader of a pipe gets EOF even while this process
 * hangs with a copy of its write end. Returns the number that `fd` then has. */
static int
keep_only(int fd)
{
	int kept = 0;

	if (dup2(fd, kept) < 0)
		_exit(1);
	sandbox_keep_only(&kept, 1);
	return kept;
}

void
helper_be_ordinary(void)
{
	const struct sched_param ordinary = { .sched_priority = 0 };

	(void)sched_setscheduler(0, SCHED_OTHER, &ordinary);
	if (getpriority(PRIO_PROCESS, 0) < 0)
		(void)setpriority(PRIO_PROCESS, 0, 0);
}

bool
helper_start(const char *name, int fd, void (*serve)(void *context, int fd), void *context)
{
	const pid_t pid = fork();
	int status = 0;
	pid_t reaped;

	if (pid == 0) {
		const pid_t second = fork();
		sigset_t all;

		if (second != 0)
			_exit(second > 0 ? 0 : 1);
		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, NULL);
		setsid(); /* Ctrl-C of a terminal is not for this process */
		prctl(PR_SET_NAME, name);
		helper_be_ordinary();
		serve(context, keep_only(fd));
		_exit(0);
	}
	if (pid < 0)
		return false;
	do
		reaped = waitpid(pid, &status, 0);
	while (reaped < 0 && errno == EINTR);
	/* A handler of SIGCHLD may have reaped the child: whether the process runs is then seen at
	 * the first request. */
	return reaped < 0 ? errno == ECHILD : status == 0;
}
