/* SPDX-License-Identifier: MIT */
/* test_histogram.c - exact sums, and quantiles within a sixteenth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wallsample/base/base.h"
#include "wallsample/base/histogram.h"

static void
test_empty(void **state)
{
	static struct histogram h;

	(void)state;
	histogram_init(&h);
	assert_int_equal(h.count, 0);
	assert_int_equal(histogram_quantile(&h, 0.5), 0);
}

static void
test_one_value(void **state)
{
	static const uint64_t values[] = { 0, 1, 15, 16, 17, 31, 32, 5500, UINT64_MAX };
	static struct histogram h;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		histogram_init(&h);
		histogram_add(&h, values[i]);
		assert_true(h.min == values[i] && h.max == values[i] && h.sum == values[i]);
		assert_true(histogram_quantile(&h, 0) == values[i]);
		assert_true(histogram_quantile(&h, 0.5) == values[i]);
		assert_true(histogram_quantile(&h, 1) == values[i]);
	}
}

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void
test_quantiles_at_any_scale(void **state)
{
	enum { N = 20000 };
	static struct histogram h;
	static uint64_t values[N];
	uint64_t sum = 0;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 7);
	histogram_init(&h);
	for (size_t i = 0; i < N; i++) {
		values[i] = rng_next(&rng) >> (20 + rng_next(&rng) % 44);
		histogram_add(&h, values[i]);
		sum += values[i];
	}
	qsort(values, N, sizeof(values[0]), compare);
	assert_true(h.count == N && h.sum == sum);
	assert_true(h.min == values[0] && h.max == values[N - 1]);
	for (int percent = 1; percent <= 100; percent++) {
		uint64_t exact = values[(size_t)N * (size_t)percent / 100 - 1];
		uint64_t got = histogram_quantile(&h, percent / 100.0);

		assert_true(got >= exact);
		assert_true(got - exact <= exact / 16);
	}
}

static void
test_sum_does_not_wrap(void **state)
{
	static struct histogram h;

	(void)state;
	histogram_init(&h);
	histogram_add(&h, UINT64_MAX);
	histogram_add(&h, 2);
	assert_true(h.sum == UINT64_MAX);
	assert_int_equal(histogram_quantile(&h, 0.5), 2);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_one_value),
		cmocka_unit_test(test_quantiles_at_any_scale),
		cmocka_unit_test(test_sum_does_not_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
