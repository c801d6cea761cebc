/* SPDX-License-Identifier: MIT */
/*
 * test_causal_curve.c - curves of programs whose answer is known: what comes out is that, drift or
 * not, and the intervals hold the truth as often as they say.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../scene/causal_scene.h"
#include "wallsample/causal/causal_curve.h"

#define SEED 7

static const double six[] = { 0, 0.1, 0.25, 0.5, 0.75, 1 };
static const double three[] = { 0, 0.25, 1 };
static const double two[] = { 0, 0.5 };

/* Candidate 0 helps, 1 does nothing, 2 hurts, 3 is cut off at a half, as of two that run side by
 * side. */
static double
truth(size_t candidate, double speedup)
{
	switch (candidate) {
	case 0:
		return 0.3 * speedup;
	case 2:
		return -0.2 * speedup;
	case 3:
		return fmin(0.25, 0.5 * speedup);
	default:
		return 0;
	}
}

static const struct causal_scene steady = {
	.rate = 400,
	.scatter = 0.03,
	.candidates = 4,
	.speedups = six,
	.speedup_count = ARRAY_SIZE(six),
	.repeats = 20,
	.gain = truth,
};

static void
make(const struct causal_scene *scene, struct causal_result *result, struct causal_curves *curves)
{
	struct rng rng;

	rng_seed(&rng, SEED);
	causal_scene_run(scene, &rng, result);
	causal_curves_make(result, SEED, curves);
}

static void
release(struct causal_result *result, struct causal_curves *curves)
{
	causal_curves_release(curves);
	causal_result_release(result);
}

/* Of the only point. */
static const struct causal_curve *
curve_of(const struct causal_curves *curves, uint32_t candidate)
{
	size_t i = 0;

	while (i + 1 < curves->count && curves->curve[i].candidate != candidate)
		i++;
	assert_int_equal(curves->curve[i].candidate, candidate);
	return &curves->curve[i];
}

/* Within 3.5 deviations, by the interval that it has itself. */
static void
assert_near(double truly, double middle, double low, double high)
{
	assert_true(low <= middle && middle <= high);
	if (fabs(middle - truly) > 3.5 / 1.96 * (high - low) / 2)
		fail_msg("%.4f is not near %.4f to %.4f", truly, low, high);
}

static void
assert_curves_true(const struct causal_curves *curves, size_t candidates)
{
	for (uint32_t c = 0; c < candidates; c++) {
		const struct causal_curve *curve = curve_of(curves, c);

		for (size_t s = 1; s < curve->gain_count; s++) {
			const struct causal_gain *gain = &curve->gain[s];

			assert_true(gain->known);
			assert_near(truth(c, gain->speedup), gain->gain, gain->low, gain->high);
		}
		assert_true(curve->gain[0].known && curve->gain[0].gain == 0);
		assert_true(curve->gain[0].low == 0 && curve->gain[0].high == 0);
	}
}

static void
verdicts_and_order(void **state)
{
	struct causal_result result;
	struct causal_curves curves;

	(void)state;
	make(&steady, &result, &curves);
	assert_int_equal(curves.count, 4);
	assert_curves_true(&curves, 4);
	assert_int_equal(curves.curve[0].candidate, 3); /* 0.5 at first, then flat: 0.33 */
	assert_int_equal(curves.curve[1].candidate, 0);
	assert_int_equal(curves.curve[2].candidate, 1);
	assert_int_equal(curves.curve[3].candidate, 2);
	assert_string_equal(causal_verdict_word(curves.curve[0].verdict), "helps");
	assert_string_equal(causal_verdict_word(curves.curve[1].verdict), "helps");
	assert_string_equal(causal_verdict_word(curves.curve[2].verdict), "nothing");
	assert_string_equal(causal_verdict_word(curves.curve[3].verdict), "hurts");
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(curves.curve[i].shown, 3);
		assert_int_equal(curves.curve[i].gain[3].experiments, 20);
		assert_int_equal(curves.curve[i].gain[0].experiments, 400);
	}
	assert_true(fabs(curves.rate[0] - 400) < 400 * 0.01);
	release(&result, &curves);
}

static void
the_same_again(void **state)
{
	struct causal_result result;
	struct causal_curves first, second;

	(void)state;
	make(&steady, &result, &first);
	causal_curves_make(&result, SEED, &second);
	assert_memory_equal(first.curve, second.curve, first.count * sizeof(*first.curve));
	causal_curves_release(&second);
	release(&result, &first);
}

/* A rate that is half as high again at the end: all that was found is still true. */
static void
drift_cancels(void **state)
{
	struct causal_scene scene = steady;
	struct causal_result result;
	struct causal_curves curves;

	(void)state;
	scene.scatter = 0;
	scene.fixed = true;
	for (int fall = 0; fall < 2; fall++) {
		scene.drift = fall ? -1.0 / 3 : 0.5;
		make(&scene, &result, &curves);
		for (uint32_t c = 0; c < 4; c++) {
			const struct causal_curve *curve = curve_of(&curves, c);

			for (size_t s = 1; s < curve->gain_count; s++)
				assert_true(fabs(curve->gain[s].gain -
						 truth(c, curve->gain[s].speedup)) < 0.002);
		}
		release(&result, &curves);
	}
}

static void
latency_points(void **state)
{
	struct causal_scene scene = steady;
	struct causal_result result;
	struct causal_curves curves;

	(void)state;
	scene.latency = true;
	scene.independent = true;
	scene.drift = 0.5;
	make(&scene, &result, &curves);
	assert_curves_true(&curves, 4);
	assert_int_equal(curve_of(&curves, 0)->verdict, CAUSAL_HELPS);
	assert_int_equal(curve_of(&curves, 2)->verdict, CAUSAL_HURTS);
	/* 20 ms, a quarter more in the mean of the drift */
	assert_true(fabs(curves.latency_ns[0] - 25e6) < 1e6);
	release(&result, &curves);
}

static double
all_of_it(size_t candidate, double speedup)
{
	return candidate == 0 ? speedup : 0;
}

/*
 * Of a latency nothing may be left, and samples of nothing are as often below it as above. The
 * intervals of others are none the worse for that.
 */
static void
latency_of_nothing(void **state)
{
	struct causal_scene scene = steady;
	struct causal_result result;
	struct causal_curves curves;
	const struct causal_gain *gain;
	double half[2];
	bool below = false;

	(void)state;
	scene.latency = true;
	scene.independent = true;
	scene.sampled = 0.01;
	for (int i = 0; i < 2; i++) {
		scene.gain = i == 0 ? truth : all_of_it;
		make(&scene, &result, &curves);
		gain = &curve_of(&curves, 1)->gain[5];
		assert_near(0, gain->gain, gain->low, gain->high);
		half[i] = (gain->high - gain->low) / 2;
		if (i == 0)
			release(&result, &curves);
	}
	assert_true(half[1] < 1.2 * half[0]);
	for (size_t i = 0; i < result.experiment_count; i++)
		below |= result.experiment[i].reading[0].in_progress_ns < 0;
	assert_true(below);
	gain = &curve_of(&curves, 0)->gain[5];
	assert_true(gain->known && gain->gain <= 1 && gain->high <= 1);
	assert_true(gain->gain > 0.99 && gain->low < gain->gain && gain->low > 0.95);
	assert_int_equal(curve_of(&curves, 0)->verdict, CAUSAL_HELPS);
	release(&result, &curves);
}

/* Of what is rarely in progress samples may find none at all, and then know little. */
static void
latency_unseen(void **state)
{
	struct causal_scene scene = steady;
	struct causal_result result;
	struct causal_curves curves;
	const struct causal_gain *gain;
	struct rng rng;
	double seen = 0;

	(void)state;
	scene.latency = true;
	scene.candidates = 1;
	scene.speedups = two;
	scene.speedup_count = ARRAY_SIZE(two);
	scene.repeats = 3;
	rng_seed(&rng, SEED);
	causal_scene_run(&scene, &rng, &result);
	for (size_t i = 0; i < result.experiment_count; i++) {
		struct causal_experiment *made = &result.experiment[i];

		/* as if one look in three experiments at 0 had seen something, and no other */
		made->reading[0].in_progress_ns = made->speedup == 0 && seen++ == 0 ? 5e6 : 0;
	}
	causal_curves_make(&result, SEED, &curves);
	gain = &curve_of(&curves, 0)->gain[1];
	assert_true(gain->known);
	assert_true(gain->low < 0.5);
	assert_int_equal(curve_of(&curves, 0)->verdict, CAUSAL_UNSURE);
	release(&result, &curves);
}

/* Two experiments at each say nothing, whatever they found. */
static void
too_few(void **state)
{
	struct causal_scene scene = steady;
	struct causal_result result;
	struct causal_curves curves;

	(void)state;
	scene.repeats = CAUSAL_EXPERIMENTS_LEAST - 1;
	make(&scene, &result, &curves);
	for (uint32_t c = 0; c < 4; c++) {
		const struct causal_curve *curve = curve_of(&curves, c);

		assert_int_equal(curve->candidate, curves.curve[c].candidate);
		assert_int_equal(curve->verdict, CAUSAL_UNSURE);
		assert_int_equal(curve->shown, 0);
		assert_false(curve->gain[1].known);
		assert_int_equal(curve->gain[1].experiments, 2);
		assert_true(isinf(causal_margin(&result, c, 1, 0)));
	}
	release(&result, &curves);
}

/* Wide intervals around 0 are not "nothing", and come last, steep or not. */
static void
unsure_is_last(void **state)
{
	struct causal_scene scene = steady;
	struct causal_result result;
	struct causal_curves curves;
	size_t sure = 0;

	(void)state;
	scene.scatter = 0.3;
	scene.repeats = 3;
	make(&scene, &result, &curves);
	assert_int_equal(curve_of(&curves, 1)->verdict, CAUSAL_UNSURE);
	while (sure < curves.count && curves.curve[sure].verdict != CAUSAL_UNSURE)
		sure++;
	for (size_t i = sure; i < curves.count; i++)
		assert_int_equal(curves.curve[i].verdict, CAUSAL_UNSURE);
	release(&result, &curves);
}

/* What was cut short or stalled, and what could not be so, changes no curve. */
static void
only_whole_ones(void **state)
{
	struct causal_result result;
	struct causal_curves before, after;

	(void)state;
	make(&steady, &result, &before);
	for (int i = 0; i < 60; i++) {
		struct causal_experiment *made = causal_result_add_experiment(&result);

		made->candidate = i % 6 == 0 ? 77 : 1;
		made->speedup = i % 6 == 1 ? 0.33 : 0.5;
		made->wall_ns = NS_PER_SEC;
		made->held_ns = i % 6 == 2 ? NS_PER_SEC : 0;
		made->reading[0].count = 5000;
		made->end = i % 6 == 3 ? CAUSAL_STALLED : i % 6 > 3 ? CAUSAL_CUT : CAUSAL_WHOLE;
	}
	causal_curves_make(&result, SEED, &after);
	assert_memory_equal(before.curve, after.curve, before.count * sizeof(*before.curve));
	causal_curves_release(&after);
	release(&result, &before);
}

/* Nothing, no progress at all, and one value for all: no division by what is not there. */
static void
empty_and_even(void **state)
{
	struct causal_scene scene = { .rate = 1000, .fixed = true, .candidates = 1,
				      .speedups = two, .speedup_count = 2, .repeats = 4,
				      .gain = truth };
	struct causal_result result;
	struct causal_curves curves;

	(void)state;
	causal_result_init(&result);
	causal_curves_make(&result, SEED, &curves);
	assert_int_equal(curves.count, 0);
	release(&result, &curves);
	make(&scene, &result, &curves);
	for (size_t i = 0; i < result.experiment_count; i++) {
		struct causal_experiment *made = &result.experiment[i];

		made->reading[0].count = made->speedup > 0 ? 1100 : 1000;
	}
	causal_curves_release(&curves);
	causal_curves_make(&result, SEED, &curves);
	assert_true(fabs(curves.curve[0].gain[1].gain - 0.1) < 1e-9);
	/* to the event, but no better */
	assert_true(curves.curve[0].gain[1].high - curves.curve[0].gain[1].low > 0.0005);
	for (size_t i = 0; i < result.experiment_count; i++)
		result.experiment[i].reading[0].count = 0;
	causal_curves_release(&curves);
	causal_curves_make(&result, SEED, &curves);
	assert_false(curves.curve[0].gain[1].known);
	assert_int_equal(curves.curve[0].verdict, CAUSAL_UNSURE);
	release(&result, &curves);
}

/* The plan asks for what the report will say: the two agree within a quarter. */
static void
margin_is_half_of_it(void **state)
{
	struct causal_result result;
	struct causal_curves curves;

	(void)state;
	make(&steady, &result, &curves);
	for (uint32_t c = 0; c < 4; c++) {
		for (size_t s = 1; s < ARRAY_SIZE(six); s++) {
			const struct causal_gain *gain = &curve_of(&curves, c)->gain[s];
			const double half = (gain->high - gain->low) / 2;

			assert_true(fabs(causal_margin(&result, c, s, 0) / half - 1) < 0.25);
		}
	}
	assert_true(causal_margin(&result, 0, 0, 0) == 0);
	assert_true(isinf(causal_margin(&result, 9, 1, 0)));
	release(&result, &curves);
}

/* Ticks cost the program time that nobody has seen; whether experiments tell of ticks or not. */
static void
cost_ticks(struct causal_result *result, uint64_t cost_ns, bool told)
{
	for (size_t i = 0; i < result->experiment_count; i++) {
		struct causal_experiment *made = &result->experiment[i];

		made->ticks = made->wall_ns / (5 * NS_PER_MS);
		made->wall_ns += made->ticks * cost_ns;
		made->ticks = told ? made->ticks : 0;
	}
}

/* The usual cost of a tick, 12 us, is no part of the virtual time. */
static void
usual_cost_of_ticks(void **state)
{
	const struct causal_scene scene = { .rate = 400, .candidates = 4, .speedups = six,
					    .speedup_count = ARRAY_SIZE(six), .repeats = 20,
					    .gain = truth };
	struct causal_result result;
	struct causal_curves curves;

	(void)state;
	make(&scene, &result, &curves);
	causal_curves_release(&curves);
	cost_ticks(&result, 12 * NS_PER_US, true);
	causal_curves_make(&result, SEED, &curves);
	for (uint32_t c = 0; c < 4; c++)
		for (size_t s = 1; s < ARRAY_SIZE(six); s++)
			assert_true(fabs(curve_of(&curves, c)->gain[s].gain - truth(c, six[s])) <
				    0.001);
	release(&result, &curves);
}

/* More experiments do not reduce the error that an unusual cost of ticks causes, and the plan does
 * not wait for that. The interval includes the truth where experiments have more ticks in virtual
 * time than those at speed-up 0. */
static void
unseen_cost_of_ticks(void **state)
{
	const struct causal_scene scene = { .rate = 400, .candidates = 4, .speedups = six,
					    .speedup_count = ARRAY_SIZE(six), .repeats = 20,
					    .gain = truth };

	(void)state;
	for (int told = 0; told < 2; told++) {
		struct causal_result result;
		struct causal_curves curves;
		size_t inside = 0;

		make(&scene, &result, &curves);
		const double margin = causal_margin(&result, 0, 5, 0);
		cost_ticks(&result, 20 * NS_PER_US, told != 0);
		assert_true(fabs(causal_margin(&result, 0, 5, 0) / margin - 1) < 0.5);
		causal_curves_release(&curves);
		causal_curves_make(&result, SEED, &curves);
		for (uint32_t c = 0; c < 4; c++) {
			const struct causal_gain *gain = &curve_of(&curves, c)->gain[5];

			assert_true(gain->gain < truth(c, 1) - (told != 0 ? 0.001 : 0.003));
			assert_true(gain->low < gain->gain && gain->gain < gain->high);
			inside += gain->low <= truth(c, 1) && truth(c, 1) <= gain->high;
		}
		assert_int_equal(inside, told != 0 ? 4 : 0);
		if (told != 0)
			assert_curves_true(&curves, 3); /* slopes of the straight ones, too */
		release(&result, &curves);
	}
}

/* --- coverage --------------------------------------------------------------------------------- */

struct covered {
	size_t gains, slopes;  /* how many there were */
	size_t gains_in, slopes_in;
	double half;           /* sum of half widths of gains */
};

static void
cover(const struct causal_scene *scene, struct rng *rng, struct covered *covered)
{
	struct causal_result result;
	struct causal_curves curves;

	causal_scene_run(scene, rng, &result);
	causal_curves_make(&result, SEED, &curves);
	for (size_t i = 0; i < curves.count; i++) {
		const struct causal_curve *curve = &curves.curve[i];
		const double slope = truth(curve->candidate, 1);

		for (size_t s = 1; s < curve->gain_count; s++) {
			const struct causal_gain *gain = &curve->gain[s];
			const double gained = truth(curve->candidate, gain->speedup);

			assert_true(gain->known);
			covered->gains++;
			covered->gains_in += gain->low <= gained && gained <= gain->high;
			covered->half += (gain->high - gain->low) / 2;
		}
		covered->slopes++;
		covered->slopes_in += curve->slope_low <= slope && slope <= curve->slope_high;
	}
	release(&result, &curves);
}

/* Long ticks add an error to an interval that is proportional to the gain and to tick_ns /
 * burst_ns, up to ticks as long as a burst. Gains and verdicts do not change. */
static void
long_ticks(void **state)
{
	static const struct {
		uint64_t tick_ns;
		double deviation;
	} cases[] = { { NS_PER_MS, 0.02 }, { 2 * NS_PER_MS, 0.04 }, { 50 * NS_PER_MS, 0.04 } };
	struct causal_result result;
	struct causal_curves narrow, wide;

	(void)state;
	make(&steady, &result, &narrow);
	result.burst_ns = 2 * NS_PER_MS;
	for (size_t i = 0; i < ARRAY_SIZE(cases) * 4; i++) {
		const struct causal_curve *a = curve_of(&narrow, i % 4), *b;

		result.tick_ns = cases[i / 4].tick_ns;
		causal_curves_make(&result, SEED, &wide);
		b = curve_of(&wide, i % 4);
		assert_int_equal(a->verdict, b->verdict);
		assert_true(b->slope == a->slope);
		for (size_t s = 1; s < a->gain_count; s++) {
			const struct causal_gain *had = &a->gain[s], *has = &b->gain[s];
			const double shared = 1.96 * cases[i / 4].deviation * has->gain;

			assert_true(has->gain == had->gain);
			assert_true(fabs(has->high - has->gain -
					 hypot(had->high - had->gain, shared)) < 1e-9);
			assert_true(fabs(has->gain - has->low -
					 hypot(had->gain - had->low, shared)) < 1e-9);
		}
		assert_true(b->slope_high > a->slope_high && b->slope_low < a->slope_low);
		causal_curves_release(&wide);
	}
	release(&result, &narrow);
}

/*
 * 500 runs of each. The truth of the first three candidates is straight, so that their slope is
 * known too. Where events are even and experiments begin and end at one the intervals are too wide:
 * they are made for counts that begin and end anywhere. So there more may be covered.
 */
static void
truth_is_inside(void **state)
{
	static const struct {
		const char *name;
		struct causal_scene scene;
	} cases[] = {
#define CASE(name, list, n, ...)                                               \
	{ name, { .speedups = list, .speedup_count = ARRAY_SIZE(list), .repeats = n, __VA_ARGS__ } }
		CASE("3 of 20 independent events", two, 3, .rate = 18, .independent = true),
		CASE("5 of 20 independent events, drift", six, 5, .rate = 18, .independent = true,
		     .drift = 0.5),
		CASE("20 of 20 independent events, drift", three, 20, .rate = 18,
		     .independent = true, .drift = 0.5),
		CASE("3 of 20 even events", six, 3, .rate = 18.3, .fixed = true),
		CASE("20 of 20 even events, drift", three, 20, .rate = 18.3, .fixed = true,
		     .drift = 0.5),
		CASE("3 that begin and end at an event", six, 3, .rate = 18.3),
		CASE("3 with scatter", two, 3, .rate = 200, .scatter = 0.05),
		CASE("4 with scatter and drift", six, 4, .rate = 200, .scatter = 0.05,
		     .drift = 0.5),
		CASE("3 latencies, drift", six, 3, .rate = 30, .independent = true, .latency = true,
		     .drift = 0.5),
		CASE("5 latencies by samples", six, 5, .rate = 30, .independent = true,
		     .latency = true, .sampled = 0.03),
		CASE("20 latencies, drift", three, 20, .rate = 30, .independent = true,
		     .latency = true, .drift = 0.5),
#undef CASE
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct causal_scene scene = cases[i].scene;
		const bool at_events = !scene.fixed && !scene.independent && scene.scatter == 0;
		struct covered all = { 0 };
		double gains, slopes;
		struct rng rng;

		scene.candidates = scene.speedup_count > 2 ? 3 : 1;
		scene.gain = truth;
		rng_seed(&rng, SEED + i);
		for (int run = 0; run < 500; run++)
			cover(&scene, &rng, &all);
		gains = (double)all.gains_in / (double)all.gains;
		slopes = (double)all.slopes_in / (double)all.slopes;
		print_message("%s: gains %.1f %% (half width %.3f), slopes %.1f %%\n",
			      cases[i].name, 100 * gains, all.half / (double)all.gains,
			      100 * slopes);
		assert_true(gains >= 0.9 && slopes >= 0.9);
		assert_true(at_events || (gains <= 0.99 && slopes <= 0.99));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts_and_order), cmocka_unit_test(the_same_again),
		cmocka_unit_test(drift_cancels),      cmocka_unit_test(latency_points),
		cmocka_unit_test(latency_of_nothing), cmocka_unit_test(latency_unseen),
		cmocka_unit_test(too_few),            cmocka_unit_test(unsure_is_last),
		cmocka_unit_test(only_whole_ones),    cmocka_unit_test(empty_and_even),
		cmocka_unit_test(margin_is_half_of_it), cmocka_unit_test(usual_cost_of_ticks),
		cmocka_unit_test(unseen_cost_of_ticks), cmocka_unit_test(long_ticks),
		cmocka_unit_test(truth_is_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
