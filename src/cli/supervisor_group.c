/* SPDX-License-Identifier: MIT */
/* supervisor_group.c - the control group of the supervisor. */
#include "cli/supervisor_internal.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/cli/supervisor.h"

/* The second one is that of systems with v1 and v2. */
static const char *const files[] = { "/sys/fs/cgroup/cgroup.procs",
				     "/sys/fs/cgroup/unified/cgroup.procs" };

static bool
is_version_2(const char *file)
{
	struct statfs info;

	return statfs(file, &info) == 0 && info.f_type == CGROUP2_SUPER_MAGIC;
}

bool
supervisor_may_leave_group(void)
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
