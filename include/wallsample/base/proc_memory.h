/* SPDX-License-Identifier: MIT */
/* proc_memory.h - figures of memory in files of /proc. */
#ifndef WALLSAMPLE_BASE_PROC_MEMORY_H
#define WALLSAMPLE_BASE_PROC_MEMORY_H

#include <stdint.h>

/* Returns a field that the file has in KiB, for example "VmData:" of /proc/self/status, in bytes;
 * UINT64_MAX when it is not known. The file is read up to 8 KiB. */
uint64_t memory_field(const char *path, const char *label);

/* Returns MemAvailable (proc_meminfo(5)) in bytes; UINT64_MAX when it is not known. */
uint64_t memory_available(void);

#endif
