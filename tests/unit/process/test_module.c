/* SPDX-License-Identifier: MIT */
/* test_module.c - the table of modules when it is full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "wallsample/process/module.h"

#define MOST 16384

/* Names without files, so that nothing has to be opened. */
static uint32_t
add_named(struct modules *modules, unsigned number)
{
	char name[32];
	const struct maps_line line = { .path = name };

	snprintf(name, sizeof(name), "[v%u]", number);
	return modules_add(modules, NULL, &line);
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_more_modules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
