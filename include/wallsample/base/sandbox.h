/* SPDX-License-Identifier: MIT */
/*
 * sandbox.h - restricts the calling process to what reading untrusted files requires, so that a bug
 * in a library does little harm.
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
 * Irrevocably gives up all capabilities of the calling process, which has one thread, disables core
 * dumps, and limits its system calls by seccomp(2): it can use the descriptors that it has,
 * allocate memory, make threads and end. A handler of SIGSYS carries out open(2) and openat(2): for
 * /proc/self/fd/N they return a duplicate of descriptor N, for /proc/meminfo a descriptor of it,
 * and for every other path they fail with EACCES. All other system calls fail with EPERM (clone3
 * with ENOSYS); those of another architecture (32-bit code) kill the process. Returns false if the
 * kernel refuses the seccomp filter; the rest is done nevertheless.
 */
bool sandbox_enter(const struct sandbox_limits *limits);

/* Closes all descriptors of the process except the `count` descriptors in `kept`, which are sorted
 * by this function. Negative numbers among them are ignored. */
void sandbox_keep_only(int *kept, size_t count);

#endif
