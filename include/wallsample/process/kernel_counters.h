/* SPDX-License-Identifier: MIT */
/* kernel_counters.h - what the kernel has counted for a whole process: its system calls that read
 * and write, its page faults, and the time for which a limit on its CPU time was used up. */
#ifndef WALLSAMPLE_PROCESS_KERNEL_COUNTERS_H
#define WALLSAMPLE_PROCESS_KERNEL_COUNTERS_H

#include "wallsample/process/process.h"

/* Sums since the process started, threads that have ended included. Counters that cannot be read
 * are 0. */
struct counters {
	/* Numbers of system calls that read (read, pread64, readv; not recv) and that write, and
	 * the bytes that they transferred: proc_pid_io(5). */
	uint64_t reads, read_bytes, writes, written_bytes;
	/* Page faults, and those of them that waited for a disk: proc_pid_stat(5). */
	uint64_t minor_faults, major_faults;
	/*
	 * Time of the periods, usually of 100 ms, in which a control group of the process or an
	 * ancestor of it had used up its limit on CPU time (cpu.stat, cpu.max), so that the threads
	 * of the group waited until the period ended. The group with the most is counted; it also
	 * counts what other processes of the group have used.
	 */
	uint64_t throttled_ns;
	/* Smallest limit of these groups, as a number of CPUs; 0: none. It is not a sum. */
	double cpu_limit;
};

/* Reads the counters. Returns false if the process has exited; then *out is not changed. */
bool process_read_counters(const struct process *process, struct counters *out);

/* Returns the counters of `now` less those of `before`; 0 for those that have become smaller. The
 * limit is that of `now`. */
struct counters counters_since(const struct counters *before, const struct counters *now);

/* Adds the counters of another process. The limit becomes the smaller one. */
void counters_add(struct counters *sum, const struct counters *other);

#endif
