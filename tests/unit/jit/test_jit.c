/* SPDX-License-Identifier: MIT */
/* test_jit.c - perf maps: whole, damaged, hostile and large; and which name an epoch has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../scene/jit_scene.h"
#include "jit/jit_source_internal.h"

#define DAY (24 * 60 * 60)

static void
test_nothing(void **state)
{
	struct scene *scene = *state;

	tick(scene);
	jit_refresh(scene->jit);
	assert_string_equal(name_of(scene, 0x1000), "-");
	assert_int_equal(jit_epoch(scene->jit), 0);
	assert_int_equal(jit_count(scene->jit), 0);
	assert_int_equal(lines_said(scene), 0);
}

static void
test_lines(void **state)
{
	struct scene *scene = *state;

	append(scene, "1000 10 first\n0x2000 0x20 JS:*f /a b.js:1:2 \r\n"
		      "\n3000\t8\ttabs\n4000 0 empty\n");
	tick(scene);
	assert_string_equal(name_of(scene, 0xfff), "-");
	assert_string_equal(name_of(scene, 0x1000), "first");
	assert_string_equal(name_of(scene, 0x100f), "first");
	assert_string_equal(name_of(scene, 0x1010), "-");
	assert_string_equal(name_of(scene, 0x201f), "JS:*f /a b.js:1:2");
	assert_string_equal(name_of(scene, 0x3001), "tabs");
	assert_string_equal(name_of(scene, 0x4000), "-");
	assert_int_equal(jit_count(scene->jit), 3);
	jit_refresh(scene->jit);
	assert_int_equal(lines_said(scene), 0);
}

/* Bytes come as they come; a line counts once its end is there. */
static void
test_partial_line(void **state)
{
	static const char text[] = "1000 10 first\n2000 10 second\n";
	struct scene *scene = *state;

	for (size_t i = 0; i < strlen(text); i++) {
		write_file(scene->map_path, "a", text + i, 1);
		/* Files that are open are looked at more often. */
		scene->now_ns += 20 * NS_PER_MS + (i == 0 ? NS_PER_SEC : 0);
		jit_tick(scene->jit, scene->now_ns, false);
		assert_string_equal(name_of(scene, 0x1000), i >= 13 ? "first" : "-");
	}
	assert_string_equal(name_of(scene, 0x2000), "second");
	append(scene, "3000 10 thi");
	jit_refresh(scene->jit);
	assert_string_equal(name_of(scene, 0x3000), "-");
	append(scene, "rd\n");
	jit_refresh(scene->jit);
	assert_string_equal(name_of(scene, 0x3000), "third");
	assert_int_equal(jit_epoch(scene->jit), 0);
	assert_int_equal(lines_said(scene), 0);
}

/* A search is put off while stops are outstanding, but not for ever. */
static void
test_put_off(void **state)
{
	struct scene *scene = *state;

	for (int i = 0; i < 20; i++)
		tick(scene);
	/* Now a search is due 1.28 s after the last one: 10 ms, doubled seven times. */
	scene->now_ns += NS_PER_SEC;
	tick(scene);
	append(scene, "1000 10 first\n");
	scene->now_ns += 1290 * NS_PER_MS;
	jit_tick(scene->jit, scene->now_ns, true);
	assert_string_equal(name_of(scene, 0x1000), "-");
	scene->now_ns += 100 * NS_PER_MS;
	jit_tick(scene->jit, scene->now_ns, true);
	assert_string_equal(name_of(scene, 0x1000), "first");
}

static void
test_garbage(void **state)
{
	static const char zeros[] = "5000 1\0000 zero\n";
	static const char *const bad[] = {
		"garbage\n", "1000\n", "1000 10\n", "1000 10 \n", "-5 10 minus\n",
		"1000  -1 minus\n", "xyz 10 hex\n", "0x 10 hex\n", "1000 0x name\n",
		"11112222333344445 10 overflow\n", "1000 11112222333344445 overflow\n",
		"ffffffffffffff00 101 wraps\n", "1000 7fffffffffffffff huge\n",
		"1000 100000001 huge\n", "1000x 10 name\n", "\x1b[31m\xff\xfe\n",
	};
	struct scene *scene = *state;
	char words[64], *line = malloc(100001);

	append(scene, "1000 10 before\n");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		append(scene, bad[i]);
	write_file(scene->map_path, "a", zeros, sizeof(zeros) - 1);
	memset(line, 'a', 100000);
	line[100000] = '\n';
	write_file(scene->map_path, "a", line, 100001);
	append(scene, "2000 10 after\n");
	tick(scene);
	assert_int_equal(lines_said(scene), 0);
	jit_refresh(scene->jit);
	jit_refresh(scene->jit);
	assert_string_equal(name_of(scene, 0x1000), "before");
	assert_string_equal(name_of(scene, 0x2000), "after");
	assert_int_equal(jit_count(scene->jit), 2);
	snprintf(words, sizeof(words), "%zu of %zu lines", ARRAY_SIZE(bad) + 2,
		 ARRAY_SIZE(bad) + 4);
	assert_int_equal(times_said(scene, words), 1);
	assert_int_equal(lines_said(scene), 1);
	free(line);
}

/* Within one read the last wins, and nobody has seen what it replaced. */
static void
test_overlap(void **state)
{
	struct scene *scene = *state;

	append(scene, "1000 100 whole\n1040 10 middle\n10f0 20 end\nff0 20 begin\n");
	tick(scene);
	assert_string_equal(name_of(scene, 0x100f), "begin");
	assert_string_equal(name_of(scene, 0x1010), "whole");
	assert_string_equal(name_of(scene, 0x1040), "middle");
	assert_string_equal(name_of(scene, 0x104f), "middle");
	assert_string_equal(name_of(scene, 0x1050), "whole");
	assert_string_equal(name_of(scene, 0x10f0), "end");
	assert_string_equal(name_of(scene, 0x110f), "end");
	assert_int_equal(jit_epoch(scene->jit), 0);
}

static void
test_epochs(void **state)
{
	struct scene *scene = *state;

	append(scene, "1000 100 one\n9000 10 other\n");
	tick(scene);
	append(scene, "2000 100 elsewhere\n1000 100 one\n");
	tick(scene);
	/* The same again is nothing new. */
	assert_int_equal(jit_epoch(scene->jit), 0);
	assert_int_equal(jit_count(scene->jit), 3);
	append(scene, "1080 100 two\n");
	tick(scene);
	assert_int_equal(jit_epoch(scene->jit), 1);
	append(scene, "1000 40 three\n2000 40 four\n");
	tick(scene);
	assert_int_equal(jit_epoch(scene->jit), 2);
	assert_string_equal(name_in(scene, 0x1090, 0), "one");
	assert_string_equal(name_in(scene, 0x1090, 1), "two");
	assert_string_equal(name_in(scene, 0x1090, 2), "two");
	assert_string_equal(name_in(scene, 0x1000, 0), "one");
	assert_string_equal(name_in(scene, 0x1000, 1), "one");
	assert_string_equal(name_in(scene, 0x1000, 2), "three");
	assert_string_equal(name_in(scene, 0x2000, 1), "elsewhere");
	assert_string_equal(name_in(scene, 0x2000, 2), "four");
	/* Nothing was there then that is known: the compiler wrote late. */
	assert_string_equal(name_in(scene, 0x1140, 0), "two");
	assert_int_equal(jit_epoch_at(scene->jit, 0x1090), 1);
	assert_int_equal(jit_epoch_at(scene->jit, 0x9000), 0);
	assert_int_equal(jit_epoch_at(scene->jit, 0x5000), 0);
	/* One takes its old place again. */
	append(scene, "1000 100 one\n");
	tick(scene);
	assert_int_equal(jit_epoch(scene->jit), 3);
	assert_string_equal(name_of(scene, 0x1000), "one");
	assert_string_equal(name_in(scene, 0x1000, 2), "three");
}

/* Written anew, shorter or longer, or another file under the name: all of it counts. */
static void
test_written_anew(void **state)
{
	struct scene *scene = *state;
	static const char *const texts[] = {
		"1000 10 a\n2000 10 b\n", "3000 10 c\n", "4000 10 d\n5000 10 e\n6000 10 f\n",
	};
	const char *other = "7000 10 g\n8000 10 h\n9000 10 i\na000 10 j\n";

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		write_file(scene->map_path, "w", texts[i], strlen(texts[i]));
		tick(scene);
	}
	assert_string_equal(name_of(scene, 0x2000), "b");
	assert_string_equal(name_of(scene, 0x3000), "c");
	assert_string_equal(name_of(scene, 0x4000), "d");
	assert_string_equal(name_of(scene, 0x6000), "f");
	unlink(scene->map_path);
	tick(scene);
	append(scene, other);
	tick(scene);
	assert_string_equal(name_of(scene, 0x7000), "g");
	assert_string_equal(name_of(scene, 0xa000), "j");
	assert_int_equal(jit_count(scene->jit), 10);
	assert_int_equal(jit_epoch(scene->jit), 0);
}

/* What was opened can be read to its end after it has been removed. */
static void
test_removed(void **state)
{
	struct scene *scene = *state;
	FILE *file = fopen(scene->map_path, "w");

	fprintf(file, "1000 10 a\n");
	fflush(file);
	tick(scene);
	fprintf(file, "2000 10 b\n");
	fclose(file);
	unlink(scene->map_path);
	jit_refresh(scene->jit);
	assert_string_equal(name_of(scene, 0x1000), "a");
	assert_string_equal(name_of(scene, 0x2000), "b");
}

static void
test_refused(void **state)
{
	struct scene *scene = *state;
	char real[80];

	/* A link to a good file. */
	snprintf(real, sizeof(real), "%s.real", scene->map_path);
	write_file(real, "w", "1000 10 linked\n", 15);
	assert_int_equal(symlink(real, scene->map_path), 0);
	tick(scene);
	tick(scene);
	unlink(real);
	assert_int_equal(times_said(scene, "symbolic link"), 1);
	assert_int_equal(jit_count(scene->jit), 0);
	/* A pipe that nobody writes to: it must not be waited for. */
	unlink(scene->map_path);
	assert_int_equal(mkfifo(scene->map_path, 0600), 0);
	tick(scene);
	assert_int_equal(jit_count(scene->jit), 0);
	unlink(scene->map_path);
	assert_int_equal(mkdir(scene->map_path, 0700), 0);
	tick(scene);
	rmdir(scene->map_path);
	/* Another user's. */
	append(scene, "1000 10 foreign\n");
	if (chown(scene->map_path, 12345, 12345) == 0) {
		tick(scene);
		assert_int_equal(jit_count(scene->jit), 0);
	}
	unlink(scene->map_path);
	append(scene, "1000 10 mine\n");
	tick(scene);
	assert_string_equal(name_of(scene, 0x1000), "mine");
	assert_int_equal(lines_said(scene), 1);
}

/* When the file was last written to, in seconds before now. */
static void
make_old(const struct scene *scene, time_t seconds)
{
	struct timespec times[2];

	assert_int_equal(clock_gettime(CLOCK_REALTIME, &times[0]), 0);
	times[0].tv_sec -= seconds;
	times[1] = times[0];
	assert_int_equal(utimensat(AT_FDCWD, scene->map_path, times, 0), 0);
}

/* That of an earlier process with the same number, until it is written to. */
static void
test_stale(void **state)
{
	struct scene *scene = *state;

	append(scene, "1000 10 stale\n");
	/* The test itself is the process, and not a day old. */
	make_old(scene, DAY);
	tick(scene);
	tick(scene);
	assert_int_equal(jit_count(scene->jit), 0);
	assert_int_equal(times_said(scene, "it is older than the process"), 1);
	unlink(scene->map_path);
	append(scene, "2000 10 fresh\n");
	tick(scene);
	assert_string_equal(name_of(scene, 0x1000), "-");
	assert_string_equal(name_of(scene, 0x2000), "fresh");
	assert_int_equal(lines_said(scene), 1);
}

/* The same file becomes newer. */
static void
test_stale_grows(void **state)
{
	struct scene *scene = *state;

	append(scene, "1000 10 old\n");
	make_old(scene, DAY);
	tick(scene);
	assert_int_equal(jit_count(scene->jit), 0);
	append(scene, "2000 10 new\n");
	tick(scene);
	assert_string_equal(name_of(scene, 0x2000), "new");
}

/* Clocks differ by some seconds. */
static void
test_hardly_older(void **state)
{
	struct scene *scene = *state;

	append(scene, "1000 10 mine\n");
	make_old(scene, 20);
	tick(scene);
	assert_string_equal(name_of(scene, 0x1000), "mine");
	assert_int_equal(lines_said(scene), 0);
}

/* Many lines, in ticks of bounded cost, in an order that a plain tree would not bear. */
static void
test_many(void **state)
{
	enum { LINES = 1000000 };
	struct scene *scene = *state;
	FILE *file = fopen(scene->map_path, "w");
	uint64_t began = clock_own_cpu_ns(), longest = 0;
	size_t ticks = 0;
	char name[32];

	for (unsigned i = 0; i < LINES; i++)
		fprintf(file, "%x 10 function%u\n", 0x100000 + i * 16, i % 5000);
	fclose(file);
	scene->now_ns += NS_PER_SEC;
	while (jit_count(scene->jit) < LINES) {
		uint64_t from = clock_own_cpu_ns(), took;

		assert_true(++ticks < 1000);
		scene->now_ns += 10 * NS_PER_MS;
		jit_tick(scene->jit, scene->now_ns, false);
		took = clock_own_cpu_ns() - from;
		longest = took > longest ? took : longest;
	}
	print_message("%u lines: %.2f s in %zu ticks, the longest %.1f ms\n", LINES,
		      (double)(clock_own_cpu_ns() - began) / 1e9, ticks, (double)longest / 1e6);
	for (unsigned i = 0; i < LINES; i += 997) {
		snprintf(name, sizeof(name), "function%u", i % 5000);
		assert_string_equal(name_of(scene, 0x100000 + i * 16 + 15), name);
	}
	assert_int_equal(jit_epoch(scene->jit), 0);
	assert_true(clock_own_cpu_ns() - began < 60 * NS_PER_SEC);
}

/* Entries that lie in each other like onions cost no more. */
static void
test_nested(void **state)
{
	enum { LINES = 100000 };
	struct scene *scene = *state;
	FILE *file = fopen(scene->map_path, "w");
	uint64_t began = clock_own_cpu_ns(), longest = 0;

	for (unsigned i = 0; i < LINES; i++)
		fprintf(file, "%x %x f%u\n", 0x1000000 - i, 2 * i + 1, i);
	fclose(file);
	while (jit_count(scene->jit) < LINES) {
		uint64_t from = clock_own_cpu_ns(), took;

		tick(scene);
		took = clock_own_cpu_ns() - from;
		longest = took > longest ? took : longest;
	}
	print_message("%u nested: %.2f s, the longest tick %.1f ms\n", LINES,
		      (double)(clock_own_cpu_ns() - began) / 1e9, (double)longest / 1e6);
	for (unsigned i = 0; i < 1000; i++)
		assert_string_not_equal(name_of(scene, 0x1000000), "-");
	assert_string_equal(name_of(scene, 0x1000000 - LINES + 1), "f99999");
	assert_true(clock_own_cpu_ns() - began < 60 * NS_PER_SEC);
}

/* The entry that came last is found, however many lie below it, and they cost no more. */
static void
test_layers(void **state)
{
	enum { LINES = 200000 };
	struct scene *scene = *state;
	FILE *file = fopen(scene->map_path, "w");
	uint64_t began = clock_own_cpu_ns();

	for (unsigned i = 0; i < LINES; i++)
		fprintf(file, "%x %x f%u\n", 0x1000 + i % 5 * 16, 0x100 + i % 3 * 16, i);
	fclose(file);
	jit_refresh(scene->jit);
	for (unsigned i = 0; i < 1000; i++)
		assert_string_equal(name_of(scene, 0x1050), "f199999");
	assert_string_equal(name_of(scene, 0x1000), "f199995");
	assert_int_equal(jit_count(scene->jit), LINES);
	assert_int_equal(lines_said(scene), 0);
	assert_true(clock_own_cpu_ns() - began < 20 * NS_PER_SEC);
}

/* 64 MiB of lines that overlap: no more is taken in than there is room and time for. */
static void
test_large(void **state)
{
	struct scene *scene = *state;
	FILE *file = fopen(scene->map_path, "w");
	uint64_t began = clock_own_cpu_ns();

	fprintf(file, "1000 10 first\n");
	for (unsigned i = 0; i < 4000000; i++)
		fprintf(file, "%x 1000 f%u\n", 0x100000 + i * 7919 % 65536, i % 5000);
	fclose(file);
	jit_refresh(scene->jit);
	assert_string_equal(name_of(scene, 0x1000), "first");
	assert_int_equal(name_of(scene, 0x104000)[0], 'f');
	assert_int_equal(lines_said(scene), 1);
	assert_int_equal(times_said(scene, "lines are used, the rest is not"), 1);
	assert_true(jit_count(scene->jit) <= 2 << 20);
	print_message("%zu of 4,000,001 lines: %.2f s\n", jit_count(scene->jit),
		      (double)(clock_own_cpu_ns() - began) / 1e9);
	assert_true(clock_own_cpu_ns() - began < 60 * NS_PER_SEC);
}

/* A hole of a terabyte, as a billion lines would be: it ends, and what was before it counts. */
static void
test_sparse(void **state)
{
	struct scene *scene = *state;
	uint64_t began = clock_own_cpu_ns();

	append(scene, "1000 10 before\n");
	if (truncate(scene->map_path, (off_t)1 << 40) != 0)
		skip(); /* some file systems have no such files */
	jit_refresh(scene->jit);
	jit_refresh(scene->jit);
	assert_string_equal(name_of(scene, 0x1000), "before");
	assert_int_equal(lines_said(scene), 1);
	assert_int_equal(times_said(scene, "it is too large"), 1);
	assert_true(clock_own_cpu_ns() - began < 60 * NS_PER_SEC);
}

/* Written anew for ever, with names that are always others: there is an end to what is kept. */
static void
test_endless_names(void **state)
{
	enum { NAME = 60000, LINES = 100, TURNS = 40 };
	struct scene *scene = *state;
	char *name = malloc(NAME + 1);

	memset(name, 'n', NAME);
	name[NAME] = '\0';
	for (unsigned turn = 0; turn < TURNS; turn++) {
		FILE *file = fopen(scene->map_path, "w");

		for (unsigned i = 0; i < LINES; i++)
			fprintf(file, "%x 10 %s,%u,%u\n", 0x1000 + i * 16, name, turn, i);
		fclose(file);
		jit_refresh(scene->jit);
	}
	/* 96 MiB of them. */
	assert_in_range(jit_count(scene->jit), 1600, 1700);
	assert_int_equal(lines_said(scene), 1);
	assert_int_equal(times_said(scene, "too large"), 1);
	free(name);
}

/* A file is read if it belongs to the target's user, or if it belongs to root or wallsample's user
 * and everyone may read it. */
static void
test_owners(void **state)
{
	enum { ROOT, TARGET = 1000, OWN = 500, OTHER = 1001 };
	static const struct {
		uid_t owner, target, own;
		mode_t mode;
		bool accepted;
	} rows[] = {
		{ TARGET, TARGET, ROOT, 0600, true },  { ROOT, ROOT, ROOT, 0600, true },
		{ ROOT, TARGET, ROOT, 0644, true },    { ROOT, TARGET, ROOT, 0640, false },
		{ ROOT, TARGET, OWN, 0604, true },     { ROOT, TARGET, OWN, 0600, false },
		{ OWN, TARGET, OWN, 0644, true },      { OWN, TARGET, OWN, 0600, false },
		{ OWN, OWN, OWN, 0600, true },         { OTHER, TARGET, ROOT, 0666, false },
		{ OTHER, ROOT, ROOT, 0666, false },    { ROOT, (uid_t)-1, ROOT, 0600, false },
		{ OTHER, (uid_t)-1, ROOT, 0666, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct stat st = { .st_uid = rows[i].owner,
					 .st_mode = S_IFREG | rows[i].mode };
		const char *why = jit_owner_refusal(&st, rows[i].target, rows[i].own);

		if ((why == NULL) != rows[i].accepted)
			fail_msg("row %zu: %s", i, why != NULL ? why : "accepted");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owners),
		JIT_ROW(test_nothing), JIT_ROW(test_lines), JIT_ROW(test_partial_line),
		JIT_ROW(test_put_off),
		JIT_ROW(test_garbage), JIT_ROW(test_overlap), JIT_ROW(test_epochs),
		JIT_ROW(test_written_anew), JIT_ROW(test_removed), JIT_ROW(test_refused),
		JIT_ROW(test_stale), JIT_ROW(test_stale_grows), JIT_ROW(test_hardly_older),
		JIT_ROW(test_many), JIT_ROW(test_nested), JIT_ROW(test_layers),
		JIT_ROW(test_large), JIT_ROW(test_sparse), JIT_ROW(test_endless_names),
	};

	alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
