/* SPDX-License-Identifier: MIT */
/* capability_internal.h - the capabilities of the calling thread (capabilities(7)), as sets of bits
 * 1 << CAP_…. */
#ifndef WALLSAMPLE_CLI_CAPABILITY_INTERNAL_H
#define WALLSAMPLE_CLI_CAPABILITY_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

/* Stores the permitted capabilities; false when they cannot be read. */
bool capability_read(uint64_t *permitted);
/* Sets the effective and the permitted capabilities; none stays inheritable. Returns false when the
 * kernel refuses it: a set is not a part of the permitted ones. */
bool capability_set(uint64_t effective, uint64_t permitted);
/* Gives all up, also those that a program would have that is executed later. */
void capability_drop_all(void);

#endif
