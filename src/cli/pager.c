/* SPDX-License-Identifier: MIT */
/* pager.c - runs a pager and gives it the text. */
#include "cli/pager_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/base/capability.h"
#include "cli/rights_internal.h"
#include "wallsample/report/display.h"

/* Status of a shell if the command was not found: POSIX, "Shell Command Language", 2.8.2. */
#define NOT_FOUND 127

/* Returns the number of lines of the terminal that `text`, whose length is `length`, takes. Escape
 * sequences of colours count as characters, so the number may be too large; less(1) then ends at
 * once, because the text fits on the screen. */
static size_t
rows_of(const char *text, size_t length, size_t columns)
{
	struct strbuf line = STRBUF_INIT;
	size_t width;

	strbuf_add_text(&line, "");
	strbuf_add(&line, text, length);
	width = display_width(line.data);
	strbuf_release(&line);
	return width <= columns ? 1 : (width + columns - 1) / columns;
}

static bool
is_longer_than_terminal(const char *text, size_t length, int fd)
{
	const char *end = text + length, *newline;
	struct winsize size;
	size_t rows = 0;

	if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
		return false;
	for (; rows < size.ws_row && text < end; text = newline + 1) {
		newline = memchr(text, '\n', (size_t)(end - text));
		if (newline == NULL)
			newline = end;
		rows += rows_of(text, (size_t)(newline - text), size.ws_col);
	}
	return rows >= size.ws_row;
}

/* In the child: replaces it by the pager, which reads from `input`. `command` NULL: less. */
static void
start_pager(const char *command, int input, int fd)
{
	static const int numbers[] = { SIGINT,  SIGQUIT, SIGTERM, SIGHUP,  SIGPIPE,
				       SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGXFSZ };
	sigset_t none;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		signal(numbers[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* The pager needs none of the capabilities and is no first victim of the OOM killer. */
	rights_restore_oom_score();
	capability_drop_all();
	if (dup2(input, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0)
		_exit(NOT_FOUND);
	/* F: less ends at once if the text fits the screen. R: it passes colours on. X: the text
	 * stays on the terminal afterwards. */
	setenv("LESS", "FRX", 0);
	if (command != NULL)
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	else
		execlp("less", "less", (char *)NULL);
	_exit(NOT_FOUND);
}

/* The running pager, and the signal that has ended it; 0: none. */
static volatile sig_atomic_t pager, ended_by;

/* Ends the pager with wallsample, so that it does not stay on the terminal. */
static void
on_end(int number)
{
	ended_by = number;
	if (pager > 0)
		kill((pid_t)pager, number);
}

/* Runs the pager. Returns false if it did not end with status 0: it was not found, or failed. */
static bool
run_pager(const char *command, const char *text, size_t length, int fd)
{
	int ends[2], status = 0;
	sigset_t held, before;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	/* Both signals are blocked until this process knows the pager, and until the signals have
	 * their default effects in the other process. */
	sigemptyset(&held);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGHUP);
	sigprocmask(SIG_BLOCK, &held, &before);
	child = fork();
	if (child == 0)
		start_pager(command, ends[0], fd);
	pager = child;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[0]);
	/* It fails if the pager ends before it has read the text. */
	if (child > 0)
		(void)file_write_all(ends[1], text, length);
	close(ends[1]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	pager = 0;
	return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool
pager_show(const char *text, size_t length, int fd)
{
	static const int numbers[] = { SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGHUP };
	struct sigaction before[ARRAY_SIZE(numbers)];
	const char *command = getenv("PAGER");
	bool shown;

	if (getauxval(AT_SECURE) != 0 || tcgetpgrp(fd) != getpgrp() ||
	    !is_longer_than_terminal(text, length, fd) ||
	    (command != NULL && (command[0] == '\0' || strcmp(command, "cat") == 0)))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		const bool ends = numbers[i] == SIGTERM || numbers[i] == SIGHUP;
		const struct sigaction action = { .sa_handler = ends ? on_end : SIG_IGN };

		sigaction(numbers[i], NULL, &before[i]);
		/* As nohup(1) does, SIGHUP may have been ignored for wallsample. */
		if (before[i].sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
	shown = run_pager(command, text, length, fd);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		sigaction(numbers[i], &before[i], NULL);
	if (ended_by != 0) {
		signal(ended_by, SIG_DFL);
		raise(ended_by);
	}
	return shown;
}
