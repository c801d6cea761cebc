/* SPDX-License-Identifier: MIT */
/* test_table.c - the hash table of number pairs, and interned text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

static void
test_place_and_find(void **state)
{
	struct table table;
	uint32_t value = 99, *place;
	bool added = false;

	(void)state;
	table_init(&table);
	assert_false(table_find(&table, 0, 0, &value));
	place = table_insert(&table, 0, 0, 5, &added);
	assert_true(added);
	assert_int_equal(*place, 5);
	*place = 6;
	assert_int_equal(*table_insert(&table, 0, 0, 7, &added), 6);
	assert_false(added);
	assert_true(table_find(&table, 0, 0, &value));
	assert_int_equal(value, 6);
	assert_false(table_find(&table, 0, 1, &value));
	assert_false(table_find(&table, 1, 0, &value));
	assert_int_equal(*table_insert(&table, 1, 0, 8, NULL), 8);
	assert_int_equal(table.count, 2);
	table_clear(&table);
	assert_int_equal(table.count, 0);
	assert_false(table_find(&table, 0, 0, &value));
	table_release(&table);
	assert_false(table_find(&table, 0, 0, &value));
}

static void
test_many_keys(void **state)
{
	enum { N = 50000 };
	struct table table;
	uint32_t value = 0;

	(void)state;
	table_init(&table);
	/* keys as the program has them: small numbers, page addresses */
	for (uint32_t i = 0; i < N; i++)
		*table_insert(&table, i % 7, (uint64_t)i << 12, 0, NULL) = i;
	assert_int_equal(table.count, N);
	assert_true(table.count <= table.capacity / 4 * 3);
	assert_true((table.capacity & (table.capacity - 1)) == 0);
	for (uint32_t i = 0; i < N; i++) {
		assert_true(table_find(&table, i % 7, (uint64_t)i << 12, &value));
		assert_int_equal(value, i);
		assert_false(table_find(&table, i % 7 + 7, (uint64_t)i << 12, &value));
	}
	table_release(&table);
}

/* Each input bit moves about half of the output bits. */
static void
test_hash_mixes(void **state)
{
	(void)state;
	for (int bit = 0; bit < 64; bit++) {
		int moved = 0;

		for (uint64_t x = 0; x < 64; x++)
			moved += __builtin_popcountll(hash_u64(x) ^
						      hash_u64(x ^ UINT64_C(1) << bit));
		assert_in_range(moved, 64 * 28, 64 * 36);
	}
}

static void
test_strings(void **state)
{
	struct strings *strings = strings_create();
	const char *first;
	char text[32];

	(void)state;
	assert_int_equal(strings_count(strings), 0);
	assert_int_equal(strings_intern(strings, ""), 0);
	assert_int_equal(strings_intern(strings, "main"), 1);
	first = strings_text(strings, 1);
	for (unsigned i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "function_%u", i);
		assert_int_equal(strings_intern(strings, text), i + 2);
	}
	for (unsigned i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "function_%u", i);
		assert_int_equal(strings_intern(strings, text), i + 2);
		assert_string_equal(strings_text(strings, i + 2), text);
	}
	/* texts stay where they are */
	assert_ptr_equal(strings_text(strings, 1), first);
	assert_int_equal(strings_intern(strings, "main"), 1);
	assert_int_equal(strings_intern(strings, ""), 0);
	assert_int_equal(strings_count(strings), 20002);
	strings_free(strings);
	strings_free(NULL);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_place_and_find),
		cmocka_unit_test(test_many_keys),
		cmocka_unit_test(test_hash_mixes),
		cmocka_unit_test(test_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
