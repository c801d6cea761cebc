/* SPDX-License-Identifier: MIT */
/* test_view_script.c - functions of interpreted programs in a view: what they are called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "script_scene.h"
#include "wallsample/base.h"
#include "wallsample/module.h"
#include "wallsample/tree.h"
#include "wallsample/view.h"

static const struct filter all = { 0 };

/* Adds each stack for a millisecond, and compares what a view makes of them. */
static void
check_stacks(const char *const *stack, const struct filter *filter, enum view_key key,
	     const char *expected)
{
	struct profile *profile = profile_create();
	struct view *view;
	char *folded;

	for (; *stack != NULL; stack++)
		script_scene_add(profile, *stack, 1);
	view = view_create(profile, NULL, filter, key);
	folded = script_scene_fold(view);
	assert_string_equal(folded, expected);
	free(folded);
	view_free(view);
	profile_free(profile);
}

#define CHECK(filter, key, expected, ...)                                      \
	check_stacks((const char *const[]){ __VA_ARGS__, NULL }, filter, key, expected)

static const char *const lines[] = {
	"<module>@/srv/app/app.py:9;C.leaf@/srv/app/app.py:4",
	"<module>@/srv/app/app.py:9;C.leaf@/srv/app/app.py:5",
	"<module>@/srv/app/app.py:9;C.leaf@/srv/other/app.py:4",
	"<module>@/srv/app/app.py:9;loads@/usr/lib/python3/json/__init__.py:300",
	"_find@<frozen importlib._bootstrap>:1176;<module>@<string>:1;run@:0",
	NULL,
};

static void
test_functions(void **state)
{
	(void)state;
	check_stacks(lines, &all, VIEW_BY_FUNCTION,
		     "<module> (app.py);C.leaf (app.py) 2\n"
		     "<module> (app.py);C.leaf (app.py) 1\n"
		     "<module> (app.py);loads (json/__init__.py) 1\n"
		     "_find (<frozen importlib._bootstrap>);<module> (<string>);run 1\n");
}

static void
test_lines(void **state)
{
	(void)state;
	check_stacks(lines, &all, VIEW_BY_LINE,
		     "<module> (app.py:9);C.leaf (app.py:4) 1\n"
		     "<module> (app.py:9);C.leaf (app.py:5) 1\n"
		     "<module> (app.py:9);C.leaf (app.py:4) 1\n"
		     "<module> (app.py:9);loads (json/__init__.py:300) 1\n"
		     "_find (<frozen importlib._bootstrap>:1176);<module> (<string>:1);run 1\n");
}

static void
test_modules_and_sources(void **state)
{
	(void)state;
	check_stacks(lines, &all, VIEW_BY_MODULE,
		     "app.py 3\napp.py;json/__init__.py 1\n"
		     "<frozen importlib._bootstrap>;<string>;[no source] 1\n");
	check_stacks(lines, &all, VIEW_BY_SOURCE,
		     "/srv/app/app.py 2\n/srv/app/app.py;/srv/other/app.py 1\n"
		     "/srv/app/app.py;/usr/lib/python3/json/__init__.py 1\n"
		     "<frozen importlib._bootstrap>;<string>;[no source] 1\n");
}

static void
test_short_names(void **state)
{
	(void)state;
	CHECK(&all, VIEW_BY_MODULE,
	      "__init__.py 2\npkg/__main__.py 1\n/x/ 1\n"
	      "<attrs generated init a/b.py> 1\n",
	      "f@__init__.py:1", "f@pkg/__main__.py:1", "f@/__init__.py:1", "f@/x/:1",
	      "f@<attrs generated init a/b.py>:1");
}

/* A function is told from the frame of ours that has the same text. */
static void
test_kinds(void **state)
{
	struct profile *profile = profile_create();
	struct view *view;

	(void)state;
	script_scene_add(profile, "[waiting];x.so!main", 1);
	script_scene_add(profile, "f@/a.py:2;[waiting]@:0", 1);
	view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	assert_int_equal(view_function_count(view), 4);
	for (uint32_t i = 0; i < 4; i++) {
		const struct view_function *function = view_function(view, i);

		assert_true(function->known);
		assert_int_equal(function->script, i >= 2);
		assert_int_equal(view_is_named(function), i == 0);
		assert_int_equal(view_is_gap(function), i == 0);
		assert_int_equal(function->module_id == MODULE_NONE, i != 1);
	}
	assert_string_equal(view_function(view, 2)->file, "/a.py");
	assert_int_equal(view_function(view, 2)->line, 2);
	assert_null(view_function(view, 3)->file);
	/* Code that waits has its state upon it; what says so itself has not. */
	assert_true(flame_has_state(view, RUN_SLEEPING, (const uint32_t[]){ 2 }, 1));
	assert_false(flame_has_state(view, RUN_SLEEPING, (const uint32_t[]){ 0 }, 1));
	view_free(view);
	profile_free(profile);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_modules_and_sources),
		cmocka_unit_test(test_short_names),
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
