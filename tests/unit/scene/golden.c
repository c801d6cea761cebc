/* SPDX-License-Identifier: MIT */
/* golden.c - bytes compared with a file that is kept. */
#include "golden.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wallsample/base/base.h"

static void
golden_path(char *path, size_t size, const char *name)
{
	const char *top = getenv("SOURCE");

	if (top == NULL)
		top = getenv("srcdir");
	snprintf(path, size, "%s/tests/replay/%s", top != NULL ? top : ".", name);
}

void
golden_check(const char *name, const char *written, size_t size)
{
	char *expected = xcalloc(1, size + 1);
	char path[4096];
	FILE *file;

	golden_path(path, sizeof(path), name);
	if (getenv("UPDATE_GOLDEN") != NULL) {
		file = fopen(path, "we");
		assert_non_null(file);
		assert_int_equal(fwrite(written, 1, size, file), size);
		assert_int_equal(fclose(file), 0);
	}
	file = fopen(path, "re");
	if (file == NULL)
		fail_msg("%s: %s", path, strerror(errno));
	/* one byte more is asked for: it must not be there */
	if (fread(expected, 1, size + 1, file) != size || memcmp(written, expected, size) != 0)
		fail_msg("%s is not what was written:\n%.*s", path, (int)size, written);
	fclose(file);
	free(expected);
}
