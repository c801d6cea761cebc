/* SPDX-License-Identifier: MIT */
/* test_pace.c - the rate and the cost of sampling, with simulated clocks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sampler/pace_internal.h"

/* Longest run in seconds. */
#define SECONDS_MOST 20

struct simulation {
	double rate_hz, max_overhead;
	bool even; /* --no-jitter */
	/* CPU time of the first tick and of all other ticks, in s */
	double first_s, tick_s;
	/* ticks last this number of times their CPU time */
	double slowness;
	/* observations of a tick without thinning; the CPU time of a tick is divided by `thin` if
	 * this is not 0 */
	uint64_t reads;
	double between_s; /* CPU time of work between two ticks, twice a second */
};

struct outcome {
	uint64_t ticks;
	double used_s, lowest_hz; /* CPU time, that between ticks included */
	double worst_s; /* most CPU time in any second, of ticks that began in it */
	uint32_t thinnest;
};

/* The ticks that a simulated run has had: when they began and what they cost. */
static double began_s[SECONDS_MOST * 1200], cost_s[SECONDS_MOST * 1200];

static double
worst_second(size_t ticks, size_t from)
{
	double worst = 0, sum = 0;

	for (size_t first = from, i = from; i < ticks; i++) {
		for (; began_s[i] - began_s[first] >= 1.0; first++)
			sum -= cost_s[first];
		sum += cost_s[i];
		worst = fmax(worst, sum);
	}
	return worst;
}

/* Simulates a run. The worst second does not include the first `skipped` ticks. */
static struct outcome
simulate(const struct simulation *sim, double seconds, uint64_t seed, size_t skipped)
{
	const struct sampler_config config = { .rate_hz = sim->rate_hz,
					       .max_overhead = sim->max_overhead,
					       .jitter = !sim->even };
	struct pace_clock clock = { .now_ns = NS_PER_SEC, .cpu_ns = 12345 };
	const uint64_t end_ns = clock.now_ns + (uint64_t)(seconds * 1e9);
	struct run_stats stats = { .ticks = 0 };
	struct outcome outcome = { .ticks = 0 };
	uint64_t between_ns = clock.now_ns;
	struct pace pace;
	struct rng rng;

	rng_seed(&rng, seed);
	pace_start(&pace, &config, NULL, &rng, &clock);
	while (pace.due_ns < end_ns) {
		double cost = stats.ticks == 0 ? sim->first_s : sim->tick_s;

		if (sim->reads != 0 && stats.ticks > 0)
			cost /= pace.thin;
		stats.looks += sim->reads / pace.thin;
		if (clock.now_ns < pace.due_ns)
			clock.now_ns = pace.due_ns;
		assert_true(stats.ticks < sizeof(began_s) / sizeof(*began_s));
		began_s[stats.ticks] = (double)clock.now_ns / 1e9;
		cost_s[stats.ticks++] = cost;
		pace_begin(&pace, &clock);
		clock.now_ns += (uint64_t)(cost * fmax(sim->slowness, 1.0) * 1e9);
		clock.cpu_ns += (uint64_t)(cost * 1e9);
		outcome.used_s += cost;
		pace_end(&pace, &stats, &clock);
		if (clock.now_ns >= between_ns) {
			between_ns = clock.now_ns + NS_PER_SEC / 2;
			clock.now_ns += (uint64_t)(sim->between_s * 1e9);
			clock.cpu_ns += (uint64_t)(sim->between_s * 1e9);
			outcome.used_s += sim->between_s;
		}
	}
	outcome.ticks = stats.ticks;
	outcome.lowest_hz = pace.lowest_hz;
	outcome.thinnest = pace.thinnest;
	outcome.worst_s = worst_second(stats.ticks, skipped);
	return outcome;
}

/* Returns the rate after a window whose tick cost `cost_s`, at a limit of 1 %. */
static double
rate_after(double rate_hz, double tick_s)
{
	const struct sampler_config config = { .rate_hz = rate_hz, .max_overhead = 1 };
	struct pace_clock clock = { .now_ns = NS_PER_SEC };
	struct run_stats stats = { .ticks = 1 };
	struct pace pace;
	struct rng rng;

	rng_seed(&rng, 1);
	pace_start(&pace, &config, NULL, &rng, &clock);
	pace_end(&pace, &stats, &clock);
	stats.ticks = 2;
	/* Stops are counted at 10 us each. */
	stats.stopped = (uint64_t)(tick_s * 1e5);
	clock.now_ns += NS_PER_SEC;
	pace_end(&pace, &stats, &clock);
	assert_true(pace.lowest_hz <= pace.now_hz);
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

/* The number of ticks is the wanted one but for some ticks, also if ticks take a part of the
 * interval. The standard deviation is 4 ticks; without feedback it was 20 ticks in 4 s. */
static void
test_rate_reached(void **state)
{
	struct simulation sim = { .rate_hz = 100, .max_overhead = 5, .tick_s = 100e-6 };

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct outcome outcome = simulate(&sim, 4, seed, 0);

		assert_in_range(outcome.ticks, 400 - 20, 400 + 20);
		assert_true(outcome.lowest_hz == 100);
		assert_in_range(simulate(&sim, 20, seed, 0).ticks, 2000 - 20, 2000 + 20);
	}
	sim.slowness = 60; /* 6 ms of 10 ms */
	for (uint64_t seed = 1; seed <= 200; seed++)
		assert_in_range(simulate(&sim, 20, seed, 0).ticks, 2000 - 40, 2000 + 20);
	sim.even = true;
	assert_in_range(simulate(&sim, 20, 1, 0).ticks, 1999, 2000);
}

/* Intervals stay exponential: mean 1, standard deviation 1, a tenth below 0.105, and the next one
 * hardly depends on the last one. */
static void
test_intervals(void **state)
{
	const struct simulation sim = { .rate_hz = 1000, .max_overhead = 100 };
	const size_t count = simulate(&sim, 20, 1, 0).ticks - 1;
	double mean = 0, square = 0, product = 0, last = 1, deviation;
	size_t shorter = 0;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		const double interval = (began_s[i + 1] - began_s[i]) * 1000;

		mean += interval / (double)count;
		square += interval * interval / (double)count;
		product += (interval - 1) * (last - 1) / (double)count;
		shorter += interval < 0.10536;
		last = interval;
	}
	deviation = sqrt(square - mean * mean);
	assert_true(fabs(mean - 1) < 0.002);
	assert_true(fabs(deviation - 1) < 0.05);
	assert_true(fabs((double)shorter / (double)count - 0.1) < 0.01);
	assert_true(fabs(product) < 0.06);
}

/* In any second from the first on, ticks use at most the limit, plus one tick. */
static void
check_limit(const struct simulation *sim)
{
	const double limit = sim->max_overhead / 100;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct outcome outcome = simulate(sim, 10, seed, 0);

		assert_true(outcome.worst_s <= limit + sim->tick_s);
		if (sim->reads == 0 && sim->tick_s * sim->rate_hz > limit) {
			assert_true(outcome.lowest_hz < sim->rate_hz);
			/* and the limit is used */
			assert_true(outcome.used_s > 0.55 * limit * 10);
		}
	}
}

static void
test_limit(void **state)
{
	static const double limit[] = { 1, 5, 20 }, cost[] = { 20e-6, 120e-6, 700e-6, 3e-3 };
	static const double rate[] = { 100, 1000 };

	(void)state;
	for (size_t i = 0; i < 3 * 4 * 2; i++) {
		struct simulation sim = { .rate_hz = rate[i % 2],
					  .max_overhead = limit[i / 2 % 3],
					  .tick_s = cost[i / 6] };

		sim.first_s = sim.tick_s;
		check_limit(&sim);
		sim.reads = 50;
		check_limit(&sim);
	}
}

/* With many running threads each of them is observed less often. */
static void
test_thin(void **state)
{
	const struct simulation sim = {
		.rate_hz = 100, .max_overhead = 5, .tick_s = 2e-3, .first_s = 2e-3, .reads = 50
	};
	const struct outcome outcome = simulate(&sim, 20, 1, 0);

	(void)state;
	assert_in_range(outcome.thinnest, 8, 8);
	assert_true(outcome.ticks > 1800);
}

/* Work between ticks takes its part of the limit, and is not taken for the cost of ticks, which
 * would lower their rate further the fewer there are. */
static void
test_between(void **state)
{
	/* 2 % of the limit are for that work, and 2.65 % for 88 ticks per second. */
	const struct simulation sim = { .rate_hz = 100,
					.max_overhead = 5,
					.tick_s = 300e-6,
					.first_s = 300e-6,
					.between_s = 10e-3 };

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		const struct outcome outcome = simulate(&sim, 20, seed, 0);

		assert_true(outcome.used_s <= 0.05 * 20 + sim.between_s);
		assert_true((double)outcome.ticks >= 0.85 * 88 * 20);
	}
}

/* Later ticks pay for the first one, for a second at most; nothing lowers the rate below 1 Hz. */
static void
test_first_tick(void **state)
{
	struct simulation sim = {
		.rate_hz = 100, .max_overhead = 5, .tick_s = 100e-6, .first_s = 20e-3
	};
	struct outcome outcome = simulate(&sim, 4, 1, 0);

	(void)state;
	assert_true(outcome.worst_s <= 0.05);
	assert_in_range(outcome.ticks, 330, 390);
	sim.first_s = 2;
	outcome = simulate(&sim, 10, 1, 1);
	assert_true(outcome.worst_s <= 0.05);
	assert_true(outcome.ticks > 600);
	sim.first_s = sim.tick_s = 0.5;
	assert_true(simulate(&sim, 20, 1, 0).ticks >= 12);
}

/* Returns the largest total of stops, in seconds, within any 10 s, with a limit of 1 %, a rate of
 * 1000 Hz and stops that all take stop_s. */
static double
worst_ten_seconds(double stop_s, double seconds)
{
	const struct sampler_config config = {
		.rate_hz = 1000, .max_overhead = 100, .max_stopped = 1, .jitter = true
	};
	struct pace_clock clock = { .now_ns = NS_PER_SEC };
	const uint64_t end_ns = clock.now_ns + (uint64_t)(seconds * 1e9);
	struct run_stats stats = { .ticks = 0 };
	double worst = 0, sum = 0;
	size_t first = 0, ticks = 0;
	struct pace pace;
	struct rng rng;

	rng_seed(&rng, 1);
	histogram_init(&stats.stop_ns);
	pace_start(&pace, &config, NULL, &rng, &clock);
	while (pace.due_ns < end_ns) {
		if (clock.now_ns < pace.due_ns)
			clock.now_ns = pace.due_ns;
		assert_true(ticks < sizeof(began_s) / sizeof(*began_s));
		began_s[ticks] = (double)clock.now_ns / 1e9;
		cost_s[ticks] = 0;
		pace_begin(&pace, &clock);
		if (pace_may_stop(&pace, clock.now_ns)) {
			/* two threads */
			histogram_add(&stats.stop_ns, (uint64_t)(stop_s * 1e9));
			histogram_add(&stats.stop_ns, (uint64_t)(stop_s * 1e9));
			cost_s[ticks] = stop_s;
			clock.now_ns += (uint64_t)(stop_s * 1e9);
		}
		sum += cost_s[ticks];
		for (; began_s[ticks] - began_s[first] >= 10.0; first++)
			sum -= cost_s[first];
		worst = fmax(worst, sum);
		ticks++;
		stats.ticks++;
		pace_end(&pace, &stats, &clock);
		/* No tick is delayed by more than 50 ms; 1 ms is the mean interval. */
		assert_true(pace.due_ns <= clock.now_ns + 70 * NS_PER_MS);
	}
	assert_true(stop_s <= 5e-6 || pace.stop_delays > 0);
	return worst;
}

/* --max-stopped 1: in any 10 s stops take at most 0.2 s, if a stop takes 20 us to 180 ms. */
static void
test_max_stopped(void **state)
{
	(void)state;
	assert_true(worst_ten_seconds(20e-6, 20) > 0.08);
	assert_true(worst_ten_seconds(20e-6, 20) <= 0.11);
	assert_true(worst_ten_seconds(5e-3, 60) <= 0.12);
	assert_true(worst_ten_seconds(0.18, 60) <= 0.2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rate),      cmocka_unit_test(test_rate_reached),
		cmocka_unit_test(test_intervals), cmocka_unit_test(test_limit),
		cmocka_unit_test(test_thin),      cmocka_unit_test(test_between),
		cmocka_unit_test(test_first_tick), cmocka_unit_test(test_max_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
