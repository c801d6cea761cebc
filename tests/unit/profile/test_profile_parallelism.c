/* SPDX-License-Identifier: MIT */
/*
 * test_profile_parallelism.c - the calibrated distribution of the parallelism has the CPU time of
 * the entries and the time of the ticks, and is that of the ticks if these agree.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wallsample/base/base.h"
#include "wallsample/profile/profile.h"

#define TICK (10 * NS_PER_MS)

/* A profile whose tick number i found parallel[i] threads on a CPU, with this CPU time. */
static struct profile *
make(const uint32_t *parallel, size_t ticks, double cpu_s)
{
	struct profile *profile = profile_create();
	const struct profile_entry entry = {
		.thread = profile_add_thread(profile, 0, 1, 1, "t"),
		.stack = STACK_NONE,
		.samples = 1,
		.ns[WEIGHT_CPU] = (int64_t)(cpu_s * 1e9),
	};

	profile_add(profile, &entry);
	for (size_t i = 0; i < ticks; i++)
		profile_add_tick(profile, TICK, parallel[i], parallel[i]);
	profile_calibrate_parallelism(profile);
	return profile;
}

static void
check_sums(const struct profile *profile, double cpu_s)
{
	double time = 0, cpu = 0, alone = 0;

	for (size_t p = 0; p < profile_parallelism_count(profile); p++) {
		const struct profile_parallelism *row = profile_parallelism(profile, p);

		time += (double)row->time_ns;
		cpu += (double)row->cpu_ns;
		alone += (double)row->alone_ns;
		assert_true(row->cpu_ns == row->time_ns * p);
		assert_true(row->alone_ns <= row->time_ns);
	}
	assert_true(fabs(time - (double)profile_wall_ns(profile)) < 100);
	assert_true(fabs(cpu - cpu_s * 1e9) < 1000);
	assert_true(alone <= time);
}

static void
test_agrees(void **state)
{
	static const uint32_t ticks[] = { 0, 1, 2, 2, 1, 0, 0, 1 };
	struct profile *profile = make(ticks, ARRAY_SIZE(ticks), 0.07);

	(void)state;
	check_sums(profile, 0.07);
	for (size_t p = 0; p < 3; p++) {
		const struct profile_parallelism *row = profile_parallelism(profile, p);

		assert_true(fabs((double)row->time_ns - (double)row->sampled_ns) < 1000);
	}
	profile_free(profile);
}

/* Threads were seen running too often or too seldom: the time moves, up to the last row. */
static void
test_moves(void **state)
{
	static const uint32_t ticks[] = { 0, 1, 2, 2, 1, 0, 0, 1 };

	(void)state;
	for (int i = 1; i < 16; i++) {
		struct profile *profile = make(ticks, ARRAY_SIZE(ticks), 0.01 * i);

		check_sums(profile, 0.01 * i);
		profile_calibrate_parallelism(profile);
		check_sums(profile, 0.01 * i);
		profile_free(profile);
	}
}

/* No tick found a thread running, or all found as many, and the kernel has counted other times. */
static void
test_beyond(void **state)
{
	static const uint32_t none[] = { 0, 0, 0, 0 }, both[] = { 2, 2, 2, 2 };
	static const double cpu_s[] = { 0, 0.004, 0.04, 0.07, 0.08, 0.09, 0.2 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cpu_s); i++) {
		struct profile *profile = make(none, 4, cpu_s[i]);

		check_sums(profile, cpu_s[i]);
		profile_free(profile);
		profile = make(both, 4, cpu_s[i]);
		check_sums(profile, cpu_s[i]);
		profile_free(profile);
	}
}

/* What no machine has is that of a hostile recording: nothing changes. */
static void
test_hostile(void **state)
{
	static const uint32_t ticks[] = { 1 };
	struct profile *profile = make(ticks, 1, 1e6);

	(void)state;
	assert_int_equal(profile_parallelism_count(profile), 2);
	profile_free(profile);
	profile = make(ticks, 0, 1);
	assert_int_equal(profile_parallelism_count(profile), 0);
	profile_free(profile);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agrees),
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_beyond),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
