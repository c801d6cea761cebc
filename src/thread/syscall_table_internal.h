/* SPDX-License-Identifier: MIT */
/* syscall_table_internal.h - what a table of one architecture's system calls looks like. */
#ifndef WALLSAMPLE_THREAD_SYSCALL_TABLE_INTERNAL_H
#define WALLSAMPLE_THREAD_SYSCALL_TABLE_INTERNAL_H

#include <stddef.h>

#include "wallsample/thread/state.h"

/*
 * BREAKS: a stop by a tracer ends the call with EINTR, which no signal of the
 * program's own explains, so the tracer must have the kernel restart it. Measured
 * on Linux 6.18 for epoll_*wait, semop, semtimedop, rt_sigtimedwait,
 * io_getevents, and for socket calls with a SO_RCVTIMEO or SO_SNDTIMEO, which read
 * and write are when the descriptor is a socket; io_uring_enter and the rest of
 * each family by the same code in the kernel. Calls that are not listed restart by
 * themselves, or (close) must not be restarted at all.
 */
#define BREAKS 1

/*
 * TIMED: of those, what waits for events, often with a time-out that a restart begins anew.
 * Such a sleep is never cut short for the sake of a better stack.
 */
#define TIMED 4

/* SLEEPS: when it blocks it does so interruptibly (S), so that no look at
 * /proc/…/stat is needed to tell that from a wait for a disk (D). */
#define SLEEPS 2

/* WORKS: who is runnable in it may well be at work, not just back from its sleep. */
#define WORKS 8

struct syscall_row {
	const char *name; /* NULL: a gap in the numbers */
	unsigned char flags;
};

struct syscall_table { /* indexed by number */
	const struct syscall_row *row;
	size_t count;
};

/* Defined by the file of the architecture. */
extern const struct syscall_table syscall_table;

/* The number that two instructions load and call with; SYSCALL_UNKNOWN when they are others. */
long syscall_decode(const unsigned char code[SYSCALL_CODE_SIZE]);

#endif
