/* SPDX-License-Identifier: MIT */
/*
 * elsewhere.c - puts a copy of a program somewhere and runs it there.
 *
 *     elsewhere copy PROGRAM PATH       at this path
 *     elsewhere memfd PROGRAM NAME      in memory, without a path
 *     elsewhere mounts PROGRAM PATH     at this path of a /tmp of its own, with process numbers
 *                                       of its own
 *     elsewhere chroot PROGRAM FOLDER   as FOLDER/placed, which is its root, where the libraries
 *                                       are copied, too
 *
 * The number that the program's process has here is in the counter CHILD_COUNTER; it is 0 when
 * this process has become it.
 */
#include "target.h"

#include <limits.h>
#include <link.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define CHILD_COUNTER 60

static void
copy_to(int from, int to)
{
	char bytes[65536];
	ssize_t n;

	if (lseek(from, 0, SEEK_SET) != 0)
		target_fail("lseek");
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		if (write(to, bytes, (size_t)n) != n)
			target_fail("write");
	if (n < 0)
		target_fail("read");
}

static void
copy_file(int from, const char *path)
{
	int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);

	if (to < 0)
		target_fail(path);
	copy_to(from, to);
	close(to);
}

static int
open_or_fail(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		target_fail(path);
	return fd;
}

__attribute__((noreturn)) static void
become(const char *path)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execl(path, path, (char *)NULL);
	target_fail(path);
}

/* Runs in a child; returns when that has ended. */
static int
run_child(const char *path)
{
	struct target_counters *counters = target_counters();
	pid_t child = fork();
	int status;

	if (child < 0)
		target_fail("fork");
	if (child == 0)
		become(path);
	counters->value[CHILD_COUNTER] = (uint64_t)child;
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static void
in_memory(int program, const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);
	char *words[] = {(char *)name, NULL};

	if (fd < 0)
		target_fail("memfd_create");
	copy_to(program, fd);
	fexecve(fd, words, environ);
	target_fail("fexecve");
}

static int
with_own_mounts(int program, const char *path)
{
	if (unshare(CLONE_NEWNS | CLONE_NEWPID) != 0)
		target_fail("unshare");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", "/tmp", "tmpfs", 0, NULL) != 0)
		target_fail("mount");
	copy_file(program, path);
	return run_child(path);
}

static int
copy_library(struct dl_phdr_info *info, size_t size, void *folder)
{
	char path[PATH_MAX];
	int fd;

	(void)size;
	if (info->dlpi_name[0] != '/') /* the program itself, the vdso */
		return 0;
	snprintf(path, sizeof(path), "%s%s", (const char *)folder, info->dlpi_name);
	for (char *at = path + strlen(folder) + 1; (at = strchr(at, '/')) != NULL; at++) {
		*at = '\0';
		if (mkdir(path, 0755) != 0 && errno != EEXIST)
			target_fail(path);
		*at = '/';
	}
	fd = open_or_fail(info->dlpi_name);
	copy_file(fd, path);
	close(fd);
	return 0;
}

static void
in_chroot(int program, char *folder)
{
	char path[PATH_MAX];

	/* The same libraries as the program has: this one needs threads, too. */
	target_start(NULL, 0, 0);
	dl_iterate_phdr(copy_library, folder);
	snprintf(path, sizeof(path), "%s/placed", folder);
	copy_file(program, path);
	if (chroot(folder) != 0 || chdir("/") != 0)
		target_fail("chroot");
	become("/placed");
}

int
main(int argc, char **argv)
{
	if (argc != 4)
		target_fail("elsewhere HOW PROGRAM WHERE");
	const int program = open_or_fail(argv[2]);

	if (strcmp(argv[1], "memfd") == 0)
		in_memory(program, argv[3]);
	if (strcmp(argv[1], "mounts") == 0)
		return with_own_mounts(program, argv[3]);
	if (strcmp(argv[1], "chroot") == 0)
		in_chroot(program, argv[3]);
	copy_file(program, argv[3]);
	become(argv[3]);
}
