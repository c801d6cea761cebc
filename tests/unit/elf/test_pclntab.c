/* SPDX-License-Identifier: MIT */
/* test_pclntab.c - Go's table of functions: made ones, and the same damaged and cut short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../scene/made_go.h"
#include "wallsample/elf/pclntab.h"

static const struct made_go kinds[] = {
	{ .old = false }, { .old = true },
	{ .relocated = true }, { .old = true, .relocated = true },
};

struct opened {
	struct image *image;
	struct pclntab *table;
};

static struct opened
open_made(const struct made_go *made)
{
	struct opened opened;
	uint8_t *file = made_go_file(made);

	opened.image = image_take_memory(file, MADE_GO_SIZE);
	assert_non_null(opened.image);
	opened.table = pclntab_open(opened.image);
	return opened;
}

static void
close_made(struct opened *opened)
{
	pclntab_free(opened->table);
	image_free(opened->image);
}

/* "NAME FILE:LINE", and what it is inlined into behind it. */
static void
check_places(const struct pclntab *table, uint64_t vaddr, const char *expected)
{
	struct pclntab_place place[4];
	struct strbuf text;
	size_t count = pclntab_places(table, vaddr, place, 4);

	strbuf_init(&text);
	strbuf_add_text(&text, "");
	for (size_t i = 0; i < count; i++) {
		strbuf_add_text(&text, i > 0 ? " < " : "");
		assert_true(pclntab_name(table, place[i].name, &text));
		strbuf_add_text(&text, " ");
		assert_true(pclntab_file(table, place[i].file, &text));
		strbuf_add_format(&text, ":%u", place[i].line);
	}
	assert_string_equal(text.data != NULL ? text.data : "", expected);
	strbuf_release(&text);
}

static void
test_functions(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct opened opened = open_made(&kinds[i]);
		struct pclntab_function function;

		assert_non_null(opened.table);
		assert_true(pclntab_is_likely(opened.image));
		assert_true(pclntab_find(opened.table, MADE_GO_F + 95, &function));
		assert_int_equal(function.entry, MADE_GO_F);
		assert_int_equal(function.end, MADE_GO_EXIT);
		assert_int_equal(function.start_line, kinds[i].old ? 0 : 9);
		assert_int_equal(function.flags, 0);
		assert_true(pclntab_find(opened.table, MADE_GO_EXIT, &function));
		assert_int_equal(function.flags, PCLNTAB_FLAG_TOP | PCLNTAB_FLAG_ASM);
		assert_true(pclntab_find(opened.table, MADE_GO_TEXT, &function));
		assert_false(pclntab_find(opened.table, MADE_GO_TEXT - 1, &function));
		assert_false(pclntab_find(opened.table, MADE_GO_END, &function));
		assert_false(pclntab_find(opened.table, 0, &function));
		assert_false(pclntab_find(opened.table, UINT64_MAX, &function));
		close_made(&opened);
	}
}

static void
test_places(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct opened opened = open_made(&kinds[i]);
		struct pclntab_place place[2];

		assert_non_null(opened.table);
		check_places(opened.table, MADE_GO_TEXT, "main.main /src/main.go:10");
		check_places(opened.table, MADE_GO_F + 15, "main.f /src/main.go:10");
		check_places(opened.table, MADE_GO_F + 16,
			     "main.inner /src/inner.go:20 < main.f /src/main.go:10");
		check_places(opened.table, MADE_GO_F + 47,
			     "main.innermost /src/inner.go:30 < main.inner /src/inner.go:20 < "
			     "main.f /src/main.go:10");
		check_places(opened.table, MADE_GO_F + 48, "main.f /src/main.go:11");
		check_places(opened.table, MADE_GO_END, "");
		/* The function whose code it is is always told. */
		assert_int_equal(pclntab_places(opened.table, MADE_GO_F + 47, place, 2), 2);
		assert_int_equal(place[0].line, 30);
		assert_int_equal(place[0].start_line, kinds[i].old ? 0 : 28);
		assert_int_equal(pclntab_places(opened.table, MADE_GO_F + 48, &place[0], 1), 1);
		assert_int_equal(pclntab_places(opened.table, MADE_GO_F + 47, &place[1], 1), 1);
		assert_int_equal(place[1].name, place[0].name);
		close_made(&opened);
	}
}

static void
test_depth(void **state)
{
	static const struct {
		unsigned at, depth;
	} known[] = { { 0, 0 }, { 3, 0 }, { 4, 24 }, { 79, 24 }, { 80, 0 }, { 95, 0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct opened opened = open_made(&kinds[i]);
		struct pclntab_function function;
		uint32_t depth;

		assert_non_null(opened.table);
		assert_true(pclntab_find(opened.table, MADE_GO_F, &function));
		for (size_t k = 0; k < ARRAY_SIZE(known); k++) {
			assert_true(pclntab_stack_depth(opened.table, &function,
							MADE_GO_F + known[k].at, &depth));
			assert_int_equal(depth, known[k].depth);
		}
		assert_false(pclntab_stack_depth(opened.table, &function, MADE_GO_EXIT, &depth));
		close_made(&opened);
	}
}

/* Without the runtime's description inlined functions are not known, the rest is. */
static void
test_header_alone(void **state)
{
	struct opened opened = open_made(&(struct made_go){ .no_module = true });

	(void)state;
	assert_non_null(opened.table);
	check_places(opened.table, MADE_GO_F + 47, "main.f /src/inner.go:30");
	close_made(&opened);
}

/* Another's table, or a program that only has the magic number in it, is none. */
static void
test_none(void **state)
{
	static const struct made_go made = { .old = false };

	(void)state;
	for (unsigned at = 0; at < 72; at++) {
		uint8_t *file = made_go_file(&made);
		struct opened opened;

		/* 16: how many files there are; 24: where text was once */
		if ((at >= 16 && at < 32) || at % 8 > 1) {
			free(file);
			continue;
		}
		file[MADE_GO_TABLE + at] ^= 0x55;
		opened.image = image_take_memory(file, MADE_GO_SIZE);
		opened.table = pclntab_open(opened.image);
		assert_null(opened.table);
		close_made(&opened);
	}
}

/* Asks everything; whatever the answers are, they are within their bounds. */
static void
ask_all(const struct image *image)
{
	struct pclntab *table = pclntab_open(image);
	struct strbuf text;

	strbuf_init(&text);
	for (uint64_t at = MADE_GO_LOW; table != NULL && at < MADE_GO_END + 8; at += 3) {
		struct pclntab_function function;
		struct pclntab_place place[8];
		size_t count = pclntab_places(table, at, place, 8);
		uint32_t depth;

		assert_in_range(count, 0, 8);
		for (size_t i = 0; i < count; i++) {
			strbuf_clear(&text);
			pclntab_name(table, place[i].name, &text);
			pclntab_file(table, place[i].file, &text);
			assert_true(text.length < MADE_GO_SIZE);
		}
		if (pclntab_find(table, at, &function) &&
		    pclntab_stack_depth(table, &function, at, &depth))
			assert_true(depth <= 1U << 30);
	}
	strbuf_release(&text);
	pclntab_free(table);
}

static void
damage(struct rng *rng, uint8_t *file)
{
	for (uint64_t n = 1 + rng_next(rng) % 4; n > 0; n--) {
		static const size_t part[] = { 0, MADE_GO_TABLE, MADE_GO_TABLE, MADE_GO_DATA };
		const size_t at = part[rng_next(rng) % ARRAY_SIZE(part)] + rng_next(rng) % 0x280;
		const uint64_t word = rng_next(rng) >> rng_next(rng) % 64;

		if (rng_next(rng) % 2 != 0)
			file[at] = (uint8_t)word;
		else
			memcpy(file + at / 8 * 8, &word, sizeof(word));
	}
}

static void
test_damage(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 8);
	for (unsigned round = 0; round < 4000; round++) {
		uint8_t *file = made_go_file(&kinds[round % ARRAY_SIZE(kinds)]);
		struct image *image;

		damage(&rng, file);
		image = image_take_memory(file, MADE_GO_SIZE);
		if (image != NULL)
			ask_all(image);
		image_free(image);
	}
}

static void
test_cut_short(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		uint8_t *file = made_go_file(&kinds[i]);

		for (size_t size = MADE_GO_TABLE; size < MADE_GO_SIZE; size += 5) {
			struct image *image = image_open_memory(file, size);

			if (image != NULL)
				ask_all(image);
			image_free(image);
		}
		free(file);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),    cmocka_unit_test(test_places),
		cmocka_unit_test(test_depth),        cmocka_unit_test(test_header_alone),
		cmocka_unit_test(test_none),         cmocka_unit_test(test_damage),
		cmocka_unit_test(test_cut_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
