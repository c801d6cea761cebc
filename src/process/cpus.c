/* SPDX-License-Identifier: MIT */
/*
 * cpus.c - how many CPUs a process may use: affinity and cgroup quota.
 */
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "process/process_internal.h"

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

	if (!task_read_number(dirfd, "cpu.cfs_quota_us", &quota) ||
	    !task_read_number(dirfd, "cpu.cfs_period_us", &period))
		return INFINITY;
	return cpus_of_quota(quota, period);
}

/*
 * Returns the smallest limit of the cgroup `path` and its ancestors up to the mount point `root`.
 * In a container the path may be that of the host, and then only `root` exists in the container: a
 * directory that cannot be opened has no limit.
 */
static double
limit_upwards(const char *root, const char *path, double (*limit)(int dirfd))
{
	char directory[PATH_MAX];
	size_t root_length = strlen(root);
	double least = INFINITY;

	/* The path of a cgroup outside of wallsample's cgroup namespace begins with "/..": then
	 * only the limit of the mount point is read. */
	if (path[0] != '/' || strncmp(path, "/../", 4) == 0 || strcmp(path, "/..") == 0)
		path = "/";
	if (snprintf(directory, sizeof(directory), "%s%s", root, path) >= (int)sizeof(directory))
		return INFINITY;
	for (;;) {
		int dirfd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
		double here = dirfd >= 0 ? limit(dirfd) : INFINITY;
		char *slash = strrchr(directory, '/');

		if (dirfd >= 0)
			close(dirfd);
		if (here < least)
			least = here;
		if (!slash || (size_t)(slash - directory) < root_length)
			return least;
		*slash = '\0';
	}
}

/* Returns true when "cpu" is one of the names, which commas separate. */
static bool
has_cpu_controller(const char *names)
{
	while (*names != '\0') {
		size_t length = strcspn(names, ",");

		if (length == 3 && strncmp(names, "cpu", 3) == 0)
			return true;
		names += length + (names[length] == ',');
	}
	return false;
}

/* Returns the CPU limit of the cgroup in a line "number:controllers:path" of /proc/PID/cgroup;
 * INFINITY: no limit. Modifies the line. */
static double
limit_of_line(char *line)
{
	char *path = line, root[128];
	const char *names;

	strsep(&path, ":");
	names = strsep(&path, ":");
	if (path == NULL)
		return INFINITY;
	if (names[0] == '\0')
		return limit_upwards("/sys/fs/cgroup", path, limit_v2);
	if (!has_cpu_controller(names) || strchr(names, '/'))
		return INFINITY;
	/* The hierarchy is mounted under all names of its controllers ("cpu,cpuacct"), or under
	 * "cpu". */
	if (snprintf(root, sizeof(root), "/sys/fs/cgroup/%s", names) >= (int)sizeof(root) ||
	    access(root, X_OK) != 0)
		snprintf(root, sizeof(root), "/sys/fs/cgroup/cpu");
	return limit_upwards(root, path, limit_v1);
}

/* Returns the smallest limit of the cgroups in the file "cgroup" of this directory; INFINITY: no
 * limit. */
static double
least_quota(int dirfd)
{
	char *text = file_read_text(dirfd, "cgroup", SMALL_FILE_LIMIT, NULL);
	char *rest = text, *line;
	double least = INFINITY;

	while ((line = strsep(&rest, "\n")) != NULL)
		least = fmin(least, limit_of_line(line));
	free(text);
	return least;
}

unsigned
process_allowed_cpus(const struct process *process)
{
	const double affinity = count_affinity(process), quota = ceil(least_quota(process->dirfd));

	return (unsigned)fmax(fmin(affinity, quota), 1);
}

double
cpus_own_quota(void)
{
	const int dirfd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	double quota = INFINITY;

	if (dirfd >= 0) {
		quota = least_quota(dirfd);
		close(dirfd);
	}
	return quota;
}
