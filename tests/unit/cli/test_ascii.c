/* SPDX-License-Identifier: MIT */
/* test_ascii.c - texts for a terminal that does not show UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/ascii_internal.h"

static void
check(const char *text, const char *wanted)
{
	const size_t length = strlen(text);

	/* In one part, and divided at each byte. */
	for (size_t at = 0; at <= length; at++) {
		struct ascii_filter filter = { .count = 0 };
		struct strbuf out = STRBUF_INIT;

		strbuf_add_text(&out, "");
		ascii_add(&filter, text, at, &out);
		ascii_add(&filter, text + at, length - at, &out);
		ascii_end(&filter, &out);
		assert_string_equal(out.data, wanted);
		strbuf_release(&out);
	}
}

static void
test_replacements(void **state)
{
	(void)state;
	check("", "");
	check("plain\ttext\n", "plain\ttext\n");
	check("±5.0 points, json::par…value", "+-5.0 points, json::par*value");
	check("████▌ 12 µs", "##### 12 us");
	check("für", "f?r");
	check("日本", "??");
	check("\xf0\x9f\x98\x80!", "?!");
}

/* Bytes that are not UTF-8 do not swallow what follows. */
static void
test_damaged(void **state)
{
	(void)state;
	check("\x80", "?");
	check("\xe2\x80 x", "? x");
	check("\xff\xfe.", "??.");
	check("a\xc3\xc3\xa4.", "a??.");
	check("end\xe2\x80", "end?");
}

static void
test_locale(void **state)
{
	static const struct {
		const char *variable, *value;
		bool utf8;
	} cases[] = {
		{ "LC_ALL", "C", false },          { "LC_ALL", "POSIX", false },
		{ "LC_ALL", "C.UTF-8", true },     { "LC_ALL", "xx_XX.UTF-8", true },
		{ "LC_ALL", "xx_XX.utf8", true },  { "LC_ALL", "xx_XX", false },
		{ "LC_CTYPE", "C.UTF-8", true },   { "LANG", "C.UTF-8", true },
		{ "LANG", "xx_XX.UTF-8", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unsetenv("LC_ALL");
		unsetenv("LC_CTYPE");
		unsetenv("LANG");
		setenv(cases[i].variable, cases[i].value, 1);
		assert_int_equal(ascii_locale_is_utf8(), cases[i].utf8);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replacements),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_locale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
