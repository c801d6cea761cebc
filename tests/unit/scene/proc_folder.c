/* SPDX-License-Identifier: MIT */
/* proc_folder.c - a directory in place of /proc/PID; see the header. */
#include "proc_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wallsample/base/base.h"

void
proc_folder_write(const struct proc_folder *folder, const char *text, size_t length)
{
	const int fd = openat(folder->process.dirfd, "maps", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_true(file_write_all(fd, text, length));
	close(fd);
}

void
proc_folder_make(struct proc_folder *folder)
{
	memset(folder, 0, sizeof(*folder));
	snprintf(folder->path, sizeof(folder->path), "/tmp/proc_folder.XXXXXX");
	assert_non_null(mkdtemp(folder->path));
	folder->process.dirfd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	folder->process.taskfd = -1;
	assert_true(folder->process.dirfd >= 0);
}

void
proc_folder_remove(struct proc_folder *folder)
{
	unlinkat(folder->process.dirfd, "maps", 0);
	unlinkat(folder->process.dirfd, "ns/ipc", 0);
	unlinkat(folder->process.dirfd, "ns", AT_REMOVEDIR);
	close(folder->process.dirfd);
	assert_int_equal(rmdir(folder->path), 0);
}
