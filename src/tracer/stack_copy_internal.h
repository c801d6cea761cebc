/* SPDX-License-Identifier: MIT */
/* stack_copy_internal.h - a thread's stack, and nothing that lies behind it. */
#ifndef WALLSAMPLE_TRACER_STACK_COPY_INTERNAL_H
#define WALLSAMPLE_TRACER_STACK_COPY_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "wallsample/process/process.h"
#include "wallsample/thread/state.h"

/*
 * Copies up to `size` bytes from the stack pointer up to the end of the mapping that it lies in.
 * Returns how many there were.
 *
 * What lies behind the stack is not touched: a page of it may have to come from a file or over
 * a network first, or from userfaultfd(2), whose page somebody in the target has to
 * provide, who may be the very thread that is stopped.
 */
size_t stack_copy(const struct process *process, struct watch *watch, uint64_t sp, void *to,
		  size_t size);

/* The same of the stack that was copied last; 0 bytes when that was another. */
size_t stack_copy_again(const struct watch *watch, uint64_t sp, void *to, size_t size);

#endif
