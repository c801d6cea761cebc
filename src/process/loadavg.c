/* SPDX-License-Identifier: MIT */
/* loadavg.c - reads /proc/loadavg: "0.20 0.18 0.12 1/80 11206", of which the last three numbers are
 * the runnable threads of the machine, all its threads, and the newest thread's id. */
#include "wallsample/process/loadavg.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Size of the buffer for the file: six numbers. */
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

/* Reads the file, zero-terminated. Returns false if it is not readable. */
static bool
read_text(struct loadavg *loadavg, char *text, size_t size)
{
	ssize_t got;

	if (!loadavg->opened)
		loadavg->fd = open_loadavg();
	loadavg->opened = true;
	got = loadavg->fd < 0 ? -1 : pread(loadavg->fd, text, size - 1, 0);
	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}

bool
loadavg_has_new_thread(struct loadavg *loadavg)
{
	char text[LOADAVG_SIZE];
	const char *last;
	long long id;

	if (!read_text(loadavg, text, sizeof(text)))
		return false;
	last = strrchr(text, ' ');
	id = last != NULL ? strtoll(last, NULL, 10) : 0;
	if (id == loadavg->newest)
		return false;
	loadavg->newest = id;
	return true;
}

size_t
loadavg_parse_runnable(const char *text)
{
	const char *slash = strchr(text, '/');

	while (slash != NULL && slash > text && slash[-1] != ' ')
		slash--;
	return slash != NULL ? (size_t)strtoul(slash, NULL, 10) : 0;
}

size_t
loadavg_runnable(struct loadavg *loadavg)
{
	char text[LOADAVG_SIZE];

	return read_text(loadavg, text, sizeof(text)) ? loadavg_parse_runnable(text) : 0;
}

void
loadavg_release(struct loadavg *loadavg)
{
	if (loadavg->opened && loadavg->fd >= 0)
		close(loadavg->fd);
	loadavg->opened = false;
}
