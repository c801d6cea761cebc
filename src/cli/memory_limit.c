/* SPDX-License-Identifier: MIT */
/* memory_limit.c - the limit of wallsample's own memory. */
#include "cli/memory_limit_internal.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "wallsample/base/base.h"

/* The part of the available memory that may be used in addition to what is used already: the DWARF
 * of a report, for which debug_file_dwarf.c permits a half, needs some more for its index. */
#define PART_OF_AVAILABLE(bytes) ((bytes) / 4 * 3)

/* Smallest limit in bytes, so that a machine that is short of memory can be sampled: caches and
 * tables have budgets of 64 MiB each. */
#define LEAST (UINT64_C(256) << 20)

/* Stores the private writable memory of this process (VmData of proc_pid_status(5)) in bytes, which
 * is what RLIMIT_DATA limits. */
static bool
read_own_data(uint64_t *bytes)
{
	static const char label[] = "VmData:";
	char *text = file_read_text(AT_FDCWD, "/proc/self/status", 8192, NULL);
	const char *at = text != NULL ? strstr(text, label) : NULL;
	uint64_t kib = 0;
	bool good = false;

	if (at != NULL) {
		at += strlen(label);
		good = parse_u64(&at, 10, &kib);
	}
	free(text);
	*bytes = kib * 1024;
	return good;
}

void
memory_limit_set(void)
{
	uint64_t available = memory_available(), own, most;
	struct rlimit limit;

	if (available == UINT64_MAX || !read_own_data(&own) || getrlimit(RLIMIT_DATA, &limit) != 0)
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
