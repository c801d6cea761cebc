/* SPDX-License-Identifier: MIT */
/*
 * sleeping_child.h - a forked child of the test, with one or two threads, that sleeps in a known
 * system call until the test wakes it.
 *
 * The addresses of functions are the same in the child and in the test.
 */
#ifndef TEST_SLEEPING_CHILD_H
#define TEST_SLEEPING_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "wallsample/process/process.h"
#include "wallsample/thread/state.h"

struct sleeping_child {
	pid_t pid;   /* 0: there is no child */
	int to; /* descriptor: what is written here can be read from the child's descriptor `in` */
	int from; /* descriptor: what the child writes to its descriptor `out` can be read here */
	struct process *process;
	uint64_t start_stack; /* that of the program (proc_pid_stat(5)) */
};

/* Forks a child that calls `run` and exits. The child is killed when the test process ends. */
void sleeping_child_start(struct sleeping_child *child, void (*run)(int in, int out));

/*
 * Waits until the child's thread sleeps in system call `number`, and stores its scheduling counters
 * and the system call. Returns false when the kernel does not permit to read them.
 */
bool sleeping_child_settle(const struct sleeping_child *child, struct watch *watch, long number,
			   struct sched *sched, struct syscall_info *info);

/* Waits for a byte from the child. */
void sleeping_child_hear(const struct sleeping_child *child);

/* Kills the child and waits for its end. child->process stays open. */
void sleeping_child_kill(struct sleeping_child *child);

/* Kills the child if it still runs, and frees child->process. */
void sleeping_child_release(struct sleeping_child *child);

#endif
