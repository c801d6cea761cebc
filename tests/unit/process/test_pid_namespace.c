/* SPDX-License-Identifier: MIT */
/*
 * test_pid_namespace.c - threads of other processes by their ids, in the pid namespace of this
 * process and in another one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../scene/sleeping_child.h"
#include "wallsample/process/process.h"

#define UNUSED_ID (PROCESS_ID_LIMIT - 1)

static struct process *
open_process(pid_t pid)
{
	struct process *process;
	struct error err;

	assert_int_equal(process_open(pid, &process, &err), 0);
	return process;
}

/* --- one namespace -------------------------------------------------------------------------- */

/* Writes its thread id, and waits for the end of the pipe. */
static void *
thread_run(void *ends)
{
	const int *end = ends;
	const pid_t tid = (pid_t)syscall(SYS_gettid);
	char byte;

	if (write(end[1], &tid, sizeof(tid)) == sizeof(tid))
		while (read(end[0], &byte, 1) > 0)
			continue;
	return NULL;
}

static void
run_thread(int in, int out)
{
	int ends[] = { in, out };
	pthread_t thread;

	prctl(PR_SET_NAME, "of (thread)");
	if (pthread_create(&thread, NULL, thread_run, ends) == 0)
		pthread_join(thread, NULL);
}

/* The thread of another process, and the process of a thread. */
static void
test_same_namespace(void **state)
{
	struct process *self = open_process(getpid());
	struct sleeping_child child;
	char comm[PROCESS_COMM_SIZE];
	pid_t tid, pid;

	(void)state;
	sleeping_child_start(&child, run_thread);
	assert_int_equal(read(child.from, &tid, sizeof(tid)), sizeof(tid));
	assert_int_not_equal(tid, child.pid);
	assert_true(process_shares_pid_namespace(child.process));
	assert_true(process_pid_namespace(self) != 0);
	assert_int_equal(process_pid_namespace(self), process_pid_namespace(child.process));
	assert_int_equal(process_translate_tid(self, getpid()), getpid());
	assert_int_equal(process_translate_tid(self, tid), tid);
	assert_int_equal(process_translate_tid(self, child.pid), child.pid);
	assert_true(process_of_thread(tid, &pid, comm));
	assert_int_equal(pid, child.pid);
	assert_string_equal(comm, "of (thread)");
	assert_int_equal(process_translate_tid(self, 0), 0);
	assert_int_equal(process_translate_tid(self, -1), 0);
	assert_int_equal(process_translate_tid(self, UNUSED_ID), 0);
	assert_false(process_of_thread(UNUSED_ID, &pid, comm));
	sleeping_child_kill(&child);
	assert_int_equal(process_translate_tid(self, child.process->pid), 0);
	assert_false(process_of_thread(tid, &pid, comm));
	process_free(self);
	sleeping_child_release(&child);
}

/* A process that has exited, and that its parent has not collected, has no living thread. */
static void
test_zombie(void **state)
{
	struct process *self = open_process(getpid());
	const pid_t pid = fork();
	char comm[PROCESS_COMM_SIZE];
	siginfo_t info;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(process_translate_tid(self, pid), 0);
	assert_false(process_of_thread(pid, &(pid_t){ 0 }, comm));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	process_free(self);
}

/* --- two namespaces -------------------------------------------------------------------------- */

/* Makes two processes in a new namespace, where their ids are 1 and 2. Writes their ids in the
 * namespace of this process. */
static void
make_namespace(int in, int out)
{
	pid_t pid[2] = { 0, 0 };
	char byte;

	if (unshare(CLONE_NEWPID) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0)
		for (int i = 0; i < 2; i++) {
			pid[i] = fork();
			if (pid[i] != 0)
				continue;
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			while (read(in, &byte, 1) > 0)
				continue;
			_exit(0);
		}
	if (write(out, pid, sizeof(pid)) != sizeof(pid))
		_exit(1);
	while (read(in, &byte, 1) > 0)
		continue;
}

static void
check_namespace(const pid_t pid[2])
{
	struct process *self = open_process(getpid()), *first = open_process(pid[0]),
		       *second = open_process(pid[1]);

	assert_false(process_shares_pid_namespace(first));
	assert_int_equal(process_pid_namespace(first), process_pid_namespace(second));
	assert_int_not_equal(process_pid_namespace(self), process_pid_namespace(second));
	assert_int_equal(process_inner_tid(second, pid[1]), 2);
	if (process_translate_tid(first, 1) == -1) {
		print_message("the kernel does not translate thread ids\n");
	} else {
		assert_int_equal(process_translate_tid(first, 1), pid[0]);
		assert_int_equal(process_translate_tid(first, 2), pid[1]);
		assert_int_equal(process_translate_tid(second, 1), pid[0]);
		assert_int_equal(process_translate_tid(first, UNUSED_ID), 0);
		/* This process has no id in their namespace. */
		assert_int_equal(process_translate_tid(first, getpid()), 0);
		kill(pid[1], SIGKILL);
		while (process_translate_tid(first, 2) != 0) /* the alarm of the test ends this */
			sched_yield();
	}
	process_free(self);
	process_free(first);
	process_free(second);
}

static void
test_other_namespace(void **state)
{
	struct sleeping_child child;
	pid_t pid[2];

	(void)state;
	sleeping_child_start(&child, make_namespace);
	assert_int_equal(read(child.from, pid, sizeof(pid)), sizeof(pid));
	if (pid[0] > 0 && pid[1] > 0)
		check_namespace(pid);
	sleeping_child_release(&child);
	if (pid[0] > 0 && pid[1] > 0)
		return;
	print_message("a pid namespace is not permitted here\n");
	skip();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_namespace),
		cmocka_unit_test(test_zombie),
		cmocka_unit_test(test_other_namespace),
	};

	alarm(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
