/* SPDX-License-Identifier: MIT */
/*
 * copies.c - a thread "copier" that is on a CPU in one long system call after the other: each
 * copies 384 MiB, a tenth of a second, in which no tracer can stop it.
 */
#include "target.h"

void copy_f0(void), copy_leaf(int, char *);

#define SIZE ((size_t)384 << 20)

FRAME void
copy_leaf(int fd, char *to)
{
	target_here();
	while (!target_over)
		target_sink += (unsigned long)pread(fd, to, SIZE, 0);
	KEEP_FRAME();
}

FRAME void
copy_f0(void)
{
	char *bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	int fd = memfd_create("source", MFD_CLOEXEC);

	if (bytes == MAP_FAILED || fd < 0)
		target_fail("memory");
	memset(bytes, 1, SIZE);
	if (write(fd, bytes, SIZE) != (ssize_t)SIZE)
		target_fail("write");
	copy_leaf(fd, bytes);
	KEEP_FRAME();
}

static struct target_thread threads[] = {{.name = "copier", .run = copy_f0}};

int
main(void)
{
	target_start(threads, 1, 0);
	target_wait(threads, 1);
	target_ready();
	while (target_told())
		;
	return 0;
}
