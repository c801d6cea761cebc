/* SPDX-License-Identifier: MIT */
/* breakpoint_internal.h - how each architecture makes a stopped thread stop at an address. */
#ifndef WALLSAMPLE_TRACER_HOLD_BREAKPOINT_INTERNAL_H
#define WALLSAMPLE_TRACER_HOLD_BREAKPOINT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/tracer/tracer_count.h"

struct breakpoints {
	uint64_t address[TRACER_COUNT_MOST];
	size_t count;
};

/* 0, or the error number: ENOSPC when others have them all, EINVAL of an address. */
int breakpoints_set(pid_t tid, const struct breakpoints *breakpoints);

/* One system call, as a signal handler may; ESRCH: it was killed in its stop. */
int breakpoints_clear(pid_t tid);

/*
 * Does a thread that goes on from a breakpoint meet it again at once? On x86-64 the kernel sets the
 * resume flag, and keeps it over signal handlers (since Linux 3.11). Else it has to be stepped
 * over.
 */
extern const bool breakpoint_needs_step;

/* Where a stopped thread is. */
struct breakpoint_place {
	uint64_t pc, sp;
};

bool breakpoint_find_place(pid_t tid, struct breakpoint_place *out);

#endif
