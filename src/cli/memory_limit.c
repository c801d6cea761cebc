/* SPDX-License-Identifier: MIT */
/* memory_limit.c - the limit of wallsample's own memory. */
#include "cli/memory_limit_internal.h"

#include <stdint.h>
#include <sys/resource.h>

#include "wallsample/base/proc_memory.h"

/* The part of the available memory that may be used in addition to what is used already. ws-namer
 * inherits the limit: the DWARF of a report, for which debug_file_dwarf.c permits a half, needs
 * some more for its index. */
#define PART_OF_AVAILABLE(bytes) ((bytes) / 4 * 3)

/* Smallest limit in bytes, so that a machine that is short of memory can be sampled: caches and
 * tables have budgets of 64 MiB each. */
#define LEAST (UINT64_C(256) << 20)

void
memory_limit_set(void)
{
	const uint64_t available = memory_available();
	/* private writable memory, which is what RLIMIT_DATA limits */
	const uint64_t own = memory_field("/proc/self/status", "VmData:");
	uint64_t most;
	struct rlimit limit;

	if (available == UINT64_MAX || own == UINT64_MAX || getrlimit(RLIMIT_DATA, &limit) != 0)
		return;
	/* The address sanitizer reserves terabytes. */
	if (own > available)
		return;
	most = own + PART_OF_AVAILABLE(available);
	if (most < LEAST)
		most = LEAST;
	if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= most)
		return;
	limit.rlim_cur = most;
	(void)setrlimit(RLIMIT_DATA, &limit);
}
