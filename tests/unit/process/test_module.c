/* SPDX-License-Identifier: MIT */
/* test_module.c - the table of modules when it is full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "process/process_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/process/module.h"

#define MOST 16384
#define EARLY 1024

/* Names without files, so that nothing has to be opened. */
static uint32_t
add_named(struct modules *modules, unsigned number)
{
	char name[32];
	const struct maps_line line = { .path = name };

	snprintf(name, sizeof(name), "[v%u]", number);
	return modules_add(modules, NULL, &line, false);
}

/* When there is no room for more modules, those that are known stay known. */
static void
test_more_modules(void **state)
{
	struct modules *modules = modules_create();

	(void)state;
	for (unsigned i = 0; i < MOST; i++)
		assert_int_equal(add_named(modules, i), i);
	assert_int_equal(add_named(modules, MOST), MOST);
	assert_string_equal(modules_get(modules, MOST)->path, "[more modules]");
	assert_int_equal(add_named(modules, MOST + 1), MOST);
	assert_int_equal(add_named(modules, MOST - 1), MOST - 1);
	assert_int_equal(add_named(modules, 0), 0);
	assert_int_equal(modules_count(modules), MOST + 1);
	modules_free(modules);
}

static uint32_t
add_file(struct modules *modules, const struct process *process, unsigned number, bool wanted)
{
	char path[64];
	const struct maps_line line = {
		.start = 4096, .end = 8192, .dev = makedev(8, 1), .inode = number + 1, .path = path
	};

	snprintf(path, sizeof(path), "/no such folder/%u", number);
	return modules_add(modules, process, &line, wanted);
}

/* Of very many files only those are added that a sample needs; memory without a file is added. */
static void
test_deferred(void **state)
{
	struct modules *modules = modules_create();
	struct process *process;
	struct error err;
	uint32_t more, wanted;

	(void)state;
	assert_int_equal(process_open(getpid(), &process, &err), 0);
	for (unsigned i = 0; i < EARLY; i++)
		assert_int_equal(add_file(modules, process, i, false), i);
	assert_false(modules_is_deferred(modules, 0));
	more = add_file(modules, process, EARLY, false);
	assert_string_equal(modules_at(modules, more)->path, "[more modules]");
	assert_true(modules_is_deferred(modules, more));
	assert_int_equal(add_file(modules, process, EARLY + 1, false), more);
	assert_int_equal(add_file(modules, process, 0, false), 0);

	wanted = add_file(modules, process, EARLY + 1, true);
	assert_string_equal(modules_at(modules, wanted)->path, "/no such folder/1025");
	assert_int_equal(add_file(modules, process, EARLY + 1, false), wanted);
	assert_string_equal(modules_at(modules, add_named(modules, 1))->path, "[v1]");
	for (unsigned i = 0; modules_count(modules) < MOST; i++)
		add_named(modules, i);
	assert_false(modules_is_deferred(modules, more));
	assert_int_equal(add_file(modules, process, EARLY + 2, true), more);
	modules_free(modules);
	process_free(process);
}

#define FILES 30 /* limit of open files */

/* A recording with more modules than the limit of open files: images take a third of the limit, the
 * other modules become OTHER, and other files can still be opened. */
static void
test_recorded_files(void **state)
{
	const struct rlimit few = { .rlim_cur = FILES, .rlim_max = FILES };
	char path[256] = "", id[2 * IMAGE_BUILD_ID_MAX + 1];
	const struct recorded_module recorded = { .path = path,
						  .build_id = id,
						  .kind = MODULE_FILE };
	struct modules *modules;
	struct image *image = image_open_fd(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), NULL);
	unsigned opened = 0;
	int fd;

	(void)state;
	assert_non_null(image);
	module_build_id(image, id);
	image_free(image);
	if (id[0] == '\0' || readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		skip();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	modules = modules_create();
	for (unsigned i = 0; i < 2 * FILES; i++) {
		const uint32_t added = modules_add_recorded(modules, &recorded);

		opened += modules_at(modules, added)->image != NULL;
		if (modules_at(modules, added)->image == NULL)
			assert_string_equal(modules_at(modules, added)->why,
					    "too many open files");
	}
	assert_int_equal(opened, FILES / 3);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	close(fd);
	modules_free(modules);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_more_modules),
		cmocka_unit_test(test_deferred),
		cmocka_unit_test(test_recorded_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
