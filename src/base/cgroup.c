/* SPDX-License-Identifier: MIT */
/* cgroup.c - finds the directories of a process's control groups. */
#include "wallsample/base/cgroup.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wallsample/base/base.h"

#define SMALL_FILE_LIMIT (64 << 10)
#define MOUNTS "/sys/fs/cgroup"

/*
 * Returns the smallest limit of the group `path` and its ancestors up to the mount point `root`. In
 * a container the path may be that of the host, and then only `root` exists in the container: a
 * directory that cannot be opened has no limit.
 */
static double
limit_upwards(const char *root, const char *path, double (*limit)(int dirfd))
{
	char directory[PATH_MAX];
	size_t root_length = strlen(root);
	double least = INFINITY;

	/* The path of a group outside of wallsample's cgroup namespace begins with "/..": then only
	 * the limit of the mount point is read. */
	if (path[0] != '/' || strncmp(path, "/../", 4) == 0 || strcmp(path, "/..") == 0)
		path = "/";
	if (snprintf(directory, sizeof(directory), "%s%s", root, path) >= (int)sizeof(directory))
		return INFINITY;
	for (;;) {
		int dirfd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
		char *slash = strrchr(directory, '/');

		if (dirfd >= 0) {
			least = fmin(least, limit(dirfd));
			close(dirfd);
		}
		if (slash == NULL || (size_t)(slash - directory) < root_length)
			return least;
		*slash = '\0';
	}
}

/* Returns true when the controller is one of the names, which commas separate. */
static bool
has_controller(const char *names, const char *controller)
{
	const size_t wanted = strlen(controller);

	while (*names != '\0') {
		size_t length = strcspn(names, ",");

		if (length == wanted && strncmp(names, controller, length) == 0)
			return true;
		names += length + (names[length] == ',');
	}
	return false;
}

/* Returns the limit of the group in a line "number:controllers:path" of /proc/PID/cgroup; INFINITY:
 * no limit. Modifies the line. */
static double
limit_of_line(char *line, const struct cgroup_limit *limit)
{
	char *path = line, root[128];
	const char *names;

	strsep(&path, ":");
	names = strsep(&path, ":");
	if (path == NULL)
		return INFINITY;
	if (names[0] == '\0')
		return limit_upwards(MOUNTS, path, limit->v2);
	if (!has_controller(names, limit->controller) || strchr(names, '/') != NULL)
		return INFINITY;
	/* The hierarchy is mounted under all names of its controllers ("cpu,cpuacct"), or under
	 * this one. */
	if (snprintf(root, sizeof(root), MOUNTS "/%s", names) >= (int)sizeof(root) ||
	    access(root, X_OK) != 0)
		snprintf(root, sizeof(root), MOUNTS "/%s", limit->controller);
	return limit_upwards(root, path, limit->v1);
}

double
cgroup_least(int dirfd, const struct cgroup_limit *limit)
{
	char *text = file_read_text(dirfd, "cgroup", SMALL_FILE_LIMIT, NULL);
	char *rest = text, *line;
	double least = INFINITY;

	while ((line = strsep(&rest, "\n")) != NULL)
		least = fmin(least, limit_of_line(line, limit));
	free(text);
	return least;
}

double
cgroup_own_least(const struct cgroup_limit *limit)
{
	const int dirfd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	double least = INFINITY;

	if (dirfd >= 0) {
		least = cgroup_least(dirfd, limit);
		close(dirfd);
	}
	return least;
}
