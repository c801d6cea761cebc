/* SPDX-License-Identifier: MIT */
/* test_run_stats.c - sums of statistics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wallsample/profile/run_stats.h"

static void
test_count_chains(void **state)
{
	struct run_stats stats = { .ticks = 1 };
	uint64_t all = 1, broken = 1;

	(void)state;
	run_stats_count_chains(&stats, &all, &broken);
	assert_int_equal(all, 0);
	assert_int_equal(broken, 0);
	for (size_t i = 0; i < CHAIN_END_COUNT; i++)
		stats.chains[i] = 1;
	stats.chains[CHAIN_OUTERMOST] = 100;
	run_stats_count_chains(&stats, &all, &broken);
	assert_int_equal(all, 100 + CHAIN_END_COUNT - 1);
	assert_int_equal(broken, CHAIN_END_COUNT - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_count_chains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
