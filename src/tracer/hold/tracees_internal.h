/* SPDX-License-Identifier: MIT */
/* tracees_internal.h - the threads that stay seized, with what is remembered of each. */
#ifndef WALLSAMPLE_TRACER_HOLD_TRACEES_INTERNAL_H
#define WALLSAMPLE_TRACER_HOLD_TRACEES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tracee {
	pid_t tid;
	bool set;          /* it has its breakpoints */
	bool stepping;     /* over one, without them */
	/* A signal handler came between a breakpoint and its instruction: when it returns, that
	 * breakpoint is met again, with this stack pointer. 0: not so. */
	uint64_t again_pc, again_sp;
};

/* Ascending by id. Begins as zeros. */
struct tracees {
	struct tracee *item;
	size_t count, capacity;
};

/* NULL when it is not there; valid until the next change. */
struct tracee *tracees_find(const struct tracees *tracees, pid_t tid);
/* It must not be there yet. */
struct tracee *tracees_add(struct tracees *tracees, pid_t tid);
void tracees_remove(struct tracees *tracees, pid_t tid);
void tracees_clear(struct tracees *tracees);
void tracees_release(struct tracees *tracees);

#endif
