/* SPDX-License-Identifier: MIT */
/*
 * sleeping_child.h - a forked child of the test, with one thread or two, that sleeps in a
 * known system call until it is told to go on.
 *
 * Code of the child lies where it lies in the test, because it was forked.
 */
#ifndef TEST_SLEEPING_CHILD_H
#define TEST_SLEEPING_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "wallsample/process/process.h"
#include "wallsample/thread/state.h"

struct sleeping_child {
	pid_t pid;   /* 0: none */
	int to;      /* what is written here is what `run` reads from its descriptor */
	int from;    /* and the other way round */
	struct process *process;
};

/* Forks a child that calls `run` and exits. It is killed when the test ends. */
void sleeping_child_start(struct sleeping_child *child, void (*run)(int in, int out));

/*
 * Waits until the thread sleeps in system call `number`; tells its counters and the system
 * call then. False when the kernel does not let us look.
 */
bool sleeping_child_settle(const struct sleeping_child *child, struct watch *watch, long number,
			   struct sched *sched, struct syscall_info *info);

/* Reads a byte from the child. */
void sleeping_child_hear(const struct sleeping_child *child);

/* Kills it and waits for its end. The process stays open. */
void sleeping_child_kill(struct sleeping_child *child);

/* Kills it if need be and forgets it. */
void sleeping_child_release(struct sleeping_child *child);

#endif
