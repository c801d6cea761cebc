/* SPDX-License-Identifier: MIT */
/*
 * own_delay_internal.h - how long we were ready and had no CPU: what stops meanwhile has stopped
 * before we know.
 */
#ifndef WALLSAMPLE_TRACER_OWN_DELAY_INTERNAL_H
#define WALLSAMPLE_TRACER_OWN_DELAY_INTERNAL_H

#include <stdint.h>

/* A descriptor for own_delay_read, of the calling thread; -1 where the kernel does not count. */
int own_delay_open(void);

/* Nanoseconds since the thread began; 0 without a descriptor. Takes half a microsecond. */
uint64_t own_delay_read(int fd);

#endif
