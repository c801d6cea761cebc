/* SPDX-License-Identifier: MIT */
/* capability.h - the capabilities of the calling thread (capabilities(7)), as sets of bits
 * 1 << CAP_…. */
#ifndef WALLSAMPLE_BASE_CAPABILITY_H
#define WALLSAMPLE_BASE_CAPABILITY_H

#include <stdbool.h>
#include <stdint.h>

/* Stores the permitted capabilities; false when they cannot be read. */
bool capability_read(uint64_t *permitted);
/* Sets the effective and permitted sets and clears the inheritable set. Returns false when
 * capset(2) fails, as when a set contains a capability that is not permitted. */
bool capability_set(uint64_t effective, uint64_t permitted);
/* Gives up all capabilities of the thread; programs that it executes cannot gain any
 * (no_new_privs). */
void capability_drop_all(void);

#endif
