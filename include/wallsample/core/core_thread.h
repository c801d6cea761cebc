/* SPDX-License-Identifier: MIT */
/*
 * core_thread.h - the registers of a core file's threads, and its memory as a table of functions.
 */
#ifndef WALLSAMPLE_CORE_CORE_THREAD_H
#define WALLSAMPLE_CORE_CORE_THREAD_H

#include "wallsample/core/core.h"
#include "wallsample/tracer/memory.h"
#include "wallsample/tracer/snapshot.h"

struct core_thread {
	pid_t tid;
	struct regs regs;
	long syscall;     /* the call that it was in or just leaving; SYSCALL_NONE: in none */
	bool asleep;      /* it slept in it until the end of the process had it leave */
	uint64_t args[6]; /* of the call; only then they say something */
	uint64_t tls;     /* the thread pointer (fs_base, tpidr_el0); 0: not known */
};

/* False when its registers cannot be read: the file was cut short. */
bool core_thread_read(const struct core *core, size_t index, struct core_thread *out);

/* Of what the core has; borrowed from it. */
struct memory core_memory(const struct core *core);

#endif
