/* SPDX-License-Identifier: MIT */
/* memory_limit_internal.h - the limit of wallsample's own memory. */
#ifndef WALLSAMPLE_CLI_MEMORY_LIMIT_INTERNAL_H
#define WALLSAMPLE_CLI_MEMORY_LIMIT_INTERNAL_H

/*
 * Limits the memory of this process (RLIMIT_DATA) to its present private memory plus three quarters
 * of the memory that is available on the machine or left under the memory limits of its control
 * groups, whichever is less, but to no less than 256 MiB or, if the groups have less left, all of
 * that. To be called after a command was started, which must not inherit the limit. An allocation
 * beyond the limit ends the program as xmalloc() does (base.h). Does nothing when a lower limit is
 * set, when /proc cannot be read, or with the address sanitizer.
 */
void memory_limit_set(void);

#endif
