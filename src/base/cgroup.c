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

/* The smallest limit that has been found, and the path of its group below its mount point, cut to
 * `size` bytes; `group` NULL: not wanted. */
struct least {
	double value;
	char *group;
	size_t size;
};

/*
 * Finds the smallest limit of the group `path` and its ancestors up to the mount point `root`. In
 * a container the path may be that of the host, and then only `root` exists in the container: a
 * directory that cannot be opened has no limit.
 */
static void
limit_upwards(const char *root, const char *path, double (*limit)(int dirfd), struct least *least)
{
	char directory[PATH_MAX];
	size_t root_length = strlen(root);

	/* The path of a group outside of wallsample's cgroup namespace begins with "/..": then only
	 * the limit of the mount point is read. */
	if (path[0] != '/' || strncmp(path, "/../", 4) == 0 || strcmp(path, "/..") == 0)
		path = "/";
	if (snprintf(directory, sizeof(directory), "%s%s", root, path) >= (int)sizeof(directory))
		return;
	for (;;) {
		int dirfd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
		char *slash = strrchr(directory, '/');

		if (dirfd >= 0) {
			const double value = limit(dirfd);

			close(dirfd);
			if (value < least->value && least->group != NULL)
				snprintf(least->group, least->size, "%s",
					 directory[root_length] != '\0' ? directory + root_length :
									  "/");
			least->value = fmin(least->value, value);
		}
		if (slash == NULL || (size_t)(slash - directory) < root_length)
			return;
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

/* Finds the limit of the group in a line "number:controllers:path" of /proc/PID/cgroup, which it
 * modifies. */
static void
limit_of_line(char *line, const struct cgroup_limit *limit, struct least *least)
{
	char *path = line, root[128];
	const char *names;

	strsep(&path, ":");
	names = strsep(&path, ":");
	if (path != NULL && names[0] == '\0')
		limit_upwards(MOUNTS, path, limit->v2, least);
	if (path == NULL || !has_controller(names, limit->controller) || strchr(names, '/') != NULL)
		return;
	/* The hierarchy is mounted under all names of its controllers ("cpu,cpuacct"), or under
	 * this one. */
	if (snprintf(root, sizeof(root), MOUNTS "/%s", names) >= (int)sizeof(root) ||
	    access(root, X_OK) != 0)
		snprintf(root, sizeof(root), MOUNTS "/%s", limit->controller);
	limit_upwards(root, path, limit->v1, least);
}

double
cgroup_least_group(int dirfd, const struct cgroup_limit *limit, char *group, size_t size)
{
	char *text = file_read_text(dirfd, "cgroup", SMALL_FILE_LIMIT, NULL);
	char *rest = text, *line;
	struct least least = { INFINITY, group, size };

	if (group != NULL)
		group[0] = '\0';
	while ((line = strsep(&rest, "\n")) != NULL)
		limit_of_line(line, limit, &least);
	free(text);
	return least.value;
}

double
cgroup_least(int dirfd, const struct cgroup_limit *limit)
{
	return cgroup_least_group(dirfd, limit, NULL, 0);
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
