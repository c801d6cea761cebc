/* SPDX-License-Identifier: MIT */
/* test_cpus.c - the CPU limits of cgroups, whose files are made in a mount namespace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/process_internal.h"

#define ROOT "/sys/fs/cgroup"
/* What the child says when it cannot make the files. */
#define UNABLE 250

static bool
make_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	return file != NULL && fputs(text, file) >= 0 && fclose(file) == 0;
}

/* In a child, where the cgroup "/a/..b" has a limit of one CPU. */
static void __attribute__((noreturn))
count_cpus(const char *line)
{
	struct process process = { .pid = getpid() };
	unsigned cpus;

	if ((unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", ROOT, "tmpfs", 0, NULL) != 0 || mkdir(ROOT "/a", 0700) != 0 ||
	    mkdir(ROOT "/a/..b", 0700) != 0 || !make_file(ROOT "/cgroup", line) ||
	    !make_file(ROOT "/a/..b/cpu.max", "100000 100000\n"))
		_exit(UNABLE);
	process.dirfd = open(ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	process.taskfd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cpus = process_allowed_cpus(&process);
	_exit(cpus < UNABLE ? (int)cpus : UNABLE - 1);
}

static int
cpus_of(const char *line)
{
	const pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0)
		count_cpus(line);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void
test_names(void **state)
{
	const int all = cpus_of("0::/\n");

	(void)state;
	if (all == UNABLE || all == 1)
		skip();
	assert_int_equal(cpus_of("0::/a\n"), all);
	assert_int_equal(cpus_of("0::/a/..b\n"), 1);
	assert_int_equal(cpus_of("0::/a/..b/c\n"), 1);
	/* outside of the namespace, whatever is here */
	assert_int_equal(cpus_of("0::/../cgroup/a/..b\n"), all);
	assert_int_equal(cpus_of("0::/..\n"), all);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
