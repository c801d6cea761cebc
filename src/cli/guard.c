/* SPDX-License-Identifier: MIT */
/*
 * guard.c - a child does the work; its parent waits and clears breakpoints if the child is killed.
 */
#include "wallsample/cli/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/tracer/tracer_count.h"

/* The process that has breakpoints, in memory shared by parent and child. */
struct watched {
	_Atomic pid_t pid; /* 0: no process has breakpoints */
	/* start time of the process: a process that reuses the pid has another one */
	_Atomic uint64_t start_time;
};

static struct watched *watched;

/* Signals that the parent passes on to the child. */
static const int passed_on[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2 };

void
guard_watch(const struct process *process)
{
	if (watched == NULL)
		return;
	if (process != NULL)
		watched->start_time = process->start_time;
	watched->pid = process != NULL ? process->pid : 0;
}

bool
guard_is_watching(void)
{
	return watched != NULL && watched->pid != 0;
}

/*
 * Clears the breakpoints that a killed child has left: after tracer_count() with no address,
 * tracer_free() clears them.
 */
static void
clear_after(void)
{
	struct process *process = NULL;
	struct tracer *tracer = NULL;

	if (!guard_is_watching() || process_open(watched->pid, &process, NULL) != 0)
		return;
	if (process->start_time == watched->start_time &&
	    tracer_create(process, &tracer, NULL) == 0) {
		(void)tracer_count(tracer, NULL, 0, NULL);
		tracer_free(tracer);
	}
	process_free(process);
}

/*
 * Passes on signals that other processes have sent (si_code <= 0). The signals of the terminal
 * reach the child directly, except SIGHUP, which the kernel may send to the session leader alone.
 */
static void
pass_on(pid_t child, const siginfo_t *info)
{
	if (info->si_code <= 0 || info->si_signo == SIGHUP)
		kill(child, info->si_signo);
}

/* Passes signals on until the child has ended. Returns the wait status of the child. */
static int
wait_for(pid_t child, const sigset_t *signals)
{
	int status = 0;
	siginfo_t info;
	pid_t ended;

	for (;;) {
		ended = waitpid(child, &status, WNOHANG);
		if (ended == child || (ended < 0 && errno != EINTR))
			return status;
		if (sigwaitinfo(signals, &info) <= 0 || info.si_signo == SIGCHLD)
			continue;
		pass_on(child, &info);
		if (info.si_signo != SIGTSTP)
			continue;
		/* The child suspends when it has released all threads. */
		raise(SIGSTOP);
		kill(child, SIGCONT);
	}
}

/*
 * Ends this process by the signal that ended the child, so that whoever waits for this process sees
 * that signal.
 */
static void
die_as(int signo)
{
	const struct rlimit none = { .rlim_cur = 0 };
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, signo);
	/* The child has dumped core already, if permitted; this process dumps none. */
	setrlimit(RLIMIT_CORE, &none);
	signal(signo, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &signals, NULL);
	raise(signo);
}

static void __attribute__((noreturn)) be_child(pid_t parent, int (*run)(void *), void *context)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* The parent may have exited before prctl(PR_SET_PDEATHSIG). */
	if (getppid() != parent)
		_exit(128 + SIGTERM);
	exit(run(context));
}

int
guard_run(int (*run)(void *context), void *context, struct error *err)
{
	struct sigaction action = { .sa_handler = SIG_DFL }, before;
	const pid_t own = getpid();
	sigset_t signals, old;
	int status;
	pid_t child;

	watched = mmap(NULL, sizeof(*watched), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (watched == MAP_FAILED) {
		watched = NULL;
		return error_set(err, ERROR_SYSTEM, "cannot share memory: %s", strerror(errno));
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(passed_on); i++)
		sigaddset(&signals, passed_on[i]);
	sigemptyset(&action.sa_mask);
	/* SIGCHLD gets its default action: if it is ignored, the kernel keeps no exit status of
	 * the child. */
	sigaction(SIGCHLD, &action, &before);
	sigprocmask(SIG_BLOCK, &signals, &old);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		sigaction(SIGCHLD, &before, NULL);
		sigprocmask(SIG_SETMASK, &old, NULL);
		be_child(own, run, context);
	}
	status = child > 0 ? wait_for(child, &signals) : 0;
	if (child > 0)
		clear_after();
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (child < 0)
		return error_set(err, ERROR_SYSTEM, "cannot start a process: %s", strerror(errno));
	if (WIFSIGNALED(status))
		die_as(WTERMSIG(status));
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
