/* SPDX-License-Identifier: MIT */
/*
 * attach_probe.c - asks the kernel for the permission to trace, in two ways: by reading a file, and
 * by a child that becomes the tracer for a moment.
 */
#include "process/process_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MS 2000

int
attach_probe_read(const struct process *process, pid_t tid)
{
	char name[32], line[256];
	ssize_t n;
	int fd, error;

	snprintf(name, sizeof(name), "%d/syscall", (int)tid);
	fd = openat(process->taskfd, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? ESRCH : errno;
	n = read(fd, line, sizeof(line));
	error = n < 0 ? errno : 0;
	close(fd);
	return error;
}

/* Returns true when the other end of the pipe was closed within ANSWER_MS. */
static bool
wait_for_close(int fd)
{
	struct pollfd pollfd = { .fd = fd };
	uint64_t end_ns = clock_now_ns() + ANSWER_MS * NS_PER_MS, now_ns;

	while ((now_ns = clock_now_ns()) < end_ns) {
		int n = poll(&pollfd, 1, (int)((end_ns - now_ns) / NS_PER_MS) + 1);

		if (n > 0)
			return true;
		if (n < 0 && errno != EINTR)
			return false;
	}
	return false;
}

/* Reaps the child. Returns its exit status, an errno. */
static int
collect_answer(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return errno;
	/* If the child has not exited, a signal has ended it: Ctrl-C sends one to the process
	 * group. */
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

int
attach_probe_seize(pid_t tid)
{
	int alive[2];
	pid_t child;
	bool answered;

	if (pipe2(alive, O_CLOEXEC) != 0)
		return errno;
	child = fork();
	if (child == 0)
		/* The largest errno is 133, so an exit status can hold it. */
		_exit(ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0 ? 0 : errno);
	if (child < 0) {
		int error = errno;

		close(alive[0]);
		close(alive[1]);
		return error;
	}
	close(alive[1]);
	answered = wait_for_close(alive[0]);
	close(alive[0]);
	if (answered)
		return collect_answer(child);
	/* A fatal signal ends a PTRACE_SEIZE that blocks in the kernel. */
	kill(child, SIGKILL);
	collect_answer(child);
	return ETIMEDOUT;
}
