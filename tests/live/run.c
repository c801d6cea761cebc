/* SPDX-License-Identifier: MIT */
/*
 * run.c - runs of wallsample.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

#define WORDS_MOST 48

static void
spawn(struct run *run, char *const words[], int out, void (*before_exec)(void))
{
	int err[2];

	memset(run, 0, sizeof(*run));
	/* A file and not a pipe: nobody has to read while it writes. */
	run->out_fd = memfd_create("out", MFD_CLOEXEC);
	if (run->out_fd < 0 || pipe2(err, O_CLOEXEC) != 0)
		harness_die("no descriptors: %s", strerror(errno));
	run->began_ns = harness_now_ns();
	run->pid = fork();
	if (run->pid < 0)
		harness_die("no process: %s", strerror(errno));
	if (run->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(out >= 0 ? out : run->out_fd, STDOUT_FILENO);
		dup2(err[1], STDERR_FILENO);
		signal(SIGPIPE, SIG_DFL);
		setrlimit(RLIMIT_CORE, &(const struct rlimit){0, 0});
		if (before_exec != NULL)
			before_exec();
		execv(getenv("WALLSAMPLE"), words);
		_exit(127);
	}
	close(err[1]);
	run->err_fd = err[0];
}

void
run_start_words(struct run *run, char *const words[], void (*before_exec)(void))
{
	spawn(run, words, -1, before_exec);
}

void
run_start_to(struct run *run, char *const words[], int out)
{
	spawn(run, words, out, NULL);
}

void
run_make_full_pipe(int ends[2])
{
	static const char zeros[4096];

	if (pipe2(ends, O_CLOEXEC) != 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0)
		harness_die("no pipe");
	while (write(ends[1], zeros, sizeof(zeros)) > 0)
		;
	fcntl(ends[1], F_SETFL, 0);
}

void
run_start_list(struct run *run, pid_t pid, va_list args)
{
	static char program[] = "wallsample", verbose[] = "-v", format[] = "-f",
		    folded[] = "folded", threads[] = "-t", p[] = "-p",
		    overhead[] = "--max-overhead", most[] = "100",
		    stopped[] = "--max-stopped", always[] = "100";
	char number[16];
	char *words[WORDS_MOST] = {program, p,        number, verbose, format, folded,
				   threads, overhead, most,   stopped, always};
	size_t count = 11;

	snprintf(number, sizeof(number), "%d", (int)pid);
	do
		words[count] = va_arg(args, char *);
	while (words[count++] != NULL && count < WORDS_MOST);
	run_start_words(run, words, NULL);
}

void
run_start(struct run *run, pid_t pid, ...)
{
	va_list args;

	va_start(args, pid);
	run_start_list(run, pid, args);
	va_end(args);
}

/* Reads some more of its stderr; false at the end. */
static bool
read_err(struct run *run)
{
	char bytes[4096];
	ssize_t n = read(run->err_fd, bytes, sizeof(bytes));

	if (n <= 0)
		return n < 0 && errno == EINTR;
	run->err = realloc(run->err, run->err_length + (size_t)n + 1);
	if (run->err == NULL)
		harness_die("no memory");
	memcpy(run->err + run->err_length, bytes, (size_t)n);
	run->err_length += (size_t)n;
	run->err[run->err_length] = '\0';
	return true;
}

bool
run_wait_sampling(struct run *run)
{
	while (run->err == NULL || strstr(run->err, "wallsample: sampling ") == NULL)
		if (!read_err(run))
			return false;
	return true;
}

/* The whole of a file, zero-terminated. */
static char *
read_all(int fd)
{
	const off_t size = lseek(fd, 0, SEEK_END);
	char *text = malloc(size > 0 ? (size_t)size + 1 : 1);
	size_t length = 0;
	ssize_t n = 1;

	if (text == NULL)
		harness_die("no memory");
	while (n > 0 && length < (size_t)size) {
		n = pread(fd, text + length, (size_t)size - length, (off_t)length);
		length += n > 0 ? (size_t)n : 0;
	}
	text[length] = '\0';
	return text;
}

void
run_finish(struct run *run)
{
	while (read_err(run))
		;
	close(run->err_fd);
	if (waitpid(run->pid, &run->status, 0) != run->pid)
		harness_die("wallsample has got lost: %s", strerror(errno));
	run->ended_ns = harness_now_ns();
	run->out = read_all(run->out_fd);
	close(run->out_fd);
	if (run->err == NULL)
		run->err = strdup("");
}

void
run_whole(struct run *run, pid_t pid, ...)
{
	va_list args;

	va_start(args, pid);
	run_start_list(run, pid, args);
	va_end(args);
	run_finish(run);
}

void
run_release(struct run *run)
{
	free(run->out);
	free(run->err);
	run->out = run->err = NULL;
}

bool
run_succeeded(const struct run *run)
{
	return CHECK(WIFEXITED(run->status) && WEXITSTATUS(run->status) <= 1,
		     "wallsample ended with wait status 0x%x and said: %s",
		     (unsigned)run->status, run->err);
}
