/* SPDX-License-Identifier: MIT */
/* test_hold.c - a hold that was too short is made up for, within limits; resume delays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "sampler/hold/hold_internal.h"
#include "sampler/hold/hold_occupy_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/tracer/tracer.h"

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
	double debt = 0, held_ns = 0, all_ns = 0;

	for (int i = 0; i < TICKS; i++) {
		const double length = LENGTH_NS * (1 + 0.3 * sin(i));
		/* The length is not known before: its mean is what is expected. */
		double held = part * LENGTH_NS + debt + late_ns * (1 + i % 2);

		if (i % rest == rest - 1)
			continue;
		held = held < 0 ? 0 : held;
		debt = hold_debt(debt, part, length, held, MOST_NS);
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
	assert_true(hold_debt(0, 0.5, 1e9, 0, MOST_NS) == MOST_NS);
	assert_true(hold_debt(MOST_NS, 0.5, LENGTH_NS, 0, MOST_NS) == MOST_NS);
	assert_true(hold_debt(0, 0.5, LENGTH_NS, 1e9, MOST_NS) == -MOST_NS);
	assert_true(hold_debt(0, 0.5, LENGTH_NS, 0.5 * LENGTH_NS, MOST_NS) == 0);
}

static void
test_late(void **state)
{
	/* 5 ms, of which 100 us decided and 90 us stopped it, and it was held for 2 ms. */
	const struct hold_run run = {
		.between_ns = 5e6, .stopped_ns = 190e3, .held_ns = 2e6, .cpu_ns = 2.75e6,
		.switches = 1,
	};
	struct hold_run other = run;
	double late;

	(void)state;
	assert_true(hold_resume_delay(&run, 5e6, &late));
	assert_true(fabs(late - 60e3) < 1);
	/* It ran on while we stopped it. */
	other.cpu_ns = 2.83e6;
	assert_true(hold_resume_delay(&other, 5e6, &late));
	assert_true(fabs(late + 20e3) < 1);
	/* It slept for half a millisecond; or often. */
	other.cpu_ns = 2.25e6;
	assert_false(hold_resume_delay(&other, 5e6, &late));
	other = run;
	other.switches = 5;
	assert_true(hold_resume_delay(&other, 5e6, &late));
	other.switches = 6;
	assert_false(hold_resume_delay(&other, 5e6, &late));
	/* 60 us are much of a short tick. */
	assert_false(hold_resume_delay(&run, 0.5e6, &late));
	/* Counters that went back. */
	other = run;
	other.cpu_ns = (double)UINT64_MAX;
	assert_false(hold_resume_delay(&other, 5e6, &late));
}

/* A stop that is late because wallsample used the CPU, or for any reason but a wait for the CPU,
 * does not spare its thread: with ticks of 0.5 ms a quarter of all holds had no effect. */
static void
test_shared_cpu(void **state)
{
	struct watch watch = { .source = SCHED_FROM_SCHEDSTAT };
	struct stop_request request = {
		.watch = &watch,
		.before = { .cpu_ns = 5, .delay_ns = 1000 },
		.during = { .cpu_ns = 6, .delay_ns = 1000 + 150 * NS_PER_US },
		.end = STOP_CAPTURED,
		.at_tick = TICK_QUEUED,
	};

	(void)state;
	assert_false(spare_finds_shared(&request, true, 0));
	assert_false(spare_finds_shared(&request, false, 0));
	request.during.delay_ns = 1000 + 2 * NS_PER_MS;
	assert_true(spare_finds_shared(&request, true, 0));
	assert_true(spare_finds_shared(&request, false, 0));
	/* The sampler has used CPUs for as long, because it stops many threads. */
	assert_false(spare_finds_shared(&request, true, 2 * NS_PER_MS));
	request.end = STOP_EXITED;
	assert_false(spare_finds_shared(&request, true, 0));
	/* Where waits are not counted, only a late stop shows that a thread waited. */
	request.end = STOP_CAPTURED;
	watch.source = SCHED_FROM_STATUS;
	request.during = request.before;
	assert_true(spare_finds_shared(&request, true, 0));
	assert_false(spare_finds_shared(&request, false, 0));
}

/* Threads are spared only while other processes have as many runnable threads as the target may use
 * CPUs. In a pipeline of three threads on two CPUs, which waited for each other's CPU, spared
 * threads made a gain of 67 % one of 140 %. */
static void
test_spare_load(void **state)
{
	struct spare spare = { .known = false };

	(void)state;
	assert_true(spare_finds_load(&spare, 2));
	/* The sampler, two late threads of the target, and at every fourth reading one more. */
	for (int i = 0; i < 100; i++) {
		spare_add_load(&spare, i % 4 == 0 ? 4 : 3, 3);
		assert_false(spare_finds_load(&spare, 1));
	}
	for (int i = 0; i < 100; i++)
		spare_add_load(&spare, 1 + 3, 1);
	assert_true(fabs(spare.others - 3) < 0.1);
	assert_true(spare_finds_load(&spare, 2));
	assert_false(spare_finds_load(&spare, 4));
	/* Fewer than expected: a late thread has fallen asleep meanwhile. */
	for (int i = 0; i < 100; i++)
		spare_add_load(&spare, 1, 3);
	assert_true(spare.others < 0.1 && spare.others >= 0);
	assert_false(spare_finds_load(&spare, 1));
	/* The file is not readable. */
	spare_add_load(&spare, 0, 3);
	assert_true(spare_finds_load(&spare, 64));
}

/* Returns the number of the stop at which `high` was first set; 0: never. Of `count` stops, every
 * `nth` is in a call; nth 0: none is. */
static size_t
add_stops(struct call_share *calls, size_t count, size_t nth)
{
	size_t first = 0;

	for (size_t i = 1; i <= count; i++) {
		call_share_add(calls, nth != 0 && i % nth == 0);
		if (first == 0 && calls->high)
			first = i;
	}
	return first;
}

/* With one stop in three in a call, `high` is set within 30 stops. With one in 50 it stays set, and
 * with one in 200 it is cleared and not set again. */
static void
test_share_of_calls(void **state)
{
	struct call_share calls = { .count = 0 };

	(void)state;
	assert_int_equal(add_stops(&calls, 10000, 0), 0);
	assert_in_range(add_stops(&calls, 256, 3), 1, 30);
	assert_true(calls.high && calls.share > 0.15 && calls.share < 0.35);
	add_stops(&calls, 5000, 50);
	assert_true(calls.high);
	add_stops(&calls, 5000, 200);
	assert_false(calls.high);
	assert_int_equal(add_stops(&calls, 5000, 200), 0);
	calls = (struct call_share){ .count = 0 };
	assert_int_equal(add_stops(&calls, 15, 1), 0);
	assert_int_equal(add_stops(&calls, 1, 1), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_error_is_left),
		cmocka_unit_test(test_not_without_bound),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_shared_cpu),
		cmocka_unit_test(test_spare_load),
		cmocka_unit_test(test_share_of_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
