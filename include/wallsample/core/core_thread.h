/* SPDX-License-Identifier: MIT */
/*
 * core_thread.h - the registers of a core file's threads, and its memory as a table of functions.
 */
#ifndef WALLSAMPLE_CORE_CORE_THREAD_H
#define WALLSAMPLE_CORE_CORE_THREAD_H

#include "wallsample/core/core.h"
#include "wallsample/base/memory.h"
#include "wallsample/tracer/snapshot.h"

struct core_thread {
	pid_t tid;
	struct regs regs;
	long syscall;     /* the call that it was in or returning from; SYSCALL_NONE: none */
	bool asleep;      /* it slept in the call until the end of the process interrupted it */
	uint64_t args[6]; /* of the call; undefined if there is none */
	uint64_t tls;     /* the thread pointer (fs_base, tpidr_el0); 0: not known */
};

/* False if the file, being truncated, does not have the registers. */
bool core_thread_read(const struct core *core, size_t index, struct core_thread *out);

/* The memory that the core has. The core is borrowed. */
struct memory core_memory(const struct core *core);

#endif
