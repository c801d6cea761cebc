/* SPDX-License-Identifier: MIT */
/* test_pace.c - the rate that is kept to when sampling costs little, and when it costs too much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sampler/pace_internal.h"

/* The rate after a tick of such a cost, in CPU seconds, at the end of a window. */
static double
rate_after(double rate_hz, double cost_s)
{
	const struct sampler_config config = { .rate_hz = rate_hz, .max_overhead = 1 };
	struct run_stats stats = { .ticks = 0 };
	struct pace pace;
	struct rng rng;

	rng_seed(&rng, 1);
	pace_start(&pace, &config, NULL, &rng);
	pace_end(&pace, &stats);
	stats.ticks = 1;
	/* Stops are counted at 10 us each. */
	stats.stopped = (uint64_t)(cost_s * 1e5);
	pace.window_ns -= NS_PER_SEC;
	pace_end(&pace, &stats);
	assert_true(pace.lowest_hz == (pace.now_hz < rate_hz ? pace.now_hz : rate_hz));
	return pace.now_hz;
}

static void
test_rate(void **state)
{
	(void)state;
	assert_true(rate_after(100, 0) == 100);
	assert_true(rate_after(100, 1) == 1);
	assert_true(rate_after(0.1, 0) == 0.1);
	assert_true(rate_after(0.1, 1) == 0.1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
