/* SPDX-License-Identifier: MIT */
/* newest_task.c - reads the id that the kernel has given to the newest thread: the last number in
 * /proc/loadavg (proc_loadavg(5)). */
#include "wallsample/process/newest_task.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Size of the buffer for the file: five numbers. */
#define LOADAVG_SIZE 128

/* Opens the file. A container may have another file in its place, from a file system in user space,
 * which takes longer to read. */
static int
open_loadavg(void)
{
	const int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	struct statfs file_system;

	if (fd < 0 || (fstatfs(fd, &file_system) == 0 && file_system.f_type == PROC_SUPER_MAGIC))
		return fd;
	close(fd);
	return -1;
}

bool
newest_task_changed(struct newest_task *newest)
{
	char text[LOADAVG_SIZE];
	const char *last;
	ssize_t size;
	long long id;

	if (!newest->opened)
		newest->fd = open_loadavg();
	newest->opened = true;
	if (newest->fd < 0)
		return false;
	size = pread(newest->fd, text, sizeof(text) - 1, 0);
	if (size <= 0)
		return false;
	text[size] = '\0';
	last = strrchr(text, ' ');
	id = last != NULL ? strtoll(last, NULL, 10) : 0;
	if (id == newest->id)
		return false;
	newest->id = id;
	return true;
}

void
newest_task_release(struct newest_task *newest)
{
	if (newest->opened && newest->fd >= 0)
		close(newest->fd);
	newest->opened = false;
}
