/* SPDX-License-Identifier: MIT */
/* test_progress_words.c - the words of progress points, good and bad. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "causal/progress_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/causal/progress.h"

struct good {
	const char *text, *name, *module, *symbol;
	enum progress_source_kind kind;
	uint64_t number;
	unsigned size;
};

static const struct good goods[] = {
	{ "var:hits", "var:hits", NULL, "hits", PROGRESS_VAR, 0, 0 },
	{ "requests=var:hits", "requests", NULL, "hits", PROGRESS_VAR, 0, 0 },
	{ "var:libx.so.1:hits+8/4", "var:libx.so.1:hits+8/4", "libx.so.1", "hits", PROGRESS_VAR, 8,
	  4 },
	{ "var:hits+0x10/2", "var:hits+0x10/2", NULL, "hits", PROGRESS_VAR, 16, 2 },
	{ "var:ns::hits", "var:ns::hits", NULL, "ns::hits", PROGRESS_VAR, 0, 0 },
	{ "var:mod:ns::hits", "var:mod:ns::hits", "mod", "ns::hits", PROGRESS_VAR, 0, 0 },
	{ "var:a::b<c::d>::hits/8", "var:a::b<c::d>::hits/8", NULL, "a::b<c::d>::hits",
	  PROGRESS_VAR, 0, 8 },
	{ "var:main.requests", "var:main.requests", NULL, "main.requests", PROGRESS_VAR, 0, 0 },
	{ "var:0x55d0c0de4010/4", "var:0x55d0c0de4010/4", NULL, NULL, PROGRESS_VAR,
	  0x55d0c0de4010, 4 },
	{ "var:0x10", "var:0x10", NULL, NULL, PROGRESS_VAR, 0x10, 0 },
	{ "coz:a=b, c:1", "coz:a=b, c:1", NULL, "a=b, c:1", PROGRESS_COZ, 0, 0 },
	{ "n=coz:src/x.cc:12", "n", NULL, "src/x.cc:12", PROGRESS_COZ, 0, 0 },
	{ "io:wchar", "io:wchar", NULL, NULL, PROGRESS_IO, PROGRESS_WCHAR, 0 },
	{ "syscalls:read", "syscalls:read", NULL, NULL, PROGRESS_IO, PROGRESS_SYSCR, 0 },
	{ "syscalls:write", "syscalls:write", NULL, NULL, PROGRESS_IO, PROGRESS_SYSCW, 0 },
	{ "func:operator+", "func:operator+", NULL, "operator+", PROGRESS_FUNC, 0, 0 },
	{ "func:libx.so:f", "func:libx.so:f", "libx.so", "f", PROGRESS_FUNC, 0, 0 },
	{ "line:a/b.c:12", "line:a/b.c:12", NULL, "a/b.c", PROGRESS_LINE, 12, 0 },
	{ "line:C:odd.c:12", "line:C:odd.c:12", NULL, "C:odd.c", PROGRESS_LINE, 12, 0 },
};

static void
assert_same(const char *a, const char *b)
{
	if (b == NULL)
		assert_null(a);
	else
		assert_string_equal(a, b);
}

static void
test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(goods); i++) {
		const struct good *good = &goods[i];
		struct progress_words words;
		struct error error = { .text = "" };

		if (progress_words_read(good->text, &words, &error) != 0)
			fail_msg("%s: %s", good->text, error.text);
		assert_string_equal(words.name, good->name);
		assert_int_equal(words.source_count, 1);
		assert_int_equal(words.kind, CAUSAL_THROUGHPUT);
		assert_same(words.source[0].module, good->module);
		assert_same(words.source[0].name, good->symbol);
		assert_int_equal(words.source[0].kind, good->kind);
		assert_int_equal(words.source[0].number, good->number);
		assert_int_equal(words.source[0].size, good->size);
		progress_words_release(&words);
	}
}

static void
test_latency(void **state)
{
	struct progress_words words;

	(void)state;
	assert_int_equal(progress_words_read("wait=begin:var:m:a,end:coz:b,end", &words, NULL), 0);
	assert_int_equal(words.kind, CAUSAL_LATENCY);
	assert_int_equal(words.source_count, 2);
	assert_string_equal(words.name, "wait");
	assert_string_equal(words.spec, "begin:var:m:a,end:coz:b,end");
	assert_string_equal(words.source[0].text, "var:m:a");
	assert_string_equal(words.source[1].name, "b,end");
	progress_words_release(&words);
}

/* What is said of them has an example, or what there is. */
static void
test_bad(void **state)
{
	static const char *const bad[][2] = {
		{ "", "for example var:" },
		{ "hits", "for example var:" },
		{ "foo:hits", "for example var:" },
		{ "=var:hits", "no name before" },
		{ "var:", "for example var:requests" },
		{ "var:mod:", "for example var:requests" },
		{ "var:hits/3", "1, 2, 4 or 8" },
		{ "var:hits/99999999999999999999", "1, 2, 4 or 8" },
		{ "var:0xzz", "0x55d0c0de4010" },
		{ "var:0x", "0x55d0c0de4010" },
		{ "var:0xffffffffffffffff", "0x55d0c0de4010" },
		{ "var:0x11111111111111111", "0x55d0c0de4010" },
		{ "coz:", "COZ_PROGRESS_NAMED" },
		{ "io:", "rchar, wchar" },
		{ "io:wchars", "rchar, wchar" },
		{ "syscalls:open", "syscalls:write" },
		{ "func:", "func:requests" },
		{ "line:a.c", "line:server.c:123" },
		{ "line:a.c:0", "line:server.c:123" },
		{ "line:a.c:x", "line:server.c:123" },
		{ "line::3", "line:server.c:123" },
		{ "begin:var:a", "begin:var:accepted" },
		{ "end:var:a", "begin:var:accepted" },
		{ "begin:var:a,end:", "for example var:" },
		{ "begin:,end:var:a", "for example var:" },
		{ "begin:begin:var:a,end:var:b,end:var:c", "for example var:" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct progress_words words;
		struct error error = { .text = "" };

		assert_int_equal(progress_words_read(bad[i][0], &words, &error), -ERROR_USAGE);
		if (strstr(error.text, bad[i][1]) == NULL)
			fail_msg("'%s': %s", bad[i][0], error.text);
	}
}

static void
test_check(void **state)
{
	static const char *const same[] = { "var:a", "var:b", "var:a" };
	static const char *const renamed[] = { "var:a", "b=var:a" };
	static const char *const counted[] = { "func:a", "begin:line:x.c:1,end:func:b", "var:c" };
	static const char *const too_many[] = { "func:a", "func:b", "func:c",
						"begin:func:d,end:func:e" };
	const char *nine[CAUSAL_POINTS_MOST + 1];
	struct error error;
	size_t breakpoints = 99;

	(void)state;
	assert_int_equal(progress_check(NULL, 0, &breakpoints, &error), 0);
	assert_int_equal(breakpoints, 0);
	assert_int_equal(progress_check(same, 3, NULL, &error), -ERROR_USAGE);
	assert_int_equal(progress_check(renamed, 2, NULL, &error), 0);
	assert_int_equal(progress_check(counted, 3, &breakpoints, &error), 0);
	assert_int_equal(breakpoints, 3);
	assert_int_equal(progress_check(too_many, 4, NULL, &error), -ERROR_USAGE);
	for (size_t i = 0; i < ARRAY_SIZE(nine); i++)
		nine[i] = "var:a";
	assert_int_equal(progress_check(nine, ARRAY_SIZE(nine), NULL, &error), -ERROR_USAGE);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_latency),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
