/* SPDX-License-Identifier: MIT */
/* supervisor_group.c - the control group of the supervisor. */
#include "cli/supervisor_internal.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/cli/supervisor.h"

/* The second one is that of systems with v1 and v2. */
static const char *const files[] = { "/sys/fs/cgroup/cgroup.procs",
				     "/sys/fs/cgroup/unified/cgroup.procs" };

/* Largest size of /proc/PID/cgroup in bytes: a dozen lines, with a path each. */
#define GROUPS_MOST (64 << 10)

static bool
is_version_2(const char *file)
{
	struct statfs info;

	return statfs(file, &info) == 0 && info.f_type == CGROUP2_SUPER_MAGIC;
}

static bool
may_leave_group(void)
{
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (!is_version_2(files[i]))
			continue;
		if (faccessat(AT_FDCWD, files[i], W_OK, AT_EACCESS) == 0)
			return true;
		found = true;
	}
	return !found;
}

bool
supervisor_may_freeze(int dirfd)
{
	char *own = file_read_text(AT_FDCWD, "/proc/self/cgroup", GROUPS_MOST, NULL);
	char *theirs = file_read_text(dirfd, "cgroup", GROUPS_MOST, NULL);
	const bool differ = own != NULL && theirs != NULL && strcmp(own, theirs) != 0;

	free(own);
	free(theirs);
	return differ && !may_leave_group();
}

void
supervisor_leave_group(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		const int fd = is_version_2(files[i]) ? open(files[i], O_WRONLY | O_CLOEXEC) : -1;

		if (fd < 0)
			continue;
		(void)!write(fd, "0", 1); /* 0: the writing process */
		close(fd);
	}
}
