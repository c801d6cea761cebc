/* SPDX-License-Identifier: MIT */
/*
 * test_view_names.c - one address with several names, and what frames are told apart by.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wallsample/base/base.h"
#include "wallsample/analysis/view.h"

/* --- names: module 0 has lines and inlined functions, 1 has not, 2 is made at run time --- */

enum { LINED, PLAIN, MADE };

/* An address of the second that has no name. */
#define NAMELESS 0x44

#define ASKED_MOST 16
static uint64_t asked[ASKED_MOST];
static size_t asked_count;

static struct symbol
lined(const char *function, const char *file, uint32_t line, bool inlined)
{
	return (struct symbol){ .function = function,
				.module = "prog",
				.file = file,
				.line = line,
				.known = true,
				.inlined = inlined };
}

static size_t
find_lined(uint64_t vaddr, struct symbol *out)
{
	switch (vaddr) {
	case 0x10: /* two calls deep in line 20 of outer */
	case 0x18:
		out[0] = lined("inner", "/src/a.h", vaddr == 0x10 ? 3 : 4, true);
		out[1] = lined("middle", "/src/a.h", 9, true);
		out[2] = lined("outer", "/src/a.c", 20, false);
		return 3;
	case 0x20:
		out[0] = lined("outer", "/src/a.c", 25, false);
		return 1;
	case 0x50:
		out[0] = lined("helper", "/src/a/util.c", 3, false);
		return 1;
	case 0x54:
		out[0] = lined("helper", "/src/b/util.c", 3, false);
		return 1;
	case 0x60:
		out[0] = lined("parse", "/src/parse.y", 3, false);
		return 1;
	case 0x64:
		out[0] = lined("parse", "/src/parse.c", 3, false);
		return 1;
	case 0x70:
		out[0] = lined("start", "./nptl/../csu/start.c", 3, false);
		return 1;
	case 0x74:
		out[0] = lined("start", "csu//start.c", 3, false);
		return 1;
	default:
		out[0] = lined("main", "/src/main.c", 7, false);
		return 1;
	}
}

size_t
symbols_find(struct symbols *symbols, const struct symbol_place *place, struct symbol *out,
	     size_t most)
{
	static const char *const made[] = { "first", "second" };

	(void)symbols;
	assert_true(most >= SYMBOL_CHAIN_MAX);
	assert_true(asked_count < ASKED_MOST);
	asked[asked_count++] = (uint64_t)place->module << 32 | place->vaddr;
	switch (place->module) {
	case LINED:
		return find_lined(place->vaddr, out);
	case PLAIN:
		if (place->vaddr == NAMELESS) {
			*out = (struct symbol){ .function = "lib.so+0x44", .module = "lib.so" };
			return 1;
		}
		*out = (struct symbol){ .function = "plain", .module = "lib.so", .known = true };
		return 1;
	default:
		*out = (struct symbol){ .function = made[place->epoch],
					.module = "[anon]",
					.known = true };
		return 1;
	}
}

void
symbols_prepare(struct symbols *symbols, const struct symbol_place *place, size_t count)
{
	(void)symbols;
	(void)place;
	(void)count;
}

/* --- a profile ------------------------------------------------------------------------ */

struct at {
	uint32_t module, epoch;
	uint64_t address;
};

static void
add(struct profile *profile, int64_t ms, const struct at *at, size_t count)
{
	struct profile_entry sample = {
		.thread = profile_add_thread(profile, 0, 1, 1, "main"),
		.stack = STACK_NONE,
		.syscall = -1,
		.samples = ms,
		.ns[WEIGHT_WALL] = ms * (int64_t)NS_PER_MS,
	};

	for (size_t i = 0; i < count; i++) {
		const struct profile_frame frame = { .module = at[i].module,
						     .epoch = at[i].epoch,
						     .address = at[i].address };

		sample.stack = profile_intern_stack(
			profile, profile_intern_frame(profile, &frame), sample.stack);
	}
	profile_add(profile, &sample);
}

#define ADD(profile, ms, ...)                                                  \
	add(profile, ms, (const struct at[]){ __VA_ARGS__ },                   \
	    sizeof((const struct at[]){ __VA_ARGS__ }) / sizeof(struct at))

/* Everything below main: 0x10 and 0x18 differ in the line of the innermost function only. */
static struct profile *
make_profile(void)
{
	struct profile *profile = profile_create();

	asked_count = 0;
	ADD(profile, 1, { LINED, 0, 0 }, { LINED, 0, 0x18 });
	ADD(profile, 2, { LINED, 0, 0 }, { LINED, 0, 0x10 });
	ADD(profile, 4, { LINED, 0, 0 }, { LINED, 0, 0x20 }, { PLAIN, 0, 0x10 }, { PLAIN, 0, 0 });
	ADD(profile, 8, { LINED, 0, 0 }, { MADE, 0, 0x30 });
	ADD(profile, 16, { LINED, 0, 0 }, { MADE, 1, 0x30 });
	return profile;
}

/* The rows as folded stacks in order, "main;outer 3\n". */
static void
check(enum view_key key, const struct filter *filter, const char *expected)
{
	struct profile *profile = make_profile();
	struct view *view = view_create(profile, NULL, filter, key);
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_text(&sb, "");
	for (size_t r = 0; r < view_row_count(view); r++) {
		const struct view_row *row = view_row(view, r);

		for (size_t i = row->depth; i-- > 0;) {
			const struct view_function *f = view_function(view, row->function[i]);

			strbuf_add_format(&sb, "%s%s%s", f->name, f->needs_module ? "!" : "",
					  i > 0 ? ";" : "");
		}
		strbuf_add_format(&sb, " %d\n", (int)(row->ns[WEIGHT_WALL] / (int64_t)NS_PER_MS));
	}
	assert_string_equal(sb.data, expected);
	assert_int_equal(view_key(view), key);
	strbuf_release(&sb);
	view_free(view);
	profile_free(profile);
}

static const struct filter all = { 0 };

static void
test_functions(void **state)
{
	(void)state;
	check(VIEW_BY_FUNCTION, &all,
	      "main!;outer!;middle!;inner! 3\n"
	      "main!;outer!;plain!;plain! 4\n"
	      "main!;first! 8\n"
	      "main!;second! 16\n");
}

static void
test_lines(void **state)
{
	(void)state;
	check(VIEW_BY_LINE, &all,
	      "main (main.c:7);outer (a.c:20);middle (a.h:9);inner (a.h:4) 1\n"
	      "main (main.c:7);outer (a.c:20);middle (a.h:9);inner (a.h:3) 2\n"
	      "main (main.c:7);outer (a.c:25);plain!;plain! 4\n"
	      "main (main.c:7);first! 8\n"
	      "main (main.c:7);second! 16\n");
}

/* Frames that call others of the same module or file are one with them. */
static void
test_modules_and_sources(void **state)
{
	(void)state;
	check(VIEW_BY_MODULE, &all, "prog 3\nprog;lib.so 4\nprog;[anon] 24\n");
	check(VIEW_BY_SOURCE, &all,
	      "/src/main.c;/src/a.c;/src/a.h 3\n"
	      "/src/main.c;/src/a.c;[no source]! 4\n"
	      "/src/main.c;[no source]! 24\n");
}

/* -I and -X are for functions, inlined ones too, whatever is shown. */
static void
test_expressions(void **state)
{
	struct filter filter = { 0 };
	regex_t regex;

	(void)state;
	assert_int_equal(regcomp(&regex, "^middle$", REG_EXTENDED | REG_NOSUB), 0);
	filter.include = &regex;
	check(VIEW_BY_FUNCTION, &filter, "main!;outer!;middle!;inner! 3\n");
	check(VIEW_BY_LINE, &filter,
	      "main (main.c:7);outer (a.c:20);middle (a.h:9);inner (a.h:4) 1\n"
	      "main (main.c:7);outer (a.c:20);middle (a.h:9);inner (a.h:3) 2\n");
	check(VIEW_BY_MODULE, &filter, "prog 3\n");
	filter.include = NULL;
	filter.exclude = &regex;
	check(VIEW_BY_MODULE, &filter, "prog;lib.so 4\nprog;[anon] 24\n");
	regfree(&regex);
}

/* Every address once, and in ascending order: large files are read from front to back. */
static void
test_order(void **state)
{
	struct profile *profile = make_profile();
	struct view *view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);

	(void)state;
	assert_int_equal(asked_count, 8);
	for (size_t i = 1; i < asked_count; i++)
		assert_true(asked[i - 1] <= asked[i]);
	view_free(view);
	profile_free(profile);
}

/* A module with one nameless function, by what it is told apart. */
static void
check_nameless(enum view_key key, const char *name)
{
	struct profile *profile = profile_create();
	struct view *view;
	bool seen = false;

	asked_count = 0;
	ADD(profile, 1, { LINED, 0, 0 }, { PLAIN, 0, 0 });
	ADD(profile, 1, { LINED, 0, 0 }, { PLAIN, 0, NAMELESS });
	ADD(profile, 1, { LINED, 0, 0 }, { PLAIN, 0, 0x10 });
	view = view_create(profile, NULL, &all, key);
	for (uint32_t i = 0; i < view_function_count(view); i++) {
		const struct view_function *function = view_function(view, i);

		assert_int_equal(function->known, strcmp(function->name, name) != 0);
		seen |= !function->known;
	}
	assert_true(seen);
	view_free(view);
	profile_free(profile);
}

static void
test_nameless(void **state)
{
	(void)state;
	check_nameless(VIEW_BY_FUNCTION, "lib.so+0x44");
	check_nameless(VIEW_BY_LINE, "lib.so+0x44");
	check_nameless(VIEW_BY_MODULE, "lib.so");
	check_nameless(VIEW_BY_SOURCE, "[no source]");
}

/*
 * Two static functions of one name are two functions, in all formats. A function with code in
 * several files, and one whose file has two paths, is one.
 */
static void
test_homonyms(void **state)
{
	static const char *const expected[] = { "helper (a/util.c)", "helper (b/util.c)", "parse",
						"start" };
	struct profile *profile = profile_create();
	struct view *view;

	(void)state;
	asked_count = 0;
	for (uint64_t at = 0x50; at < 0x80; at += 0x10) {
		ADD(profile, 1, { LINED, 0, at });
		ADD(profile, 1, { LINED, 0, at + 4 });
	}
	view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	assert_int_equal(view_function_count(view), ARRAY_SIZE(expected));
	for (uint32_t i = 0; i < ARRAY_SIZE(expected); i++)
		assert_string_equal(view_function(view, i)->label, expected[i]);
	assert_string_equal(view_function(view, 0)->name, "helper");
	assert_string_equal(view_function(view, 0)->module, "prog");
	assert_string_equal(view_function(view, 0)->place, "a/util.c");
	assert_string_equal(view_function(view, 2)->place, "prog");
	view_free(view);
	view = view_create(profile, NULL, &all, VIEW_BY_LINE);
	assert_string_equal(view_function(view, 1)->label, "helper (b/util.c:3)");
	view_free(view);
	profile_free(profile);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nameless),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_homonyms),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_modules_and_sources),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
