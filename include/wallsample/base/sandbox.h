/* SPDX-License-Identifier: MIT */
/*
 * sandbox.h - takes from the calling process what it does not need to read foreign bytes, so that
 * an error in a library does little harm.
 */
#ifndef WALLSAMPLE_BASE_SANDBOX_H
#define WALLSAMPLE_BASE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sandbox_limits {
	uint64_t memory; /* bytes of address space that the process may use in addition; 0: any */
	uint64_t cpu_s;  /* seconds of CPU time that it may use from its start on; 0: any */
};

/*
 * Irrevocably gives up all capabilities of the calling process, which has one thread, and limits
 * its system calls by seccomp(2): it can use the descriptors that it has, allocate memory and end.
 * It cannot open files, use the network, signal or trace processes, or execute programs. Other
 * system calls fail with EPERM. Two files can still be opened for reading: /proc/meminfo, and
 * /proc/self/fd/N, which gives a duplicate of descriptor N; the open then takes place in a handler
 * of SIGSYS. Returns false if the kernel refuses the seccomp filter; the rest is done nevertheless.
 */
bool sandbox_enter(const struct sandbox_limits *limits);

/* Closes all descriptors of the process except the `count` descriptors in `kept`, which are sorted
 * by this function. Negative numbers among them are ignored. */
void sandbox_keep_only(int *kept, size_t count);

#endif
