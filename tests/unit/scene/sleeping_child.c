/* SPDX-License-Identifier: MIT */
/* sleeping_child.c - a forked child that sleeps in a known system call; see the header. */
#include "sleeping_child.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void
sleeping_child_start(struct sleeping_child *child, void (*run)(int in, int out))
{
	struct task_stat stat;
	int to[2], from[2];
	struct error err;

	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe(from), 0);
	child->pid = fork();
	assert_true(child->pid >= 0);
	if (child->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(to[1]);
		close(from[0]);
		run(to[0], from[1]);
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	child->to = to[1];
	child->from = from[0];
	child->process = NULL;
	assert_int_equal(process_open(child->pid, &child->process, &err), 0);
	assert_true(process_read_task_stat(child->process, child->pid, &stat));
	child->start_stack = stat.start_stack;
}

bool
sleeping_child_settle(const struct sleeping_child *child, struct watch *watch, long number,
		      struct sched *sched, struct syscall_info *info)
{
	/* If the child never sleeps, the alarm of the test ends this loop. */
	for (;; sched_yield()) {
		struct sched after;
		enum watch_end look;

		assert_int_equal(watch_read_sched(watch, child->process, sched), WATCH_OK);
		look = watch_read_syscall(watch, child->process, info);
		if (look == WATCH_DENIED)
			return false;
		assert_int_equal(look, WATCH_OK);
		assert_int_equal(watch_read_sched(watch, child->process, &after), WATCH_OK);
		if (!info->running && info->number == number &&
		    after.switches == sched->switches)
			return true;
	}
}

void
sleeping_child_hear(const struct sleeping_child *child)
{
	char byte;

	assert_int_equal(read(child->from, &byte, 1), 1);
}

void
sleeping_child_kill(struct sleeping_child *child)
{
	if (child->pid <= 0)
		return;
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	child->pid = 0;
	close(child->to);
	close(child->from);
}

void
sleeping_child_release(struct sleeping_child *child)
{
	sleeping_child_kill(child);
	process_free(child->process);
	memset(child, 0, sizeof(*child));
}
