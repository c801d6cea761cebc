/* SPDX-License-Identifier: MIT */
/* supervisor_group.c - the control group of the supervisor. */
#include "cli/supervisor_internal.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "wallsample/base/base.h"

void
supervisor_leave_group(void)
{
	/* The second one is that of systems with v1 and v2. */
	static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };

	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		struct statfs info;
		char path[64];
		int fd;

		if (statfs(mounts[i], &info) != 0 || info.f_type != CGROUP2_SUPER_MAGIC)
			continue;
		snprintf(path, sizeof(path), "%s/cgroup.procs", mounts[i]);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		(void)!write(fd, "0", 1); /* 0: the writing process */
		close(fd);
	}
}
