/* SPDX-License-Identifier: MIT */
/* test_signals.c - what the signals do that end or suspend wallsample, in child processes. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/signals_internal.h"
#include "wallsample/cli/supervisor.h"

/* Runs `child` in a child process, which must not return from it, and returns its wait status. */
static int
status_of(void (*child)(void))
{
	const pid_t pid = fork();
	int status = 0;

	assert_true(pid >= 0);
	if (pid == 0) {
		/* Messages are not part of the test. */
		close(STDERR_FILENO);
		child();
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void
wait_for_ever(void)
{
	for (;;)
		pause();
}

static void
ignore_stop(void)
{
	signals_install();
	raise(SIGTERM);
	wait_for_ever();
}

/* Without a call of signals_noticed a signal ends the program after five seconds. */
static void
test_unnoticed(void **state)
{
	const int status = status_of(ignore_stop);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 128 + SIGTERM);
}

static void
notice_stop(void)
{
	signals_install();
	raise(SIGTERM);
	signals_noticed();
	/* The rest of the time until the alarm; 0: there is none. */
	_exit(signals_stop == SIGTERM && alarm(0) == 0 ? 7 : 8);
}

static void
test_noticed(void **state)
{
	const int status = status_of(notice_stop);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

static void
stop_twice(void)
{
	signals_install();
	raise(SIGINT);
	raise(SIGTERM);
	wait_for_ever();
}

static void
test_twice(void **state)
{
	const int status = status_of(stop_twice);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 128 + SIGTERM);
}

static void
keep_alarm(void)
{
	alarm(1);
	signals_install();
	signals_noticed();
	wait_for_ever();
}

/* An alarm that was set before the program was executed kills it, as if it knew no alarms. */
static void
test_inherited_alarm(void **state)
{
	const int status = status_of(keep_alarm);

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGALRM);
}

static void
defer(void)
{
	signals_install();
	signals_defer_suspend(true);
	raise(SIGTSTP);
	if (signals_suspend != SIGTSTP)
		_exit(8);
	raise(SIGCONT); /* not from the supervisor: cancels the suspension */
	_exit(signals_suspend == 0 ? 7 : 9);
}

static void
test_suspend(void **state)
{
	const int status = status_of(defer);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

/* --- the supervisor ------------------------------------------------------------------------- */

#define LAST_PID "/proc/sys/kernel/ns_last_pid"
/* Other processes may take the id before the test does. */
#define TRIES 500

static int
report_nothing(void *context)
{
	(void)context;
	return 0;
}

/* Returns the process id of the keeper; 0: there is none. */
static pid_t
find_keeper(void)
{
	FILE *found = popen("for child in $(cat /proc/$PPID/task/*/children); do "
			    "grep -q '^ws-keeper$' /proc/$child/comm && echo $child; done", "re");
	int pid = 0;

	if (found == NULL || fscanf(found, "%d", &pid) != 1)
		pid = 0;
	if (found != NULL)
		pclose(found);
	return pid;
}

/* Forks a process that waits, with this id. Returns false if that is not possible. */
static bool
fork_with_id(pid_t wanted)
{
	for (int i = 0; i < TRIES; i++) {
		FILE *last = fopen(LAST_PID, "we");
		pid_t child;

		if (last == NULL)
			return false;
		fprintf(last, "%d", (int)wanted - 1);
		if (fclose(last) != 0)
			return false;
		child = fork();
		if (child == 0)
			wait_for_ever();
		if (child == wanted)
			return true;
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	return false;
}

static void
abandon_after_end(void)
{
	struct error err;
	pid_t keeper;

	if (supervisor_start(&err) != 0)
		_exit(77);
	supervisor_keep(report_nothing, NULL);
	while ((keeper = find_keeper()) == 0)
		;
	supervisor_end();
	if (!fork_with_id(keeper))
		_exit(77);
	supervisor_abandon();
	if (waitpid(keeper, NULL, WNOHANG) != 0)
		_exit(1);
	kill(keeper, SIGKILL);
	_exit(0);
}

/* A second Ctrl-C after the end of sampling kills no process that has got the id of the keeper. */
static void
test_ended_keeper(void **state)
{
	const int status = status_of(abandon_after_end);

	(void)state;
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unnoticed),  cmocka_unit_test(test_noticed),
		cmocka_unit_test(test_twice),      cmocka_unit_test(test_inherited_alarm),
		cmocka_unit_test(test_suspend),
		cmocka_unit_test(test_ended_keeper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
