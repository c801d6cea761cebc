/* SPDX-License-Identifier: MIT */
/*
 * test_state.c - what /proc says of a thread: the parsers on hostile text, the table of
 * system calls, and looks at a child that sleeps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../scene/sleeping_child.h"
#include "wallsample/base/base.h"
#include "wallsample/thread/own.h"
#include "wallsample/thread/state.h"
#include "wallsample/thread/stolen.h"

/*
 * Calls `parse` with each beginning of the text, in memory of just that length so that the
 * sanitizers see a read too far. Returns the length of the shortest that is accepted.
 */
static size_t
shortest_accepted(const char *text, bool (*parse)(const char *text))
{
	size_t length = strlen(text), shortest = SIZE_MAX;

	for (size_t i = 0; i <= length; i++) {
		char *part = malloc(i + 1);

		assert_non_null(part);
		memcpy(part, text, i);
		part[i] = '\0';
		if (parse(part) && shortest == SIZE_MAX)
			shortest = i;
		free(part);
	}
	return shortest;
}

static bool
is_schedstat(const char *text)
{
	struct sched sched;

	return sched_parse_schedstat(text, &sched);
}

static bool
is_status(const char *text)
{
	struct sched sched;

	return sched_parse_status(text, &sched);
}

static bool
is_syscall(const char *text)
{
	struct syscall_info info;

	return syscall_parse(text, &info);
}

static void
test_schedstat(void **state)
{
	static const char *const bad[] = {
		"", "\n", " ", "1", "1 2", "1 2 ", "1 2 \n", "-1 2 3", "1 -2 3", "1 2 -3",
		"a 2 3", "1 b 3", "1 2 c", "0x1 2 3", "18446744073709551616 2 3",
		"1 18446744073709551616 3", "1 2 18446744073709551616", "1,2,3", "+1 2 3",
		"1 2 99999999999999999999999999999999999999",
	};
	struct sched sched;

	(void)state;
	assert_true(sched_parse_schedstat("123 456 789\n", &sched));
	assert_int_equal(sched.cpu_ns, 123);
	assert_int_equal(sched.delay_ns, 456);
	assert_int_equal(sched.switches, 789);
	assert_true(sched_parse_schedstat("0 0 18446744073709551615", &sched));
	assert_true(sched.switches == UINT64_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (is_schedstat(bad[i]))
			fail_msg("accepted: \"%s\"", bad[i]);
	assert_int_equal(shortest_accepted("123 456 789\n", is_schedstat), strlen("123 456 7"));
}

static bool
is_switch(const char *text)
{
	uint64_t ns;

	return switch_parse(text, &ns);
}

static void
test_switch(void **state)
{
	static const char *const bad[] = {
		"",
		"\n",
		"se.exec_start : 1.000000\n", /* not a line of its own */
		"x (1)\nse.exec_start\n",
		"x (1)\nse.exec_start :\n",
		"x (1)\nse.exec_start : 5\n",
		"x (1)\nse.exec_start : 5.\n",
		"x (1)\nse.exec_start : 5.12345\n", /* not six digits */
		"x (1)\nse.exec_start : 5.1234567\n",
		"x (1)\nse.exec_start : -5.123456\n",
		"x (1)\nse.exec_start : 18446744073709.551616\n", /* more than 64 bits */
		"x (1)\nse.exec_startx : 5.123456\n",
		"x (1)\nse.vruntime : 5.123456\n",
	};
	static const char good[] = "redis-server (8731, #threads: 5)\n"
				   "------------------------------\n"
				   "se.exec_start                       :      37524654.844448\n"
				   "se.vruntime                         :       1141391.343566\n";
	uint64_t ns;

	(void)state;
	assert_true(switch_parse(good, &ns));
	assert_true(ns == UINT64_C(37524654844448));
	assert_true(switch_parse("x (1)\nse.exec_start : 0.000001", &ns));
	assert_true(ns == 1);
	/* A thread that is named after the field. */
	assert_true(
		switch_parse("\nse.exec_start (7, #threads: 1)\nse.exec_start : 2.000003\n", &ns));
	assert_true(ns == 2 * NS_PER_MS + 3);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (is_switch(bad[i]))
			fail_msg("accepted: \"%s\"", bad[i]);
	assert_int_equal(shortest_accepted(good, is_switch),
			 strstr(good, "37524654.844448") - good + strlen("37524654.844448"));
}

/* The calling thread: its last switch was when it got its CPU. */
static void
test_own(void **state)
{
	struct own_thread own, none = { .delay_fd = -1, .switch_fd = -1 };
	uint64_t before, delay;

	(void)state;
	own_thread_open(&own);
	assert_true(own_thread_switch(&none) == 0);
	assert_true(own_thread_delay(&none) == 0);
	before = own_thread_switch(&own);
	delay = own_thread_delay(&own);
	usleep(1000);
	assert_true(own_thread_delay(&own) >= delay);
	if (before == 0) {
		own_thread_close(&own);
		print_message("this kernel has no file \"sched\"\n");
		skip();
	}
	assert_true(own_thread_switch(&own) != before);
	own_thread_close(&own);
	assert_int_equal(own.switch_fd, -1);
}

static void
test_status(void **state)
{
	static const char good[] = "Name:\tcat\nState:\tS (sleeping)\n"
				   "voluntary_ctxt_switches:\t150\n"
				   "nonvoluntary_ctxt_switches:\t7\n";
	static const char *const bad[] = {
		"", "\n", "voluntary_ctxt_switches:", "voluntary_ctxt_switches:\t1\n",
		"nonvoluntary_ctxt_switches:\t1\n", "xvoluntary_ctxt_switches:\t1\n",
		"voluntary_ctxt_switches:\t-1\nnonvoluntary_ctxt_switches:\t7\n",
		"voluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t-7\n",
		"voluntary_ctxt_switches:\tx\nnonvoluntary_ctxt_switches:\t7\n",
		"voluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t\n",
		"voluntary_ctxt_switches:\t18446744073709551616\n"
		"nonvoluntary_ctxt_switches:\t7\n",
		/* one line is no beginning of another */
		"voluntary_ctxt_switches:\t1\nx nonvoluntary_ctxt_switches:\t7\n",
	};
	struct sched sched = { 0 };

	(void)state;
	assert_true(sched_parse_status(good, &sched));
	assert_int_equal(sched.switches, 157);
	assert_int_equal(sched.cpu_ns, 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (is_status(bad[i]))
			fail_msg("accepted: \"%s\"", bad[i]);
	assert_int_equal(shortest_accepted(good, is_status), strlen(good) - 1);
}

static void
test_syscall_text(void **state)
{
	static const char asleep[] = "232 0x3 0x7f00 0x10 0xffffffffffffffff 0x0 0x8 "
				     "0x7ffd00001000 0x7f0000002000\n";
	struct syscall_info info;

	(void)state;
	assert_true(syscall_parse(asleep, &info));
	assert_false(info.running);
	assert_int_equal(info.number, 232);
	assert_int_equal(info.args[0], 3);
	assert_int_equal(info.args[1], 0x7f00);
	assert_true(info.args[3] == UINT64_MAX);
	assert_int_equal(info.args[5], 8);
	assert_true(info.sp == UINT64_C(0x7ffd00001000));
	assert_true(info.pc == UINT64_C(0x7f0000002000));

	assert_true(syscall_parse("running\n", &info));
	assert_true(info.running);

	assert_true(syscall_parse("-1 0x7ffd00001000 0x7f0000002000\n", &info));
	assert_false(info.running);
	assert_int_equal(info.number, SYSCALL_NONE);
	assert_true(info.sp == UINT64_C(0x7ffd00001000));
	assert_int_equal(info.args[0], 0);

	/* a thread that is exiting */
	assert_true(syscall_parse("-1 0x0 0x0\n", &info));
	assert_int_equal(info.sp, 0);
}

static void
test_syscall_text_hostile(void **state)
{
	static const char *const bad[] = {
		"", "\n", " ", "runnin", "-1", "-1 0x1", "-1 0x1 ", "-1 0x1 0x", "-1 1 2",
		"-1 0x1 2", "-1 0x 1 0x2", "-1 0x-1 0x2", "-1 -0x1 0x2", "-1 0xg 0x2",
		"-2 0x1 0x2", "- 0x1 0x2", "--1 0x1 0x2", "x 0x1 0x2",
		"-1 0x10000000000000000 0x2", "-1 0x1 0x10000000000000000",
		"-9223372036854775808 0x1 0x2", "-9223372036854775809 0x1 0x2",
		"9223372036854775807 0x1 0x1 0x1 0x1 0x1 0x1 0x1 0x1",
		"9223372036854775808 0x1 0x1 0x1 0x1 0x1 0x1 0x1 0x1",
		"4294967297 0x1 0x1 0x1 0x1 0x1 0x1 0x1 0x1",
		"0 0x1 0x1 0x1 0x1 0x1 0x1 0x1", "0 0x1 0x1 0x1 0x1 0x1 0x1 0x1 ",
		"0x0 0x1 0x1 0x1 0x1 0x1 0x1 0x1 0x1",
		"-1\t0x1\t0x2",
	};
	static const char asleep[] = "0 0x1 0x2 0x3 0x4 0x5 0x6 0x77 0x88\n";

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (is_syscall(bad[i]))
			fail_msg("accepted: \"%s\"", bad[i]);
	assert_int_equal(shortest_accepted(asleep, is_syscall), strlen(asleep) - 2);
	assert_int_equal(shortest_accepted("-1 0x77 0x88\n", is_syscall), strlen("-1 0x77 0x8"));
	assert_int_equal(shortest_accepted("running\n", is_syscall), strlen("running"));
}

/* Whatever the bytes are, parsers return. */
static void
test_noise(void **state)
{
	static const char alphabet[] = "0123456789abcdefx -\n\t:runigvolutary_cxswhe\x80\xff";
	struct rng rng;

	(void)state;
	rng_seed(&rng, 20);
	for (int i = 0; i < 20000; i++) {
		size_t length = rng_next(&rng) % 100;
		char *text = malloc(length + 1);

		assert_non_null(text);
		for (size_t at = 0; at < length; at++)
			text[at] = alphabet[rng_next(&rng) % (sizeof(alphabet) - 1)];
		text[length] = '\0';
		is_schedstat(text);
		is_status(text);
		is_syscall(text);
		free(text);
	}
}

static void
test_run_states(void **state)
{
	static const char *const bad[] = { "", "x", "rr", " running", "run", "runningg", "R ",
					   "\xff" };
	enum run_state parsed;

	(void)state;
	for (int i = 0; i < RUN_STATE_COUNT; i++) {
		const char letter[] = { run_state_letter((enum run_state)i), '\0' };

		assert_true(run_state_parse(run_state_text((enum run_state)i), &parsed));
		assert_int_equal(parsed, i);
		assert_true(run_state_parse(letter, &parsed));
		assert_int_equal(parsed, i);
		assert_int_equal(run_state_runnable((enum run_state)i),
				 i == RUN_RUNNING || i == RUN_QUEUED);
	}
	assert_true(run_state_parse("q", &parsed));
	assert_int_equal(parsed, RUN_QUEUED);
	assert_true(run_state_parse("SLEEPing", &parsed));
	assert_int_equal(parsed, RUN_SLEEPING);
	assert_true(run_state_parse("disk", &parsed)); /* its text in version 0.1.0 */
	assert_int_equal(parsed, RUN_UNINTERRUPTIBLE);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (run_state_parse(bad[i], &parsed))
			fail_msg("accepted: \"%s\"", bad[i]);
	/* A state from nowhere has a name, too. */
	assert_string_equal(run_state_text((enum run_state)RUN_STATE_COUNT),
			    run_state_text(RUN_UNKNOWN));
	assert_int_equal(run_state_letter((enum run_state)-1), '?');
}

static void
test_run_state_letters(void **state)
{
	(void)state;
	assert_int_equal(run_state_from_letter('R'), RUN_RUNNING);
	assert_int_equal(run_state_from_letter('S'), RUN_SLEEPING);
	assert_int_equal(run_state_from_letter('D'), RUN_UNINTERRUPTIBLE);
	assert_int_equal(run_state_from_letter('T'), RUN_STOPPED);
	assert_int_equal(run_state_from_letter('t'), RUN_STOPPED);
	for (int letter = 0; letter < 256; letter++)
		if (strchr("RSIDTt", letter) == NULL || letter == 0)
			assert_int_equal(run_state_from_letter((char)letter), RUN_UNKNOWN);
}

/* A stop ends these with EINTR. Not each architecture has each. */
static void
test_calls_that_break(void **state)
{
	static const char *const names[] = {
		"epoll_wait", "epoll_pwait", "epoll_pwait2", "semop", "semtimedop",
		"rt_sigtimedwait", "io_getevents", "io_pgetevents", "recvfrom", "recvmsg",
		"recvmmsg", "sendto", "sendmsg", "sendmmsg", "accept", "accept4", "connect",
		"read", "readv", "write", "writev", "io_uring_enter",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		long number = syscall_number(names[i]);

		if (number == SYSCALL_UNKNOWN)
			assert_string_equal(names[i], "epoll_wait"); /* the one that may lack */
		else if (!syscall_breaks_on_stop(number))
			fail_msg("%s does not break on a stop", names[i]);
	}
	/* A time-out that a restart would begin anew; a wait for data has none or seldom. */
	assert_true(syscall_minds_a_stop(syscall_number("epoll_pwait")));
	assert_true(syscall_minds_a_stop(syscall_number("rt_sigtimedwait")));
	assert_false(syscall_minds_a_stop(syscall_number("read")));
	assert_false(syscall_minds_a_stop(syscall_number("accept")));
}

/* These the kernel restarts by itself, or they must not be restarted (close). */
static void
test_calls_that_do_not_break(void **state)
{
	static const char *const names[] = {
		"poll", "ppoll", "select", "pselect6", "futex", "nanosleep", "clock_nanosleep",
		"pause", "restart_syscall", "wait4", "waitid", "close", "rt_sigsuspend",
		"rt_sigreturn", "openat", "getpid", "fsync", "flock", "fcntl", "msgrcv", "msgsnd",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (syscall_breaks_on_stop(syscall_number(names[i])))
			fail_msg("%s breaks on a stop", names[i]);
	assert_true(syscall_sleeps_interruptible(syscall_number("futex")));
	assert_true(syscall_sleeps_interruptible(syscall_number("ppoll")));
	/* may wait for a disk */
	assert_false(syscall_sleeps_interruptible(syscall_number("read")));
	assert_false(syscall_sleeps_interruptible(syscall_number("fsync")));
}

static void
test_calls_for_files(void **state)
{
	static const char *const files[] = {
		"read", "write", "openat", "newfstatat", "getdents64", "close", "fsync", "pread64",
	};
	static const char *const others[] = {
		"vfork", "clone", "clone3", "futex", "munmap", "mmap", "ioctl", "wait4",
		"exit_group", "execve", "poll",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (!syscall_waits_for_file(syscall_number(files[i]), RUN_UNINTERRUPTIBLE))
			fail_msg("%s", files[i]);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (syscall_waits_for_file(syscall_number(others[i]), RUN_UNINTERRUPTIBLE))
			fail_msg("%s", others[i]);
	assert_true(syscall_waits_for_file(syscall_number("fsync"), RUN_SLEEPING));
	assert_false(syscall_waits_for_file(syscall_number("flock"), RUN_SLEEPING));
	assert_true(syscall_waits_for_file_lock(syscall_number("flock"), RUN_SLEEPING));
	assert_true(syscall_waits_for_file_lock(syscall_number("fcntl"), RUN_SLEEPING));
	assert_false(syscall_waits_for_file_lock(syscall_number("fcntl"), RUN_UNINTERRUPTIBLE));
	assert_false(syscall_waits_for_file_lock(syscall_number("read"), RUN_SLEEPING));
	assert_false(syscall_waits_for_file_lock(SYSCALL_NONE, RUN_SLEEPING));
	assert_false(syscall_waits_for_file(syscall_number("read"), RUN_SLEEPING));
	assert_false(syscall_waits_for_file(syscall_number("fsync"), RUN_RUNNING));
	assert_false(syscall_waits_for_file(SYSCALL_NONE, RUN_UNINTERRUPTIBLE));
	assert_false(syscall_waits_for_file(SYSCALL_UNKNOWN, RUN_UNINTERRUPTIBLE));
}

static void
test_call_names(void **state)
{
	static const long strange[] = { SYSCALL_NONE, SYSCALL_UNKNOWN, LONG_MIN, LONG_MAX,
					100000, 1L << 32, 400 };
	size_t known = 0;

	(void)state;
	assert_int_equal(syscall_number("read"), SYS_read);
	assert_int_equal(syscall_number("futex"), SYS_futex);
	assert_int_equal(syscall_number("epoll_pwait2"), SYS_epoll_pwait2);
	assert_int_equal(syscall_number("restart_syscall"), SYS_restart_syscall);
	assert_true(syscall_is_restart(SYS_restart_syscall));
	assert_false(syscall_is_restart(SYS_read));
	assert_int_equal(syscall_number(""), SYSCALL_UNKNOWN);
	assert_int_equal(syscall_number("no such call"), SYSCALL_UNKNOWN);
	for (size_t i = 0; i < ARRAY_SIZE(strange); i++) {
		assert_null(syscall_name(strange[i]));
		assert_false(syscall_breaks_on_stop(strange[i]));
		assert_false(syscall_minds_a_stop(strange[i]));
		assert_false(syscall_sleeps_interruptible(strange[i]));
		assert_false(syscall_is_restart(strange[i]));
	}
	/* A name is of one number, so that no row stands in a wrong place twice. */
	for (long number = 0; number < 1000; number++) {
		const char *name = syscall_name(number);

		if (name != NULL)
			assert_int_equal(syscall_number(name), number);
		known += name != NULL;
		/* what minds a stop is among what breaks */
		assert_true(!syscall_minds_a_stop(number) || syscall_breaks_on_stop(number));
	}
	assert_true(known > 250);
}

/* Answers each byte with one. */
static void
echo(int in, int out)
{
	char byte;

	while (read(in, &byte, 1) == 1)
		if (write(out, &byte, 1) != 1)
			break;
}

static void
sleep_in_ppoll(int in, int out)
{
	(void)in, (void)out;
	for (;;)
		syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
}

/* One child, watched by both sources of counters, with descriptors kept open or not. */
static void
check_sleeper(enum sched_source source, bool keep_open)
{
	struct sleeping_child child;
	struct sched before, again;
	struct syscall_info info, more;
	struct watch watch;

	sleeping_child_start(&child, echo);
	watch_init(&watch, child.pid, source, keep_open);
	if (!sleeping_child_settle(&child, &watch, SYS_read, &before, &info)) {
		watch_release(&watch);
		sleeping_child_release(&child);
		skip();
	}
	assert_int_equal(info.args[2], 1);
	assert_true(info.sp != 0 && info.pc != 0);
	/* Its stack pointer is on the stack that it was forked with: ours, further down. */
	assert_true(info.sp < (uintptr_t)__builtin_frame_address(0) &&
		    info.sp > (uintptr_t)__builtin_frame_address(0) - (1 << 20));
	assert_int_equal(watch.sched_fd >= 0, keep_open);
	assert_int_equal(watch.syscall_fd >= 0, keep_open);

	for (int i = 0; i < 200; i++) {
		assert_int_equal(watch_read_sched(&watch, child.process, &again), WATCH_OK);
		assert_int_equal(again.switches, before.switches);
		assert_int_equal(watch_read_syscall(&watch, child.process, &more), WATCH_OK);
		assert_memory_equal(&more, &info, sizeof(info));
		sched_yield();
	}
	for (int i = 0; i < 5; i++) {
		assert_int_equal(write(child.to, "x", 1), 1);
		sleeping_child_hear(&child);
		assert_true(sleeping_child_settle(&child, &watch, SYS_read, &again, &more));
		assert_true(again.switches > before.switches);
		assert_true(more.sp == info.sp && more.pc == info.pc);
		before = again;
	}

	sleeping_child_kill(&child);
	assert_int_equal(watch_read_sched(&watch, child.process, &again), WATCH_GONE);
	assert_int_equal(watch_read_syscall(&watch, child.process, &more), WATCH_GONE);
	watch_release(&watch);
	assert_int_equal(watch.sched_fd, -1);
	assert_int_equal(watch.syscall_fd, -1);
	sleeping_child_release(&child);
}

static void
test_watch_open(void **state)
{
	(void)state;
	check_sleeper(sched_source_probe(), true);
}

static void
test_watch_closed(void **state)
{
	(void)state;
	check_sleeper(sched_source_probe(), false);
}

static void
test_watch_by_status(void **state)
{
	(void)state;
	check_sleeper(SCHED_FROM_STATUS, true);
	check_sleeper(SCHED_FROM_STATUS, false);
}

static void
test_watch_other_call(void **state)
{
	struct sleeping_child child;
	struct syscall_info info;
	struct sched sched;
	struct watch watch;
	bool allowed;

	(void)state;
	sleeping_child_start(&child, sleep_in_ppoll);
	watch_init(&watch, child.pid, sched_source_probe(), true);
	allowed = sleeping_child_settle(&child, &watch, SYS_ppoll, &sched, &info);
	watch_release(&watch);
	sleeping_child_release(&child);
	if (!allowed)
		skip();
	assert_int_equal(info.args[0], 0);
	assert_string_equal(syscall_name(info.number), "ppoll");
}

/* Of ourselves, who are running, and of a thread that is not of this process. */
static void
test_watch_self_and_stranger(void **state)
{
	struct syscall_info info;
	struct process *process;
	struct sched sched;
	struct watch watch;
	struct error err;

	(void)state;
	assert_int_equal(process_open(getpid(), &process, &err), 0);
	watch_init(&watch, getpid(), sched_source_probe(), true);
	assert_int_equal(watch_read_sched(&watch, process, &sched), WATCH_OK);
	assert_true(sched.switches > 0);
	assert_int_equal(watch_read_syscall(&watch, process, &info), WATCH_OK);
	watch_release(&watch);

	watch_init(&watch, getppid(), sched_source_probe(), true);
	assert_int_equal(watch_read_sched(&watch, process, &sched), WATCH_GONE);
	assert_int_equal(watch_read_syscall(&watch, process, &info), WATCH_GONE);
	watch_release(&watch);
	process_free(process);
}

/* The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal, guest. */
static void
test_machine_time(void **state)
{
	struct machine_time time, later;

	(void)state;
	assert_true(machine_time_parse("cpu  100 20 30 4000 5 6 7 80 9 1\ncpu0 1 2", 100, &time));
	assert_int_equal(time.busy_ns, 1630 * NS_PER_MS);
	assert_int_equal(time.stolen_ns, 800 * NS_PER_MS);
	assert_false(machine_time_parse("cpu  100 20 30 4000 5 6 7\n", 100, &later));
	assert_false(machine_time_parse("cpu0 100 20 30 4000 5 6 7 80\n", 100, &later));
	assert_false(machine_time_parse("", 100, &later));
	assert_false(machine_time_parse("cpu  1 2 3 4 5 6 7 8", 0, &later));
	later = time;
	assert_true(machine_time_stolen(&time, &later) == 0);
	later.busy_ns += 100;
	assert_true(machine_time_stolen(&time, &later) == 0);
	later.stolen_ns += 25;
	assert_true(machine_time_stolen(&time, &later) == 0.25);
	assert_true(machine_time_stolen(&later, &time) == 0);
	assert_true(machine_time_read(&time));
	assert_true(time.busy_ns > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_schedstat),
		cmocka_unit_test(test_switch),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_syscall_text),
		cmocka_unit_test(test_syscall_text_hostile),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_machine_time),
		cmocka_unit_test(test_run_states),
		cmocka_unit_test(test_run_state_letters),
		cmocka_unit_test(test_calls_that_break),
		cmocka_unit_test(test_calls_that_do_not_break),
		cmocka_unit_test(test_calls_for_files),
		cmocka_unit_test(test_call_names),
		cmocka_unit_test(test_watch_open),
		cmocka_unit_test(test_watch_closed),
		cmocka_unit_test(test_watch_by_status),
		cmocka_unit_test(test_watch_other_call),
		cmocka_unit_test(test_watch_self_and_stranger),
	};

	alarm(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
