/* SPDX-License-Identifier: MIT */
/*
 * pthread_tid_internal.h - from a pthread_t in the target's memory to the kernel's id of the
 * thread.
 */
#ifndef WALLSAMPLE_RUNTIME_PTHREAD_TID_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PTHREAD_TID_INTERNAL_H

#include <stdint.h>
#include <sys/types.h>

#include "wallsample/tracer/memory.h"

/* As the target knows it; 0: it is none of glibc's or musl's. */
pid_t pthread_tid_read(const struct memory *memory, uint64_t pthread);

/* Where those have the id in their struct pthread (pthread_tid_ARCH.c): glibc, musl. */
extern const uint32_t pthread_tid_offset[2];
/* Whether the structure begins with its own address, as on x86-64. */
extern const int pthread_tid_has_self;

#endif
