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
 * tables have budgets of 64 MiB each. In a control group that has less memory left, the limit is
 * what the group has left. */
#define LEAST (UINT64_C(256) << 20)

/* The address sanitizer reserves terabytes. */
#define OWN_MOST (UINT64_C(1) << 40)

/* --- the limit of the control group ---------------------------------------------------------- */

/* Returns how many bytes the group can still use: its limit minus its usage, plus the file contents
 * that the kernel can discard (two fields of memory.stat). INFINITY: no limit. */
static double
left_of(int dirfd, double limit, const char *used, const char *const cached[2])
{
	uint64_t now, files = 0;
	char *text;

	if (limit == INFINITY || !file_read_number(dirfd, used, &now))
		return INFINITY;
	text = file_read_text(dirfd, "memory.stat", 16384, NULL);
	for (int i = 0; text != NULL && i < 2; i++) {
		const char *at = strstr(text, cached[i]);
		uint64_t part;

		if (at != NULL && (at += strlen(cached[i]), parse_u64(&at, 10, &part)))
			files += part < now - files ? part : now - files;
	}
	free(text);
	return fmax(limit - (double)(now - files), 0);
}

/* Files of version 2 contain "max" when there is no limit. */
static double
limit_in(int dirfd, const char *name)
{
	uint64_t limit;

	return file_read_number(dirfd, name, &limit) ? (double)limit : INFINITY;
}

static double
left_v1(int dirfd)
{
	static const char *const cached[] = { "\ntotal_inactive_file ", "\ntotal_active_file " };

	return left_of(dirfd, limit_in(dirfd, "memory.limit_in_bytes"), "memory.usage_in_bytes",
		       cached);
}

/* Above memory.high the kernel slows the processes of the group down. */
static double
left_v2(int dirfd)
{
	static const char *const cached[] = { "\ninactive_file ", "\nactive_file " };

	return left_of(dirfd, fmin(limit_in(dirfd, "memory.max"), limit_in(dirfd, "memory.high")),
		       "memory.current", cached);
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
	uint64_t least = LEAST, most;
	struct rlimit limit;

	if (available == UINT64_MAX || own > OWN_MOST || getrlimit(RLIMIT_DATA, &limit) != 0)
		return;
	most = own + PART_OF_AVAILABLE(left);
	if (left < available && least > own + left)
		least = own + left;
	if (most < least)
		most = least;
	if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= most)
		return;
	limit.rlim_cur = most;
	(void)setrlimit(RLIMIT_DATA, &limit);
}
