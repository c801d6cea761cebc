/* SPDX-License-Identifier: MIT */
/* sleeper.h - copies the stack of a sleeping thread without a stop. */
#ifndef WALLSAMPLE_TRACER_SLEEPER_H
#define WALLSAMPLE_TRACER_SLEEPER_H

#include "wallsample/thread/state.h"
#include "wallsample/tracer/snapshot.h"
#include "wallsample/tracer/target_memory.h"

enum read_end {
	READ_CAPTURED, /* the copy is consistent: the thread did not run during the reads */
	READ_MOVED,    /* the thread was running, or ran during the reads */
	READ_GONE,     /* the thread has exited or is exiting */
	READ_FAILED,   /* the stack or the counters could not be read */
};

/*
 * Copies up to `stack_want` bytes of the stack of a sleeping thread without a stop. `memory` may be
 * NULL only if no thread is stopped or asked to stop. The caller must have read the counters
 * `before` first and the system call `info` after them. The counters are read again after the copy:
 * READ_CAPTURED proves that the thread has not run since `before`.
 */
enum read_end tracer_read_sleeper(const struct process *process, const struct target_memory *memory,
				  struct watch *watch, const struct sched *before,
				  const struct syscall_info *info, size_t stack_want,
				  struct snapshot *snapshot);

#endif
