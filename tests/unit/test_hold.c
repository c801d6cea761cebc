/* SPDX-License-Identifier: MIT */
/* test_hold.c - what is owed of a hold is made up for, and nothing besides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "../../src/sampler/hold.h"

#define TICKS 1000
#define LENGTH_NS 5e6
#define MOST_NS 2.5e6

/*
 * Each tick the others are let go `late_ns` after it was meant, at odd ticks by twice as much, and
 * every `rest`th tick the candidate is not there. How long they were held, as a part of its time.
 */
static double
part_held(double part, double late_ns, int rest)
{
	double owed = 0, held_ns = 0, all_ns = 0;

	for (int i = 0; i < TICKS; i++) {
		const double length = LENGTH_NS * (1 + 0.3 * sin(i));
		/* The length is not known before: its mean is what is expected. */
		double held = part * LENGTH_NS + owed + late_ns * (1 + i % 2);

		if (i % rest == rest - 1)
			continue;
		held = held < 0 ? 0 : held;
		owed = hold_owe(owed, part, length, held, MOST_NS);
		held_ns += held;
		all_ns += length;
	}
	return held_ns / all_ns;
}

static void
test_no_error_is_left(void **state)
{
	static const double lates[] = { -200e3, 0, 50e3, 300e3 };

	(void)state;
	/* What is left is of the last tick. */
	for (size_t i = 0; i < ARRAY_SIZE(lates); i++)
		for (int part = 1; part < 10; part++)
			for (int rest = 2; rest < 6; rest++)
				assert_true(fabs(part_held(part / 10.0, lates[i], rest) -
						 part / 10.0) < 2.0 / TICKS);
}

static void
test_not_without_bound(void **state)
{
	(void)state;
	/* One that was held for no time at all, and one that was not let go. */
	assert_true(hold_owe(0, 0.5, 1e9, 0, MOST_NS) == MOST_NS);
	assert_true(hold_owe(MOST_NS, 0.5, LENGTH_NS, 0, MOST_NS) == MOST_NS);
	assert_true(hold_owe(0, 0.5, LENGTH_NS, 1e9, MOST_NS) == -MOST_NS);
	assert_true(hold_owe(0, 0.5, LENGTH_NS, 0.5 * LENGTH_NS, MOST_NS) == 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_error_is_left),
		cmocka_unit_test(test_not_without_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
