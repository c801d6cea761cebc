/* SPDX-License-Identifier: MIT */
/* proc_memory.h - reads amounts of memory from files of /proc. */
#ifndef WALLSAMPLE_BASE_PROC_MEMORY_H
#define WALLSAMPLE_BASE_PROC_MEMORY_H

#include <stdint.h>

/* Returns a field that the file has in KiB, in bytes. `label` includes the colon ("VmData:" of
 * /proc/self/status); its first occurrence in the first 8 KiB of the file counts. Returns
 * UINT64_MAX if the file cannot be read or has no such field. */
uint64_t memory_field(const char *path, const char *label);

/* Returns MemAvailable (proc_meminfo(5)) in bytes; UINT64_MAX as above. */
uint64_t memory_available(void);

#endif
