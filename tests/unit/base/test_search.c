/* SPDX-License-Identifier: MIT */
/* test_search.c - binary search: every result in arrays of every small length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wallsample/base/search.h"

/* Items with the values 0, 2, 4, …, each twice. */
static void
test_first_not_below(void **state)
{
	static const int item[] = { 0, 0, 2, 2, 4, 4, 6, 6 };
	const size_t most = sizeof(item) / sizeof(item[0]);

	(void)state;
	for (size_t count = 0; count <= most; count++)
		for (int value = -1; value <= 8; value++) {
			size_t index, expected = 0;

			while (expected < count && item[expected] < value)
				expected++;
			SEARCH_FIRST_NOT(index, count, item[index] < value);
			assert_int_equal(index, expected);
		}
}

static void
test_evaluations(void **state)
{
	const size_t count = 1000;

	(void)state;
	for (size_t wanted = 0; wanted <= count; wanted++) {
		unsigned evaluations = 0;
		size_t index;

		SEARCH_FIRST_NOT(index, count, (evaluations++, index < wanted));
		assert_int_equal(index, wanted);
		assert_in_range(evaluations, 1, 10); /* 2^10 > 1000 */
	}
}

/* An array without items may be NULL. */
static void
test_no_items(void **state)
{
	const int *item = NULL;
	size_t index = 1;

	(void)state;
	SEARCH_FIRST_NOT(index, 0, item[index] < 0);
	assert_int_equal(index, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_not_below),
		cmocka_unit_test(test_evaluations),
		cmocka_unit_test(test_no_items),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
