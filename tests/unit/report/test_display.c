/* SPDX-License-Identifier: MIT */
/*
 * test_display.c - numbers, widths, wrapping and tables of the text report.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wallsample/report/columns.h"
#include "wallsample/report/display.h"
#include "wallsample/report/quantity.h"
#include "wallsample/base/base.h"

static void
check_time(int64_t ns, const char *expected)
{
	assert_string_equal(quantity_time(ns).text, expected);
}

static void
check_count(uint64_t count, const char *expected)
{
	assert_string_equal(quantity_count(count).text, expected);
}

static void
check_share(double part, double whole, const char *expected)
{
	assert_string_equal(quantity_share(part, whole).text, expected);
}

static void
test_quantities(void **state)
{
	(void)state;
	check_time(0, "0");
	check_time(1, "0.0us");
	check_time(8123, "8.1us");
	check_time(9949, "9.9us");
	check_time(9950, "10us");
	check_time(999499, "999us");
	check_time(999500, "1.0ms");
	check_time(9949999, "9.9ms");
	check_time(9950000, "10ms");
	check_time(999499999, "999ms");
	check_time(999500000, "1.00s");
	check_time(INT64_C(86400000000000), "86400.00s");
	check_count(0, "0");
	check_count(999, "999");
	check_count(1000, "1,000");
	check_count(1002003, "1,002,003");
	check_count(UINT64_MAX, "18,446,744,073,709,551,615");
	check_share(1, 3, "33.33%");
	check_share(3, 3, "100.00%");
	check_share(1, 1000000, "<0.01%");
	check_share(0, 3, "0.00%");
	check_share(0, 0, "0.00%");
}

static void
check_fitted(const char *text, size_t width, const char *expected)
{
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_text(&sb, "");
	display_add_fitted(&sb, text, width);
	assert_string_equal(sb.data, expected);
	assert_true(display_width(sb.data) <= width);
	strbuf_release(&sb);
}

static void
test_display(void **state)
{
	(void)state;
	assert_int_equal(display_width(""), 0);
	assert_int_equal(display_width("abc"), 3);
	assert_int_equal(display_width("\xc3\xa9t\xc3\xa9"), 3);        /* été */
	assert_int_equal(display_width("\xe6\x97\xa5\xe6\x9c\xac"), 4); /* two wide ones */
	assert_int_equal(display_width("e\xcc\x81"), 1);                /* e, combining acute */
	assert_int_equal(display_width("\xf0\x9f\x98\x80"), 2);         /* an emoji */
	assert_int_equal(display_width("\xf0\x9f\xa6\x80"), 2);         /* U+1F980, crab */
	assert_int_equal(display_width("\xf0\x9f\xab\xa0"), 2);         /* U+1FAE0 */
	assert_int_equal(display_width("\xf0\x9f\x9f\xa0"), 2);         /* U+1F7E0, circle */
	assert_int_equal(display_width("\xe2\x8c\x9a"), 2);             /* U+231A, watch */
	assert_int_equal(display_width("\xf0\x9f\x9b\xa0"), 1);         /* U+1F6E0: text style */
	assert_int_equal(display_width("\xe0\xa5\x8d"), 0);             /* Devanagari virama */
	assert_int_equal(display_width("\xff\xe6"), 2);                 /* stray bytes */
	check_fitted("abcdefgh", 8, "abcdefgh");
	check_fitted("abcdefgh", 7, "abc…fgh");
	check_fitted("abcdefgh", 6, "abc…gh");
	check_fitted("abcdefgh", 1, "…");
	check_fitted("abcdefgh", 0, "");
	check_fitted("", 0, "");
	/* A wide character is not cut in two. */
	check_fitted("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 5, "\xe6\x97\xa5…\xe8\xaa\x9e");
	check_fitted("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 4, "\xe6\x97\xa5…");
}

static void
check_name(const char *name, size_t width, const char *expected)
{
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_text(&sb, "");
	display_add_name(&sb, name, width);
	assert_string_equal(sb.data, expected);
	assert_true(display_width(sb.data) <= width);
	strbuf_release(&sb);
}

static void
test_names(void **state)
{
	static const char method[] = "ns::very<std::vector<int>, 3>::method(int)";
	static const char impl[] = "<alloc::vec::Vec<T, A> as core::iter::Iterator>::next";

	(void)state;
	check_name("", 0, "");
	check_name(method, 42, method);
	check_name(method, 41, "ns::very<std::vector<…>, 3>::method(int)");
	check_name(method, 39, "ns::very<…>::method(…)");
	check_name(method, 22, "ns::very<…>::method(…)");
	check_name(method, 21, "ns::very<……:method(…)");
	check_name(method, 1, "…");
	/* Whose function it is stays. */
	check_name(impl, 50, "<alloc::vec::Vec<…> as core::iter::Iterator>::next");
	check_name(impl, 30, "<alloc::vec::Ve…terator>::next");
	check_name("main.(*Server).handle(long list)", 30, "main.(*Server).handle(…)");
	check_name("a::(anonymous namespace)::f(int, int)", 32, "a::(anonymous namespace)::f(…)");
	check_name("std.conv.to!(immutable(char)[]).to(int)", 32, "std.conv.to!(…).to(…)");
	/* Signs that are no brackets. */
	check_name("ns::operator<< <int, int>(a, b)", 28, "ns::operator<< <…>(…)");
	check_name("ns::A<int, int>::operator()(a, b)", 28, "ns::A<…>::operator()(…)");
	check_name("ns::A<int, int>::operator->(a, b)", 28, "ns::A<…>::operator->(…)");
	check_name("call::<fn(i32, i32) -> i32>(a)", 28, "call::<fn(…) -> i32>(a)");
	check_name("f<(a, b), c>(x, y)", 14, "f<…>(…)");
	check_name("f<>(abcdefgh)", 8, "f<>(…)");
	/* No name as we know them is cut in the middle. */
	check_name("if (a < b) then", 9, "if (…then");
	check_name("a>bcdefgh", 5, "a>…gh");
	check_name("((((((((((((((((((((((((((((((", 5, "((…((");
}

/* A name that would turn the rest of its line, or look like another, is seen to. */
static void
test_deceptive_names(void **state)
{
	static const struct {
		const char *name, *shown;
		size_t width;
	} cases[] = {
		{ "gpj\xe2\x80\xae"
		  "exe",
		  "gpj\\u202eexe", 12 },
		{ "\xe2\x81\xa7"
		  "f\xe2\x81\xa9",
		  "\\u2067f\\u2069", 13 },
		{ "ma\xe2\x80\x8bin", "ma\\u200bin", 10 },
		{ "\xef\xbb\xbfmain", "\\ufeffmain", 10 },
		{ "main\xf3\xa0\x80\xa0", "main\\U000e0020", 14 },
		{ "f\r\x1b[K\xc2\x9bg\xff", "f\\x0d\\x1b[K\\xc2\\x9bg\\xff", 24 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct strbuf sb;

		strbuf_init(&sb);
		strbuf_add_escaped(&sb, cases[i].name);
		assert_string_equal(sb.data, cases[i].shown);
		assert_int_equal(display_width(sb.data), cases[i].width);
		check_name(sb.data, cases[i].width, cases[i].shown);
		strbuf_release(&sb);
	}
}

static void
check_wrapped(const char *text, size_t indent, size_t width, const char *expected)
{
	char *written = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&written, &size);

	assert_non_null(out);
	display_wrap(out, text, indent, width);
	fclose(out);
	assert_string_equal(written, expected);
	free(written);
}

static void
test_wrap(void **state)
{
	(void)state;
	check_wrapped("", 0, 10, "\n");
	check_wrapped("one two three", 0, 13, "one two three\n");
	check_wrapped("one two three", 0, 12, "one two\nthree\n");
	check_wrapped("one two three", 2, 9, "one two\n  three\n");
	check_wrapped("one  two ", 0, 10, "one two\n");
	check_wrapped("a wordtoolong b", 2, 6, "a\n  wordtoolong\n  b\n");
}

static void
test_columns(void **state)
{
	static const struct column column[] = {
		{ .title = "n", .right = true },
		{ .title = "name", .most = 6 },
		{ .title = "what" },
	};
	static const char *const cell[] = {
		"1", "short", "a", "1,000", "much longer", "a text that does not fit there",
	};
	struct columns table;
	char *written = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&written, &size);

	(void)state;
	assert_non_null(out);
	columns_init(&table, column, ARRAY_SIZE(column));
	for (size_t i = 0; i < ARRAY_SIZE(cell); i++)
		columns_add(&table, cell[i]);
	columns_write(&table, out, 35);
	columns_release(&table);
	fclose(out);
	assert_string_equal(written, "    n  name    what\n"
				     "    1  short   a\n"
				     "1,000  muc…er  a text tha…fit there\n");
	free(written);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantities), cmocka_unit_test(test_display),
		cmocka_unit_test(test_names),      cmocka_unit_test(test_deceptive_names),
		cmocka_unit_test(test_wrap),       cmocka_unit_test(test_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
