/* SPDX-License-Identifier: MIT */
/*
 * julia_context_internal.h - where a task goes on that was left by sigsetjmp: what glibc has in
 * a jmp_buf (julia_context_ARCH.c).
 */
#ifndef WALLSAMPLE_RUNTIME_JULIA_JULIA_CONTEXT_INTERNAL_H
#define WALLSAMPLE_RUNTIME_JULIA_JULIA_CONTEXT_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

/* So many bytes of the jmp_buf are needed. */
#define JULIA_CONTEXT_SIZE 64

struct julia_context {
	uint64_t pc, sp, fp;
};

/*
 * What the word that glibc mangles addresses with is read from, of the thread with this pthread_t:
 * it is the same for all threads. 0: it is not there.
 */
uint64_t julia_context_guard(uint64_t pthread);
/* False: what jumps there cannot be told. Nothing that is in `out` is checked. */
bool julia_context_read(const uint8_t bytes[JULIA_CONTEXT_SIZE], uint64_t guard,
			struct julia_context *out);

#endif
