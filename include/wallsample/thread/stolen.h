/* SPDX-License-Identifier: MIT */
/*
 * stolen.h - the time for which a hypervisor gave the CPUs of a virtual machine to others, while
 * threads of this machine were on these CPUs (steal time, proc_stat(5)).
 *
 * Where the kernel knows it (CONFIG_PARAVIRT_TIME_ACCOUNTING), schedstat leaves it out: the thread
 * was neither on a CPU nor did it wait in a run queue. The kernel counts it for each CPU, not for
 * threads.
 */
#ifndef WALLSAMPLE_THREAD_STOLEN_H
#define WALLSAMPLE_THREAD_STOLEN_H

#include <stdbool.h>
#include <stdint.h>

/* Sums over all CPUs since the machine has started, with the resolution of 1/sysconf(_SC_CLK_TCK)
 * for each CPU. */
struct machine_time {
	uint64_t busy_ns;   /* CPUs executed threads or interrupts */
	uint64_t stolen_ns; /* CPUs had threads to execute, and were used by others */
};

/* Reads the sums. Returns false if they cannot be read. Takes microseconds, on machines with
 * hundreds of CPUs milliseconds. */
bool machine_time_read(struct machine_time *out);
/* Parses the text of /proc/stat. `hz`: units a second. Returns false if it does not begin with the
 * sums of all CPUs. */
bool machine_time_parse(const char *text, uint64_t hz, struct machine_time *out);
/* Returns the stolen time for each unit of busy time between two readings; 0: none, or `after` is
 * not after `before`. */
double machine_time_stolen(const struct machine_time *before, const struct machine_time *after);

/* The stolen time of successive windows of about a second. */
struct stolen {
	bool (*read)(struct machine_time *out); /* machine_time_read; tests use another function */
	struct machine_time last; /* latest result; stolen_ns is 0: no time was ever stolen */
	unsigned unread;          /* number of windows that were not read */
	double share;             /* stolen time for each unit of busy time in the last window */
};

/* Begins the first window. */
void stolen_begin(struct stolen *stolen);
/* Ends a window: sets `share`. On a machine without stolen time most windows are not read. */
void stolen_end_window(struct stolen *stolen);

#endif
