/* SPDX-License-Identifier: MIT */
/* memory_limit.c - the limit of wallsample's own memory. */
#include "cli/memory_limit_internal.h"

#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "wallsample/base/base.h"
#include "wallsample/base/cgroup.h"
#include "wallsample/base/proc_memory.h"

/* The part of the available memory that may be used in addition to what is used already. ws-namer
 * inherits the limit: the DWARF of a report, for which debug_file_dwarf.c permits a half, needs
 * some more for its index. */
#define PART_OF_AVAILABLE(bytes) ((bytes) / 4 * 3)

/* Smallest limit in bytes, so that a machine that is short of memory can be sampled: caches and
 * tables have budgets of 64 MiB each. */
#define LEAST (UINT64_C(256) << 20)

/* --- the limit of the control group ---------------------------------------------------------- */

/* Returns how many bytes the group can still use: its limit minus its usage, plus the file contents
 * that the kernel can discard ("inactive_file" of memory.stat). INFINITY: no limit. */
static double
left_of(int dirfd, const char *limit, const char *used, const char *freeable)
{
	char *text = file_read_text(dirfd, "memory.stat", 16384, NULL);
	const char *at = text != NULL ? strstr(text, freeable) : NULL;
	uint64_t most, now, old = 0;

	if (at != NULL) {
		at += strlen(freeable);
		if (!parse_u64(&at, 10, &old))
			old = 0;
	}
	free(text);
	/* memory.max of version 2 is "max" when there is no limit. */
	if (!file_read_number(dirfd, limit, &most) || !file_read_number(dirfd, used, &now))
		return INFINITY;
	return fmax((double)most - (double)now + (double)(old < now ? old : now), 0);
}

static double
left_v1(int dirfd)
{
	return left_of(dirfd, "memory.limit_in_bytes", "memory.usage_in_bytes",
		       "\ntotal_inactive_file ");
}

static double
left_v2(int dirfd)
{
	return left_of(dirfd, "memory.max", "memory.current", "\ninactive_file ");
}

/* Returns how many of the available bytes wallsample may use by its control groups. */
static uint64_t
memory_left(uint64_t available)
{
	static const struct cgroup_limit memory = { .controller = "memory",
						    .v1 = left_v1,
						    .v2 = left_v2 };
	const double of_group = cgroup_own_least(&memory);

	return of_group < (double)available ? (uint64_t)of_group : available;
}

void
memory_limit_set(void)
{
	const uint64_t available = memory_available(), left = memory_left(available);
	/* private writable memory, which is what RLIMIT_DATA limits */
	const uint64_t own = memory_field("/proc/self/status", "VmData:");
	uint64_t most;
	struct rlimit limit;

	if (available == UINT64_MAX || own == UINT64_MAX || getrlimit(RLIMIT_DATA, &limit) != 0)
		return;
	/* The address sanitizer reserves terabytes. */
	if (own > available)
		return;
	most = own + PART_OF_AVAILABLE(left);
	if (most < LEAST)
		most = LEAST;
	if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= most)
		return;
	limit.rlim_cur = most;
	(void)setrlimit(RLIMIT_DATA, &limit);
}
