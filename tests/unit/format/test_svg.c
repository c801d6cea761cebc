/* SPDX-License-Identifier: MIT */
/*
 * test_svg.c - flame graphs of hostile names, of deep stacks and of nothing.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../scene/golden.h"
#include "wallsample/base/base.h"
#include "wallsample/format/exporters.h"

#define MS ((int64_t)NS_PER_MS)

enum { MAIN, LOOP, SCRIPT, MARKUP, CONTROLS, TURNED, LONG };

static char longest[10000]; /* filled in by the test that has it */

static const struct symbol symbol[] = {
	[MAIN] = { "main", "server", .known = true },
	[LOOP] = { "loop", "server", .known = true },
	[SCRIPT] = { "<script>alert(1)</script>", "\"><script>alert(2)</script>", .known = true },
	[MARKUP] = { "]]>'&lt;\xef\xbf\xbe\xef\xbf\xbf</title><script>alert(3)</script>", "-->",
		     .known = true },
	[CONTROLS] = { "evil;\x1b[31m\nname 7\xff", "lib\x07" "bell.so", .known = true },
	[TURNED] = { "a\xe2\x80\xae" "z;\xe2\x80\xa8", "lib\xe2\x81\xa6.so", .known = true },
	[LONG] = { longest, "server", .known = true },
};

size_t
symbols_find(struct symbols *symbols, const struct symbol_place *place, struct symbol *out,
	     size_t most)
{
	(void)symbols;
	(void)most;
	*out = symbol[place->vaddr];
	return 1;
}

void
symbols_prepare(struct symbols *symbols, const struct symbol_place *place, size_t count)
{
	(void)symbols;
	(void)place;
	(void)count;
}

/* Adds wall time of a stack of functions, outermost first. */
static void
add(struct profile *profile, uint32_t thread, int64_t ms, const int *function, size_t count)
{
	struct profile_entry sample = { .thread = thread, .stack = STACK_NONE,
					.state = RUN_RUNNING, .samples = 1,
					.ns = { [WEIGHT_WALL] = ms * MS } };

	for (size_t i = 0; i < count; i++)
		sample.stack = profile_intern_stack(
			profile,
			profile_intern_frame(profile, &(struct profile_frame){
				.module = 0, .address = (uint64_t)function[i] }),
			sample.stack);
	profile_add(profile, &sample);
}

#define STACK(...) ((const int[]){ __VA_ARGS__ }), ARRAY_SIZE(((const int[]){ __VA_ARGS__ }))

/* Of a process with a hostile name, one root a thread. */
static char *
draw(const struct profile *profile, size_t *size)
{
	struct run_stats *stats = xcalloc(1, sizeof(*stats));
	struct view *view = view_create(profile, NULL, &(struct filter){ 0 }, VIEW_BY_FUNCTION);
	struct process process = { .pid = 7, .comm = "</text>&" };
	const struct export_input input = { .view = view, .process = &process, .stats = stats,
					    .by_thread = true };
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	stats->elapsed_ns = NS_PER_SEC;
	stats->rate_wanted = 100;
	export_write(exporter_by_name("svg"), &input, out);
	assert_int_equal(fclose(out), 0);
	view_free(view);
	free(stats);
	return text;
}

/* Names that would be markup stay text; tests/replay/svg.sh has a browser read the file. */
static void
test_hostile(void **state)
{
	struct profile *profile = profile_create();
	const uint32_t thread = profile_add_thread(profile, 0, 7, 1, "<&\"'>");
	size_t size = 0;
	char *text;

	(void)state;
	add(profile, thread, 3000, STACK(MAIN, SCRIPT));
	add(profile, thread, 2000, STACK(MAIN, MARKUP, TURNED));
	add(profile, thread, 1000, STACK(MAIN, CONTROLS));
	text = draw(profile, &size);
	golden_check("flame-hostile.svg", text, size);
	assert_null(strstr(text, "<script>alert"));
	assert_null(strstr(text, "</text>&"));
	for (size_t i = 0; i < size; i++)
		assert_true((unsigned char)text[i] >= 0x20 || text[i] == '\n' || text[i] == '\t');
	/* what XML does not allow, and what turns text */
	assert_null(strstr(text, "\xef\xbf\xbe"));
	assert_null(strstr(text, "\xef\xbf\xbf"));
	assert_null(strstr(text, "\xe2\x80\xae"));
	free(text);
	profile_free(profile);
}

/* What is narrow, or too far up, is left out, and that is said. */
static void
test_bounded(void **state)
{
	struct profile *profile = profile_create();
	const uint32_t thread = profile_add_thread(profile, 0, 7, 1, "deep");
	int deep[1500];
	size_t size = 0;
	char *text;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(deep); i++)
		deep[i] = i % 2 == 0 ? MAIN : LOOP;
	add(profile, thread, 100000, deep, ARRAY_SIZE(deep));
	add(profile, thread, 10, STACK(SCRIPT, MARKUP));
	text = draw(profile, &size);
	assert_non_null(strstr(text, "2 frames are left out, narrower than 0.02 % of the width; "
				     "1,002 frames are left out, above level 500"));
	assert_true(size < 100000);
	free(text);
	profile_free(profile);
}

/* A thin tower does not make a picture of which the rest is a strip far below. */
static void
test_tower(void **state)
{
	struct profile *profile = profile_create();
	const uint32_t thread = profile_add_thread(profile, 0, 7, 1, "tower");
	int deep[200];
	size_t size = 0;
	char *text;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(deep); i++)
		deep[i] = i % 2 == 0 ? MAIN : LOOP;
	add(profile, thread, 10000, deep, 100);
	add(profile, thread, 50, deep, ARRAY_SIZE(deep));
	text = draw(profile, &size);
	assert_non_null(strstr(text, ">100 frames are left out, above level 102<"));
	free(text);
	profile_free(profile);
}

/* A name of ten thousand letters is not in the file whole, once for each of its frames. */
static void
test_long_name(void **state)
{
	struct profile *profile = profile_create();
	const uint32_t thread = profile_add_thread(profile, 0, 7, 1, "long");
	int deep[400];
	size_t size = 0;
	char *text;

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(deep); i++)
		deep[i] = LONG;
	add(profile, thread, 1000, deep, ARRAY_SIZE(deep));
	text = draw(profile, &size);
	assert_non_null(strstr(text, "xxx…xxx"));
	assert_true(size < 400000);
	free(text);
	profile_free(profile);
}

/* Of very many frames the widest are drawn. */
static void
test_many(void **state)
{
	struct profile *profile = profile_create();
	const uint32_t thread = profile_add_thread(profile, 0, 7, 1, "wide");
	size_t size = 0;
	char *text;

	(void)state;
	/* 900 stacks of 40 frames that differ from the second on */
	for (int i = 0; i < 900; i++) {
		int stack[40];

		for (int bit = 0; bit < 40; bit++)
			stack[bit] = bit > 0 && bit < 11 ? i >> (bit - 1) & 1 : LOOP;
		add(profile, thread, 1000, stack, ARRAY_SIZE(stack));
	}
	text = draw(profile, &size);
	assert_non_null(strstr(text, "frames are left out: these are the widest"));
	assert_true(size < 8 << 20);
	free(text);
	profile_free(profile);
}

static void
test_nothing(void **state)
{
	struct profile *profile = profile_create();
	size_t size = 0;
	char *text = draw(profile, &size);

	(void)state;
	assert_non_null(strstr(text, "There are no samples."));
	free(text);
	profile_free(profile);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_long_name),
		cmocka_unit_test(test_tower),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
