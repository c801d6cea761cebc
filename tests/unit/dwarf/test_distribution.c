/* SPDX-License-Identifier: MIT */
/* test_distribution.c - the debug packages of files, where dpkg(1) installs them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "wallsample/dwarf/distribution.h"

static const char *
package_of(const char *path)
{
	static char name[64];
	char *package;

	distribution_find_debug_packages(&path, 1, &package);
	snprintf(name, sizeof(name), "%s", package != NULL ? package : "");
	free(package);
	return name;
}

static void
test_packages(void **state)
{
	static const char *const paths[] = { "/usr/bin/ls", "/none", "/usr/bin/env" };
	char *several[3];

	(void)state;
	assert_string_equal(package_of("/usr/bin/no such program"), "");
	assert_string_equal(package_of("ls"), "");
	if (access("/var/lib/dpkg/info/coreutils.list", R_OK) != 0)
		skip();
	/* dpkg has the path /bin/ls on a system on which /bin is a link. */
	assert_string_equal(package_of("/usr/bin/ls"), "coreutils-dbgsym");
	assert_string_equal(package_of("/usr/bin/env"), "coreutils-dbgsym");
	/* Several at once. */
	distribution_find_debug_packages(paths, 3, several);
	assert_string_equal(several[0], several[2]);
	assert_null(several[1]);
	free(several[0]);
	free(several[2]);
	/* The beginning of a path is another path. */
	assert_string_equal(package_of("/usr/bin/en"), "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
