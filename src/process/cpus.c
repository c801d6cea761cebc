/* SPDX-License-Identifier: MIT */
/*
 * cpus.c - how many CPUs a process may use: affinity and cgroup quota.
 */
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "process/process_internal.h"
#include "wallsample/base/cgroup.h"

/* Size of a CPU mask in units of cpu_set_t, which has 1,024 CPUs: the mask has 8,192, as many as
 * the kernel's largest configuration (NR_CPUS). */
#define CPU_SETS 8

/* Most threads whose affinity masks are combined: each may be pinned to a different CPU. */
#define THREADS_LOOKED_AT 256

#define SMALL_FILE_LIMIT (64 << 10)

/* --- affinity ------------------------------------------------------------------ */

unsigned
cpus_online(void)
{
	const long online = sysconf(_SC_NPROCESSORS_ONLN);

	return online > 0 ? (unsigned)online : 1;
}

static unsigned
count_affinity(const struct process *process)
{
	cpu_set_t all[CPU_SETS], one[CPU_SETS];
	const int online = (int)cpus_online();
	pid_t *tids = NULL;
	size_t capacity = 0, threads = process_list_threads(process, &tids, &capacity);
	int count = 0;

	CPU_ZERO_S(sizeof(all), all);
	for (size_t i = 0; i < threads && i < THREADS_LOOKED_AT && count < online; i++) {
		if (sched_getaffinity(tids[i], sizeof(one), one) != 0)
			continue;
		CPU_OR_S(sizeof(all), all, all, one);
		count = CPU_COUNT_S(sizeof(all), all);
	}
	free(tids);
	return (unsigned)(count > 0 ? count : online);
}

/* --- cgroups --------------------------------------------------------------------- */

/* Returns the number of CPUs, as a fraction, that correspond to `quota` of CPU time per
 * `period`. */
static double
cpus_of_quota(uint64_t quota, uint64_t period)
{
	return period > 0 ? (double)quota / (double)period : INFINITY;
}

/* Reads the CPU limit of a cgroup v2 from cpu.max, such as "max 100000" or "50000 100000". Returns
 * a number of CPUs; INFINITY: no limit. */
static double
limit_v2(int dirfd)
{
	uint64_t quota, period;
	double cpus = INFINITY;
	char *text = file_read_text(dirfd, "cpu.max", SMALL_FILE_LIMIT, NULL);
	const char *at = text;

	if (text && parse_u64(&at, 10, &quota) && parse_u64(&at, 10, &period))
		cpus = cpus_of_quota(quota, period);
	free(text);
	return cpus;
}

/* Reads the CPU limit of a cgroup v1. Returns a number of CPUs; INFINITY: no limit (the file of the
 * quota contains -1). */
static double
limit_v1(int dirfd)
{
	uint64_t quota, period;

	if (!file_read_number(dirfd, "cpu.cfs_quota_us", &quota) ||
	    !file_read_number(dirfd, "cpu.cfs_period_us", &period))
		return INFINITY;
	return cpus_of_quota(quota, period);
}

static const struct cgroup_limit cpu_limit = { .controller = "cpu",
					       .v1 = limit_v1,
					       .v2 = limit_v2 };

double
process_cpu_quota(const struct process *process)
{
	return cgroup_least(process->dirfd, &cpu_limit);
}

double
process_cpu_group(const struct process *process, char *group, size_t size)
{
	return cgroup_least_group(process->dirfd, &cpu_limit, group, size);
}

unsigned
process_allowed_cpus(const struct process *process)
{
	const double affinity = count_affinity(process), quota = ceil(process_cpu_quota(process));

	return (unsigned)fmax(fmin(affinity, quota), 1);
}

double
cpus_own_quota(void)
{
	return cgroup_own_least(&cpu_limit);
}
