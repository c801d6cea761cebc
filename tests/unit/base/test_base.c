/* SPDX-License-Identifier: MIT */
/* test_base.c - memory, numbers from text, text buffers, files, random numbers. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "wallsample/base/base.h"
#include "wallsample/base/error.h"
#include "wallsample/base/utf8.h"

static void
test_grow_at_least_doubles(void **state)
{
	size_t capacity = 0;
	uint32_t *array = xgrow(NULL, &capacity, 1, sizeof(*array));
	size_t first = capacity;

	(void)state;
	assert_true(first >= 1);
	array[0] = 7;
	array = xgrow(array, &capacity, first + 1, sizeof(*array));
	assert_true(capacity >= 2 * first);
	assert_int_equal(array[0], 7);
	assert_ptr_equal(xgrow(array, &capacity, capacity, sizeof(*array)), array);
	array = xgrow(array, &capacity, 100000, sizeof(*array));
	assert_true(capacity >= 100000);
	free(array);
}

static void
test_copies_of_text(void **state)
{
	char *whole = xstrdup("abc"), *part = xstrndup("abcdef", 2), *all = xstrndup("ab", 9);

	(void)state;
	assert_string_equal(whole, "abc");
	assert_string_equal(part, "ab");
	assert_string_equal(all, "ab");
	free(whole);
	free(part);
	free(all);
}

static void
test_clocks_move_on(void **state)
{
	uint64_t before = clock_now_ns(), cpu = clock_own_cpu_ns();

	(void)state;
	while (clock_own_cpu_ns() == cpu)
		;
	assert_true(clock_now_ns() > before);
}

static void
test_parse_u64(void **state)
{
	const char *cursor = " \t42 0x10 ff", *start;
	uint64_t value = 0;

	(void)state;
	assert_true(parse_u64(&cursor, 10, &value));
	assert_int_equal(value, 42);
	assert_string_equal(cursor, " 0x10 ff");
	cursor += 3;
	assert_true(parse_u64(&cursor, 16, &value));
	assert_int_equal(value, 0x10);
	assert_true(parse_u64(&cursor, 16, &value));
	assert_int_equal(value, 0xff);

	for (size_t i = 0; i < 4; i++) {
		static const char *const bad[] = { "", " ", "x1", "18446744073709551616" };

		cursor = start = bad[i];
		assert_false(parse_u64(&cursor, 10, &value));
		assert_ptr_equal(cursor, start);
	}
	cursor = "18446744073709551615";
	assert_true(parse_u64(&cursor, 10, &value));
	assert_true(value == UINT64_MAX);
	cursor = "10000000000000000";
	assert_false(parse_u64(&cursor, 16, &value));
	/* a sign is no digit, the next line is not this field */
	cursor = "-1";
	assert_false(parse_u64(&cursor, 10, &value));
	cursor = "\n1";
	assert_false(parse_u64(&cursor, 10, &value));
}

static void
test_parse_i64(void **state)
{
	const char *cursor = " -12 9";
	int64_t value = 0;

	(void)state;
	assert_true(parse_i64(&cursor, &value));
	assert_int_equal(value, -12);
	assert_true(parse_i64(&cursor, &value));
	assert_int_equal(value, 9);
	cursor = "-9223372036854775808";
	assert_true(parse_i64(&cursor, &value));
	assert_true(value == INT64_MIN);
	cursor = "9223372036854775807";
	assert_true(parse_i64(&cursor, &value));
	assert_true(value == INT64_MAX);
	cursor = "9223372036854775808";
	assert_false(parse_i64(&cursor, &value));
	cursor = "-9223372036854775809";
	assert_false(parse_i64(&cursor, &value));
	cursor = "- 1";
	assert_false(parse_i64(&cursor, &value));
}

static void
test_parse_whole(void **state)
{
	uint64_t value = 0;

	(void)state;
	assert_true(parse_whole_u64("5", 5, 6, &value));
	assert_int_equal(value, 5);
	assert_false(parse_whole_u64("4", 5, 6, &value));
	assert_false(parse_whole_u64("7", 5, 6, &value));
	assert_false(parse_whole_u64("5x", 5, 6, &value));
	assert_false(parse_whole_u64("5 ", 5, 6, &value));
	assert_false(parse_whole_u64(" 5", 5, 6, &value));
	assert_false(parse_whole_u64("", 0, 6, &value));
}

static void
test_parse_duration(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "30", 30 * NS_PER_SEC },    { "30s", 30 * NS_PER_SEC },
		{ "1.5", 1500 * NS_PER_MS },  { "500ms", 500 * NS_PER_MS },
		{ "250us", 250 * NS_PER_US }, { "2m", 120 * NS_PER_SEC },
		{ "1h", 3600 * NS_PER_SEC },  { "0.5h", 1800 * NS_PER_SEC },
		{ "0.000000001", 1 },         { "1.0000000009", NS_PER_SEC },
		{ "0.25m", 15 * NS_PER_SEC },  { ".5", 500 * NS_PER_MS },
		{ ".25ms", 250 * NS_PER_US },
	};
	static const char *const bad[] = {
		"", "0", "0.0", "-1", "1x", "1.", ".", ".s", "1 s", " 1", "1ss", "1e3", "ms",
		"5124095577h", "18446744073.709551616", "99999999999999999999", "0.0000000001",
	};
	uint64_t ns = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_true(parse_duration_ns(good[i].text, &ns));
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (parse_duration_ns(bad[i], &ns))
			fail_msg("\"%s\" was taken for a time", bad[i]);
}

static void
test_parse_size(void **state)
{
	uint64_t bytes = 0;

	(void)state;
	assert_true(parse_size("65536", &bytes) && bytes == 65536);
	assert_true(parse_size("64K", &bytes) && bytes == 65536);
	assert_true(parse_size("1m", &bytes) && bytes == 1048576);
	assert_true(parse_size("2G", &bytes) && bytes == UINT64_C(2) << 30);
	assert_false(parse_size("", &bytes));
	assert_false(parse_size("K", &bytes));
	assert_false(parse_size("1KB", &bytes));
	assert_false(parse_size("1.5K", &bytes));
	assert_false(parse_size("17179869184G", &bytes));
}

static void
test_parse_double(void **state)
{
	static const char *const bad[] = { "",    ".",   "-",   "nan",   "inf", "0x1", "1e3",
					   " 1",  "1 ",  "1.2.3", "--1", "101", "-0.5" };
	double value = 0;

	(void)state;
	assert_true(parse_double("99.5", 0, 100, &value) && value == 99.5);
	assert_true(parse_double(".5", 0, 100, &value) && value == 0.5);
	assert_true(parse_double("5.", 0, 100, &value) && value == 5);
	assert_true(parse_double("-2", -3, 3, &value) && value == -2);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (parse_double(bad[i], 0, 100, &value))
			fail_msg("\"%s\" was taken for a number", bad[i]);
}

static void
test_strbuf(void **state)
{
	struct strbuf sb;

	(void)state;
	strbuf_init(&sb);
	assert_null(sb.data);
	strbuf_clear(&sb);
	strbuf_add_text(&sb, "");
	assert_string_equal(sb.data, "");
	strbuf_add_text(&sb, "ab");
	strbuf_add(&sb, "cdef", 2);
	strbuf_add_format(&sb, "%d-%s", 7, "x");
	assert_string_equal(sb.data, "abcd7-x");
	assert_int_equal(sb.length, 7);
	strbuf_clear(&sb);
	assert_string_equal(sb.data, "");
	for (int i = 0; i < 10000; i++)
		strbuf_add_format(&sb, "%d,", i % 10);
	assert_int_equal(sb.length, 20000);
	assert_int_equal(strlen(sb.data), 20000);
	strbuf_release(&sb);
	assert_null(sb.data);
}

static void
test_foreign_text_is_harmless(void **state)
{
	static const struct {
		const char *text, *shown;
	} cases[] = {
		{ "", "" },
		{ "plain \\ text", "plain \\ text" },
		{ "a\nb\tc\x1b[31m\x7f", "a\\x0ab\\x09c\\x1b[31m\\x7f" },
		{ "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
		  "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80" },
		{ "\xc2\x9b" "31m", "\\xc2\\x9b31m" },       /* CSI as a C1 control */
		{ "\x9b", "\\x9b" },
		{ "\xc0\x8a", "\\xc0\\x8a" },                /* overlong newline */
		{ "\xe0\x80\x8a", "\\xe0\\x80\\x8a" },
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },       /* surrogate */
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" }, /* above U+10FFFF */
		{ "\xe2\x82", "\\xe2\\x82" },                /* cut off at the end */
		{ "\xf0\x9f\x98", "\\xf0\\x9f\\x98" },
		{ "\xc3", "\\xc3" },
		{ "\xc2\xa0", "\xc2\xa0" },                  /* the first behind C1 */
		{ "a\xe2\x80\xae" "b", "a\\u202eb" },     /* it runs backwards from here */
		{ "\xe2\x80\xaa\xe2\x81\xa6\xe2\x81\xa9", "\\u202a\\u2066\\u2069" },
		{ "\xd8\x9c\xe2\x80\x8f", "\\u061c\\u200f" },
		{ "a\xe2\x80\x8b\xe2\x80\x8d\xef\xbb\xbf", "a\\u200b\\u200d\\ufeff" },
		{ "\xc2\xad\xcd\x8f\xe3\x85\xa4", "\\u00ad\\u034f\\u3164" },
		{ "\xf3\xa0\x81\x81", "\\U000e0041" },       /* a tag: an A that does not show */
		{ "\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029" },
		{ "\xd7\xa9\xd7\x9c", "\xd7\xa9\xd7\x9c" },  /* letters that run that way */
		{ "e\xcc\x81\xe2\x9d\xa4\xef\xb8\x8f",
		  "e\xcc\x81\xe2\x9d\xa4\xef\xb8\x8f" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct strbuf sb;

		strbuf_init(&sb);
		strbuf_add_escaped(&sb, cases[i].text);
		assert_string_equal(sb.data, cases[i].shown);
		strbuf_release(&sb);
	}
}

/* For programs only what is no line of UTF-8 is replaced. */
static void
test_one_line(void **state)
{
	struct strbuf sb;

	(void)state;
	strbuf_init(&sb);
	strbuf_add_one_line(&sb, "a\xe2\x80\xae\xe2\x80\x8b\n\xe2\x80\xa8\x1b\xc2\x85\xff;");
	assert_string_equal(sb.data,
			    "a\xe2\x80\xae\xe2\x80\x8b\\x0a\\u2028\\x1b\\xc2\\x85\\xff;");
	strbuf_release(&sb);
}

/* Lines for terminals, too: the characters that change the direction of the text are escaped
 * (Bidi_Control of PropList.txt), and of the other invisible ones only those that end lines. */
static void
test_ordered_line(void **state)
{
	static const uint32_t directions[] = { 0x061c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c,
					       0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069 };
	char text[5] = "", shown[16];
	size_t found = 0;

	(void)state;
	for (uint32_t c = 0xa0; c < 0xe0100; c = c == 0x2fff ? 0xe0000 : c + 1) {
		struct strbuf sb = STRBUF_INIT;
		const bool ends_line = c == 0x2028 || c == 0x2029;

		text[utf8_encode(c, text)] = '\0';
		snprintf(shown, sizeof(shown), "\\u%04x", (unsigned)c);
		strbuf_add_ordered_line(&sb, text);
		if (found < ARRAY_SIZE(directions) && c == directions[found]) {
			assert_string_equal(sb.data, shown);
			found++;
		} else {
			assert_string_equal(sb.data, ends_line ? shown : text);
		}
		strbuf_release(&sb);
	}
	assert_int_equal(found, ARRAY_SIZE(directions));
}

/* Paths and names reach the log from everywhere. */
static void
test_log_is_harmless(void **state)
{
	char *said = NULL;
	size_t size = 0;
	struct log log = { .level = LOG_NORMAL, .stream = open_memstream(&said, &size) };

	(void)state;
	log_say(&log, LOG_NORMAL, "%s names nothing", "lib\x1b[2J\xe2\x80\xae\nwallsample: so");
	fclose(log.stream);
	assert_string_equal(said,
			    "wallsample: lib\\x1b[2J\\u202e\\x0awallsample: so names nothing\n");
	free(said);
}

static void
test_file_read_text(void **state)
{
	char name[] = "/tmp/wallsample-test-XXXXXX", block[10000], *text;
	int fd = mkstemp(name);
	size_t length = 0;

	(void)state;
	assert_true(fd >= 0);
	memset(block, 'x', sizeof(block));
	assert_int_equal(write(fd, block, sizeof(block)), sizeof(block));
	close(fd);

	text = file_read_text(AT_FDCWD, name, 1 << 20, &length);
	assert_non_null(text);
	assert_int_equal(length, sizeof(block));
	assert_int_equal(strlen(text), sizeof(block));
	free(text);

	text = file_read_text(AT_FDCWD, name, 5, &length);
	assert_string_equal(text, "xxxxx");
	assert_int_equal(length, 5);
	free(text);

	text = file_read_text(AT_FDCWD, "/dev/null", 5, &length);
	assert_string_equal(text, "");
	free(text);
	assert_int_equal(unlink(name), 0);
	assert_null(file_read_text(AT_FDCWD, name, 5, &length));
	assert_int_equal(errno, ENOENT);
	assert_null(file_read_text(AT_FDCWD, "/proc", 5, &length));
	assert_int_equal(errno, EISDIR);
}

static void
test_file_read_at(void **state)
{
	char name[] = "/tmp/wallsample-test-XXXXXX", to[8] = "-------";
	int fd = mkstemp(name);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "0123456789", 10), 10);
	assert_int_equal(file_read_at(fd, 2, to, 4), 4);
	assert_string_equal(to, "2345---");
	/* Across the end, behind it, and where no file can be. */
	assert_int_equal(file_read_at(fd, 7, to, 7), 3);
	assert_string_equal(to, "7895---");
	assert_int_equal(file_read_at(fd, 10, to, 4), 0);
	assert_int_equal(file_read_at(fd, UINT64_MAX, to, 4), 0);
	assert_int_equal(file_read_at(fd, 0, to, 0), 0);
	close(fd);
	assert_int_equal(file_read_at(-1, 0, to, 4), 0);
	assert_string_equal(to, "7895---");
	assert_int_equal(unlink(name), 0);
}

static void
check_named(const char *path, int error)
{
	const int named = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int fd;

	if (named < 0) { /* not mounted here */
		print_message("%s: %s\n", path, strerror(errno));
		return;
	}
	fd = file_open_named(named);
	if (error == 0)
		assert_int_not_equal(fd, -1);
	else
		assert_int_equal(fd, -1);
	if (error != 0)
		assert_int_equal(errno, error);
	else
		close(fd);
	/* What it was made from was closed. */
	assert_int_equal(fcntl(named, F_GETFD), -1);
}

/* What a target may have named: only data is read, and no attribute of the kernel's. */
static void
test_file_open_named(void **state)
{
	char folder[] = "/tmp/wallsample-named-XXXXXX", path[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	check_named("/proc/self/exe", ELOOP);
	check_named(folder, EINVAL);
	check_named("/dev/null", EINVAL);
	check_named("/proc/self/stat", EINVAL);
	check_named("/proc/cpuinfo", EINVAL);
	check_named("/sys/kernel/notes", EINVAL);
	check_named("/sys/kernel/mm/transparent_hugepage/enabled", EINVAL);
	check_named("/sys/devices/system/cpu/online", EINVAL);
	check_named("/sys/fs/cgroup/cgroup.procs", EINVAL);
	snprintf(path, sizeof(path), "%s/file", folder);
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	check_named(path, 0);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	check_named(path, EINVAL);
	unlink(path);
	rmdir(folder);
	errno = ENOENT;
	assert_int_equal(file_open_named(-1), -1);
	assert_int_equal(errno, ENOENT);
}

static void
test_error_text_may_use_itself(void **state)
{
	struct error err = { 0 };
	char long_text[2000];

	(void)state;
	assert_int_equal(error_set(&err, ERROR_SYSTEM, "no %s", "room"), -ERROR_SYSTEM);
	assert_int_equal(error_set(&err, ERROR_OUTPUT, "x: %s", err.text), -ERROR_OUTPUT);
	assert_string_equal(err.text, "x: no room");
	assert_int_equal(err.kind, ERROR_OUTPUT);
	assert_int_equal(error_set(NULL, ERROR_USAGE, "x"), -ERROR_USAGE);
	memset(long_text, 'y', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	error_set(&err, ERROR_SYSTEM, "%s", long_text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_int_equal(error_exit_status(ERROR_NONE), 0);
	assert_int_equal(error_exit_status(ERROR_USAGE), 64);
	assert_int_equal(error_exit_status(ERROR_YAMA), 3);
	assert_int_equal(error_exit_status(ERROR_NO_PROCESS), 2);
}

static void
test_log_levels(void **state)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	struct log log = { .level = LOG_NORMAL, .stream = stream };

	(void)state;
	log_say(NULL, LOG_NORMAL, "nobody");
	log_say(&(struct log){ .level = LOG_DEBUG }, LOG_NORMAL, "nowhere");
	log_say(&log, LOG_VERBOSE, "hidden");
	log_say(&log, LOG_NORMAL, "said %d", 1);
	fclose(stream);
	assert_string_equal(text, "wallsample: said 1\n");
	free(text);
}

/* The first numbers for a seed never change: recorded runs can be repeated. */
static void
test_rng_is_repeatable(void **state)
{
	struct rng a, b, c;
	bool differs = false;

	(void)state;
	rng_seed(&a, 1);
	rng_seed(&b, 1);
	rng_seed(&c, 0);
	for (int i = 0; i < 100; i++) {
		uint64_t x = rng_next(&a);

		assert_true(x == rng_next(&b));
		differs |= x != rng_next(&c);
	}
	assert_true(differs);
	/* the authors' generator, started from the state 1, 2, 3, 4 */
	a = (struct rng){ { 1, 2, 3, 4 } };
	assert_int_equal(rng_next(&a), 11520);
	assert_int_equal(rng_next(&a), 0);
	assert_int_equal(rng_next(&a), 1509978240);
	assert_int_equal(rng_next(&a), UINT64_C(1215971899390074240));
}

/*
 * Means of N draws lie within five standard errors; the seed is fixed, so this
 * cannot fail by chance.
 */
static void
test_rng_distributions(void **state)
{
	enum { N = 200000 };
	double uniform = 0, exponential = 0, geometric = 0, p = 1.0 / 8;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 42);
	for (int i = 0; i < N; i++) {
		double u = rng_uniform(&rng), e = rng_exponential(&rng, 10);
		uint32_t g = rng_geometric(&rng, p);

		assert_true(u > 0 && u <= 1);
		assert_true(e >= 0 && isfinite(e));
		assert_true(g >= 1);
		uniform += u;
		exponential += e;
		geometric += g;
	}
	assert_true(fabs(uniform / N - 0.5) < 5 * sqrt(1.0 / 12 / N));
	assert_true(fabs(exponential / N - 10) < 5 * 10 / sqrt(N));
	assert_true(fabs(geometric / N - 1 / p) < 5 * sqrt((1 - p) / (p * p) / N));
	assert_int_equal(rng_geometric(&rng, 1), 1);
	assert_int_equal(rng_geometric(&rng, 0), UINT32_MAX);
	assert_true(rng_geometric(&rng, 1e-300) == UINT32_MAX);
}

/* The time for which the work has no CPU does not count: the clock says that it took an hour. */
static void
test_cpu_budget(void **state)
{
	const uint64_t hour = 3600 * NS_PER_SEC;
	struct cpu_budget budget = { 0 };
	uint64_t until;

	(void)state;
	assert_true(cpu_budget_begin(&budget, hour));
	cpu_budget_end(&budget);
	assert_true(cpu_budget_begin(&budget, hour * 2));
	until = clock_own_cpu_ns() + 20 * NS_PER_MS;
	while (clock_own_cpu_ns() < until)
		;
	cpu_budget_end(&budget);
	assert_false(cpu_budget_begin(&budget, hour * 2));
	assert_false(cpu_budget_begin(&budget, hour * 2 + NS_PER_SEC / 2));
	assert_true(cpu_budget_begin(&budget, hour * 2 + 3600 * NS_PER_SEC));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grow_at_least_doubles),
		cmocka_unit_test(test_copies_of_text),
		cmocka_unit_test(test_clocks_move_on),
		cmocka_unit_test(test_cpu_budget),
		cmocka_unit_test(test_parse_u64),
		cmocka_unit_test(test_parse_i64),
		cmocka_unit_test(test_parse_whole),
		cmocka_unit_test(test_parse_duration),
		cmocka_unit_test(test_parse_size),
		cmocka_unit_test(test_parse_double),
		cmocka_unit_test(test_strbuf),
		cmocka_unit_test(test_foreign_text_is_harmless),
		cmocka_unit_test(test_one_line),
		cmocka_unit_test(test_ordered_line),
		cmocka_unit_test(test_log_is_harmless),
		cmocka_unit_test(test_file_read_text),
		cmocka_unit_test(test_file_read_at),
		cmocka_unit_test(test_file_open_named),
		cmocka_unit_test(test_error_text_may_use_itself),
		cmocka_unit_test(test_log_levels),
		cmocka_unit_test(test_rng_is_repeatable),
		cmocka_unit_test(test_rng_distributions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
