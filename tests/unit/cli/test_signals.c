/* SPDX-License-Identifier: MIT */
/* test_signals.c - what the signals do that end or suspend wallsample, in child processes. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/signals_internal.h"

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unnoticed),  cmocka_unit_test(test_noticed),
		cmocka_unit_test(test_twice),      cmocka_unit_test(test_inherited_alarm),
		cmocka_unit_test(test_suspend),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
