/* SPDX-License-Identifier: MIT */
/* kernel_counters.c - reads the counters of a whole process from /proc/PID/io, /proc/PID/stat and
 * the control groups of the process. */
#include "wallsample/process/kernel_counters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "process/process_internal.h"
#include "wallsample/base/cgroup.h"

#define SMALL_FILE_LIMIT (64 << 10)

/* --- files of "name value" lines --------------------------------------------------------- */

/* Stores the number behind `name`, with its colon if it has one, at the beginning of a line.
 * Returns false if the text has no such line. */
static bool
find_number(const char *text, const char *name, uint64_t *value)
{
	const size_t length = strlen(name);

	for (const char *line = text; line != NULL && *line != '\0';) {
		const char *at = line + length;

		if (strncmp(line, name, length) == 0 && *at == ' ') {
			at++;
			return parse_u64(&at, 10, value);
		}
		line = strchr(line, '\n');
		line = line != NULL ? line + 1 : NULL;
	}
	return false;
}

static void
read_io(const struct process *process, struct counters *out)
{
	char *text = file_read_text(process->dirfd, "io", SMALL_FILE_LIMIT, NULL);

	if (text == NULL)
		return;
	find_number(text, "syscr:", &out->reads);
	find_number(text, "rchar:", &out->read_bytes);
	find_number(text, "syscw:", &out->writes);
	find_number(text, "wchar:", &out->written_bytes);
	free(text);
}

/* --- the limit on CPU time --------------------------------------------------------------- */

/* Returns the time of the periods in which a group was throttled, as a negative number of ns, so
 * that the smallest of several groups is that with the longest time; INFINITY: it never was. */
static double
throttled(int dirfd, uint64_t period_us)
{
	char *text = file_read_text(dirfd, "cpu.stat", SMALL_FILE_LIMIT, NULL);
	uint64_t periods = 0;

	if (text != NULL)
		find_number(text, "nr_throttled", &periods);
	free(text);
	return periods > 0 ? -(double)periods * (double)period_us * (double)NS_PER_US : INFINITY;
}

static double
throttled_v2(int dirfd)
{
	char *text = file_read_text(dirfd, "cpu.max", SMALL_FILE_LIMIT, NULL);
	const char *at = text != NULL ? strchr(text, ' ') : NULL;
	uint64_t period_us = 0;

	/* "max 100000" or "50000 100000" */
	if (at != NULL) {
		at++;
		parse_u64(&at, 10, &period_us);
	}
	free(text);
	return throttled(dirfd, period_us);
}

static double
throttled_v1(int dirfd)
{
	uint64_t period_us = 0;

	file_read_number(dirfd, "cpu.cfs_period_us", &period_us);
	return throttled(dirfd, period_us);
}

static void
read_limit(const struct process *process, struct counters *out)
{
	static const struct cgroup_limit limit = { .controller = "cpu",
						   .v1 = throttled_v1,
						   .v2 = throttled_v2 };
	const double throttled_ns = -cgroup_least(process->dirfd, &limit);
	const double cpus = process_cpu_quota(process);

	if (throttled_ns > 0 && throttled_ns < 0x1p63)
		out->throttled_ns = (uint64_t)throttled_ns;
	out->cpu_limit = isfinite(cpus) ? cpus : 0;
}

/* --- the whole --------------------------------------------------------------------------- */

bool
process_read_counters(const struct process *process, struct counters *out)
{
	struct task_stat stat;

	if (!task_read_stat(process->dirfd, "stat", &stat) || task_is_zombie_process(&stat))
		return false;
	*out = (struct counters){ .minor_faults = stat.minor_faults,
				  .major_faults = stat.major_faults };
	read_io(process, out);
	read_limit(process, out);
	return true;
}

static uint64_t
more(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

struct counters
counters_since(const struct counters *before, const struct counters *now)
{
	return (struct counters){
		.reads = more(before->reads, now->reads),
		.read_bytes = more(before->read_bytes, now->read_bytes),
		.writes = more(before->writes, now->writes),
		.written_bytes = more(before->written_bytes, now->written_bytes),
		.minor_faults = more(before->minor_faults, now->minor_faults),
		.major_faults = more(before->major_faults, now->major_faults),
		.throttled_ns = more(before->throttled_ns, now->throttled_ns),
		.cpu_limit = now->cpu_limit,
	};
}

void
counters_add(struct counters *sum, const struct counters *other)
{
	sum->reads += other->reads;
	sum->read_bytes += other->read_bytes;
	sum->writes += other->writes;
	sum->written_bytes += other->written_bytes;
	sum->minor_faults += other->minor_faults;
	sum->major_faults += other->major_faults;
	sum->throttled_ns += other->throttled_ns;
	if (other->cpu_limit > 0 && (sum->cpu_limit == 0 || other->cpu_limit < sum->cpu_limit))
		sum->cpu_limit = other->cpu_limit;
}
