/* SPDX-License-Identifier: MIT */
/*
 * test_in_progress.c - how many are in progress in virtual time, of a program that is nothing but
 * arithmetic: somebody makes one item after the other, somebody eats each as soon as it is there,
 * in less time than a few ticks. So from begin to end it takes EAT, and of that what is left when
 * eating becomes faster.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdbool.h>

#include "causal/causal_internal.h"
#include "wallsample/base/base.h"

#define MAKE 20.0
#define EAT 12.0
#define TICK 5.0
#define SPREAD 0.3
#define ITEMS 40000

/* Of one item ticks find the time some 2 ms too long or too short, which is a tenth of a percent of
 * that of so many. A hold moves what follows it by a part of a tick: half a percent. */
#define OFF 0.01

struct program {
	double make_left, eat_left; /* eat_left 0: there is nothing to eat */
	double items, ended;
};

/* For so long, or until something happens before; how long it was. */
static double
step(struct program *program, double most, bool held)
{
	const bool eats = program->eat_left > 0;
	double time = most;

	if (!held)
		time = fmin(time, program->make_left);
	if (eats)
		time = fmin(time, program->eat_left);
	if (!held)
		program->make_left -= time;
	if (eats)
		program->eat_left -= time;
	if (eats && program->eat_left <= 0) {
		program->eat_left = 0;
		program->ended++;
	}
	if (program->make_left <= 0) {
		program->make_left = MAKE;
		program->eat_left = EAT;
		program->items++;
	}
	return time;
}

/* Runs for so long with the maker held or not; of it the eater had nothing to do: *idle. */
static void
run(struct program *program, double length, bool held, double *idle)
{
	while (length > 1e-9) {
		const bool eats = program->eat_left > 0;
		const double time = step(program, length, held);

		if (!eats && held)
			*idle += time;
		length -= time;
	}
}

/* The mean time from begin to end at this speed-up, as it is found. */
static double
found(double speedup, uint64_t seed)
{
	struct program program = { .make_left = MAKE };
	struct in_progress sum = { 0 };
	double virtual_time = 0, owed = 0;
	struct rng rng;

	rng_seed(&rng, seed);
	while (program.ended < ITEMS) {
		const double length = TICK * (1 + SPREAD * (2 * rng_uniform(&rng) - 1));
		const double before = program.items - program.ended;
		const double part = program.eat_left > 0 ? speedup : 0;
		const double hold = part > 0 ? fmin(length, part * length + owed) : 0;
		struct in_progress_time time = { .passed = length, .part = part };
		const double ended = program.ended;

		run(&program, hold, true, &time.idle);
		if (part > 0 && part < 1)
			owed += part * length - (hold - time.idle);
		run(&program, length - hold, false, &(double){ 0 });
		in_progress_add(&sum, 0, &time, before, program.items - program.ended);
		in_progress_pass(&sum, &time);
		virtual_time += length - hold;
		assert_true(program.ended - ended <= 1);
	}
	return in_progress_sum(&sum, 0, virtual_time) / program.ended;
}

static void
short_bursts(void **state)
{
	static const double speedups[] = { 0, 0.25, 0.5, 0.75, 1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(speedups); i++) {
		const double time = found(speedups[i], i + 1);

		print_message("at %.2f: %.3f of %.3f\n", speedups[i], time,
			      EAT * (1 - speedups[i]));
		assert_true(fabs(time - EAT * (1 - speedups[i])) < OFF * EAT);
	}
}

/* Nobody runs while threads are looked at: that is no time in progress. */
static void
looks_take_time(void **state)
{
	const struct in_progress_time time = {
		.passed = 10, .part = 0.5, .stopped = 1, .standing = 3,
	};
	struct in_progress sum = { 0 };

	(void)state;
	in_progress_add(&sum, 1, &time, 4, 8);
	in_progress_pass(&sum, &time);
	/* 6 on average for 10, less 4 for 1 and for half of 6, less 8 for 3 */
	assert_true(fabs(sum.sum_ns[1] - 20) < 1e-9);
	assert_true(fabs(sum.left_ns - 3) < 1e-9);
	assert_true(fabs(in_progress_sum(&sum, 1, 3) - 20) < 1e-9);
	assert_true(in_progress_sum(&sum, 0, 3) == 0);
}

/* Where next to nothing is left, what is left may be anything, below zero too. */
static void
always_chosen(void **state)
{
	const struct in_progress_time time = { .passed = 10, .part = 1, .idle = 1 };
	struct in_progress sum = { 0 };

	(void)state;
	in_progress_add(&sum, 0, &time, 2, 4);
	in_progress_pass(&sum, &time);
	assert_true(fabs(in_progress_sum(&sum, 0, 5) - 15) < 1e-9);
	assert_true(in_progress_sum(&(struct in_progress){ 0 }, 0, 5) == 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_bursts),
		cmocka_unit_test(looks_take_time),
		cmocka_unit_test(always_chosen),
	};

	return cmocka_run_group_tests_name("in_progress", tests, NULL, NULL);
}
