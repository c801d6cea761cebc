/* SPDX-License-Identifier: MIT */
/* test_recording_causal.c - what experiments found comes back from a recording, or is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../scene/causal_scene.h"
#include "../scene/recording_scene.h"
#include "wallsample/causal/causal_curve.h"

static double
half_of_it(size_t candidate, double speedup)
{
	return candidate == 0 ? speedup / 2 : 0;
}

/* Two candidates, three speed-ups, two points; the last experiments did not end well. */
static void
make_result(struct causal_result *result)
{
	static const double speedups[] = { 0, 0.25, 1 };
	const struct causal_scene scene = { .rate = 100, .scatter = 0.02, .candidates = 2,
					    .speedups = speedups, .speedup_count = 3,
					    .repeats = 5, .gain = half_of_it };
	struct rng rng;

	rng_seed(&rng, 3);
	causal_scene_run(&scene, &rng, result);
	causal_result_add_point(result, "answer", "begin:func:a,end:func:b", CAUSAL_LATENCY);
	for (size_t i = 0; i < result->experiment_count; i++) {
		result->experiment[i].reading[1] = (struct causal_reading){ 0.5 + (double)i, 1e15 };
		result->experiment[i].chosen = result->experiment[i].ticks / 3;
	}
	result->experiment[4].reading[1].in_progress_ns = -5e6;
	result->experiment[result->experiment_count - 2].end = CAUSAL_STALLED;
	result->experiment[result->experiment_count - 1].end = CAUSAL_CUT;
	result->experiment[result->experiment_count - 1].wall_ns = 0;
	result->candidate[1].file = strdup("server/parse.c");
	result->candidate[1].line = UINT32_MAX;
	result->candidate[1].share = 1;
	result->candidate[1].self_share = 0.1;
	result->unit = CAUSAL_BY_LINE;
	result->self = true;
	result->tick_ns = 5 * NS_PER_MS;
	result->burst_ns = 9 * NS_PER_MS;
	result->experiment_ns = NS_PER_SEC;
	result->max_hold = 0.5;
	result->pid = 4711;
	result->command = strdup("server");
	result->started_ns = UINT64_C(1795363200123456789);
	result->wall_ns = 20 * NS_PER_SEC + 1;
	result->held_ns = 3 * NS_PER_SEC;
	result->profile_ns = 3 * NS_PER_SEC;
	result->stops = 12345;
	result->late_ticks = 6;
	result->unheld = 7;
	result->runnable = 1.75;
	result->cpus = 2;
	result->own_cpu_ns = 99 * NS_PER_MS;
	result->target_gone = true;
}

static void
record(const struct place *place, const struct causal_result *result)
{
	uint32_t worker, idle;
	struct profile *profile = make_profile(&worker, &idle);
	struct modules *modules = modules_create();
	struct recorder *recorder = record_in(place, profile, modules);
	struct error err;

	sample_ticks(profile, worker, idle, 100);
	assert_int_equal(recorder_put_causal(recorder, result, &err), 0);
	assert_int_equal(recorder_finish(recorder, &no_stats, RUN_END_DURATION, NULL, &err), 0);
	recorder_free(recorder);
	profile_free(profile);
	modules_free(modules);
}

static int
read_back(const struct place *place, struct causal_result *out, struct error *err)
{
	struct recording *recording;
	int rc = recording_open(place->path, &recording, err);

	causal_result_init(out);
	if (rc != 0)
		return rc;
	rc = recording_read_causal(recording, out, err);
	recording_close(recording);
	return rc;
}

static void
assert_same_parts(const struct causal_result *a, const struct causal_result *b)
{
	assert_int_equal(a->point_count, b->point_count);
	for (size_t i = 0; i < a->point_count; i++) {
		assert_string_equal(a->point[i].name, b->point[i].name);
		assert_string_equal(a->point[i].spec, b->point[i].spec);
		assert_int_equal(a->point[i].kind, b->point[i].kind);
	}
	assert_int_equal(a->speedup_count, b->speedup_count);
	assert_memory_equal(a->speedup, b->speedup, sizeof(a->speedup));
	assert_int_equal(a->candidate_count, b->candidate_count);
	for (size_t i = 0; i < a->candidate_count; i++) {
		const struct causal_candidate *x = &a->candidate[i], *y = &b->candidate[i];

		assert_string_equal(x->name, y->name);
		assert_string_equal(x->module, y->module);
		assert_int_equal(x->file == NULL, y->file == NULL);
		assert_true(x->file == NULL || strcmp(x->file, y->file) == 0);
		assert_int_equal(x->line, y->line);
		assert_true(x->share == y->share && x->self_share == y->self_share);
	}
}

static void
assert_same_rest(const struct causal_result *a, const struct causal_result *b)
{
	assert_int_equal(a->unit, b->unit);
	assert_int_equal(a->self, b->self);
	assert_int_equal(a->tick_ns, b->tick_ns);
	assert_int_equal(a->burst_ns, b->burst_ns);
	assert_int_equal(a->experiment_ns, b->experiment_ns);
	assert_true(a->precision == b->precision && a->max_hold == b->max_hold);
	assert_int_equal(a->pid, b->pid);
	assert_string_equal(a->command, b->command);
	assert_int_equal(a->started_ns, b->started_ns);
	assert_int_equal(a->wall_ns, b->wall_ns);
	assert_int_equal(a->held_ns, b->held_ns);
	assert_int_equal(a->profile_ns, b->profile_ns);
	assert_int_equal(a->stops, b->stops);
	assert_int_equal(a->late_ticks, b->late_ticks);
	assert_int_equal(a->unheld, b->unheld);
	assert_true(a->runnable == b->runnable);
	assert_int_equal(a->cpus, b->cpus);
	assert_int_equal(a->own_cpu_ns, b->own_cpu_ns);
	assert_int_equal(a->target_gone, b->target_gone);
}

static void
comes_back(void **state)
{
	struct causal_result made, read;
	struct recording_info info;
	struct place place;
	struct error err;

	(void)state;
	place_make(&place);
	make_result(&made);
	record(&place, &made);
	if (read_back(&place, &read, &err) != 0)
		fail_msg("%s", err.text);
	assert_same_parts(&made, &read);
	assert_same_rest(&made, &read);
	assert_int_equal(made.experiment_count, 40);
	assert_int_equal(read.experiment_count, 40);
	assert_memory_equal(made.experiment, read.experiment, 40 * sizeof(*made.experiment));
	/* It is a recording of samples, too. */
	profile_free(load(place.path, NULL, &info));
	assert_true(info.causal && info.ticks == 100);
	/* At 0, and two candidates at two speed-ups, of two points. */
	assert_int_equal(ask(place.path, "SELECT count(*) FROM causal_rates"), 10);
	assert_int_equal(ask(place.path, "SELECT sum(experiments) FROM causal_rates "
					 "WHERE point = 'requests'"), 38);
	causal_result_release(&made);
	causal_result_release(&read);
	place_remove(&place);
}

static void
there_is_none(void **state)
{
	struct causal_result read;
	struct recording_info info;
	struct place place;
	struct error err;

	(void)state;
	place_make(&place);
	make_recording(&place, 100, true);
	profile_free(load(place.path, NULL, &info));
	assert_false(info.causal);
	assert_true(read_back(&place, &read, &err) != 0);
	assert_int_equal(err.kind, ERROR_FORMAT);
	assert_non_null(strstr(err.text, "has no causal profile"));
	assert_int_equal(read.experiment_count, 0);
	place_remove(&place);
}

/* An experiment more than there may be; the rows are cheap to make. */
#define TOO_MANY                                                                                 \
	"WITH RECURSIVE more(n) AS (SELECT 40 UNION ALL SELECT n + 1 FROM more WHERE n < 100000) " \
	"INSERT INTO causal_experiments SELECT n, 0, 0.0, 1 << 50, 1, 0, 0, 0, 'whole' FROM more"
#define MANY_CANDIDATES                                                                          \
	"WITH RECURSIVE more(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM more WHERE n < 64) "     \
	"INSERT INTO causal_candidates SELECT n, 'x', '', NULL, 0, 0, 0 FROM more"
#define MANY_SPEEDUPS                                                                            \
	"UPDATE causal_speedups SET speedup = n / 100.0; "                                       \
	"WITH RECURSIVE more(n) AS (SELECT 3 UNION ALL SELECT n + 1 FROM more WHERE n < 16) "     \
	"INSERT INTO causal_speedups SELECT n, n / 100.0 FROM more"
#define MANY_POINTS                                                                              \
	"WITH RECURSIVE more(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM more WHERE n < 8) "      \
	"INSERT INTO causal_points SELECT n, 'x', 'x', 'throughput' FROM more"

static const struct {
	const char *sql, *table;
} damage[] = {
	{ "UPDATE causal SET value = -1 WHERE key = 'pid'", "causal" },
	{ "UPDATE causal SET value = 'x' WHERE key = 'wall_ns'", "causal" },
	{ "UPDATE causal SET value = 1 << 62 WHERE key = 'held_ns'", "causal" },
	{ "UPDATE causal SET value = 9e999 WHERE key = 'runnable'", "causal" },
	{ "UPDATE causal SET value = 1.5 WHERE key = 'max_hold'", "causal" },
	{ "UPDATE causal SET value = 'galaxy' WHERE key = 'unit'", "causal" },
	{ "UPDATE causal_points SET kind = 'x'", "causal_points" },
	{ "DELETE FROM causal_points WHERE n = 0", "causal_points" },
	{ MANY_POINTS, "causal_points" },
	{ "UPDATE causal_speedups SET speedup = 0.5", "causal_speedups" },
	{ "UPDATE causal_speedups SET speedup = 1.5 WHERE n = 2", "causal_speedups" },
	{ "UPDATE causal_speedups SET speedup = 0.25 WHERE n = 2", "causal_speedups" },
	{ "UPDATE causal_speedups SET speedup = NULL", "causal_speedups" },
	{ MANY_SPEEDUPS, "causal_speedups" },
	{ "UPDATE causal_candidates SET share = 2", "causal_candidates" },
	{ "UPDATE causal_candidates SET self_share = -9e999", "causal_candidates" },
	{ "UPDATE causal_candidates SET line = 1 << 32", "causal_candidates" },
	{ MANY_CANDIDATES, "causal_candidates" },
	{ "DELETE FROM causal_candidates", "causal_experiments" },
	{ "UPDATE causal_experiments SET candidate = 2", "causal_experiments" },
	{ "UPDATE causal_experiments SET candidate = -1", "causal_experiments" },
	{ "UPDATE causal_experiments SET speedup = 1.01", "causal_experiments" },
	{ "UPDATE causal_experiments SET speedup = 'x'", "causal_experiments" },
	{ "UPDATE causal_experiments SET began_ns = 5 WHERE n = 9", "causal_experiments" },
	{ "UPDATE causal_experiments SET wall_ns = 1 << 61", "causal_experiments" },
	{ "UPDATE causal_experiments SET held_ns = wall_ns", "causal_experiments" },
	{ "UPDATE causal_experiments SET chosen = ticks + 1", "causal_experiments" },
	{ "UPDATE causal_experiments SET ending = 'x'", "causal_experiments" },
	{ "DELETE FROM causal_experiments WHERE n = 3", "causal_experiments" },
	{ TOO_MANY, "causal_experiments" },
	{ "UPDATE causal_readings SET count = -1", "causal_readings" },
	{ "UPDATE causal_readings SET count = 9e999", "causal_readings" },
	{ "UPDATE causal_readings SET count = NULL", "causal_readings" },
	{ "UPDATE causal_readings SET in_progress_ns = 1e300", "causal_readings" },
	{ "UPDATE causal_readings SET in_progress_ns = -1e300", "causal_readings" },
	{ "DELETE FROM causal_readings WHERE experiment = 39", "causal_readings" },
	{ "DELETE FROM causal_readings WHERE experiment = 7 AND point = 1",
	  "causal_readings" },
	{ "INSERT INTO causal_readings VALUES(40, 0, 1, 1)", "causal_readings" },
	{ "INSERT INTO causal_readings VALUES(-1, 0, 1, 1)", "causal_readings" },
	{ "DROP TABLE causal_readings", "causal_readings" },
	{ "DROP VIEW causal_rates; DROP TABLE causal_points; "
	  "CREATE VIEW causal_points AS SELECT 1 AS n", "causal_points" },
};

static void
hostile_rows(void **state)
{
	struct causal_result made, read;
	struct place place;
	struct error err;

	(void)state;
	place_make(&place);
	make_result(&made);
	for (size_t i = 0; i < ARRAY_SIZE(damage); i++) {
		char quoted[64];

		record(&place, &made);
		change(place.path, damage[i].sql);
		if (read_back(&place, &read, &err) == 0)
			fail_msg("taken: %s", damage[i].sql);
		snprintf(quoted, sizeof(quoted), "its table '%s' ", damage[i].table);
		if (err.kind != ERROR_FORMAT || strstr(err.text, quoted) == NULL)
			fail_msg("'%s' after %s", err.text, damage[i].sql);
		assert_int_equal(read.candidate_count + read.experiment_count, 0);
	}
	causal_result_release(&made);
	place_remove(&place);
}

/* What has no row is not known; nothing but that. */
static void
missing_keys(void **state)
{
	struct causal_result made, read;
	struct place place;
	struct error err;

	(void)state;
	place_make(&place);
	make_result(&made);
	record(&place, &made);
	change(place.path, "DELETE FROM causal WHERE key != 'unit'; "
			   "INSERT INTO causal VALUES('colour', 'blue')");
	assert_int_equal(read_back(&place, &read, &err), 0);
	assert_null(read.command);
	assert_int_equal(read.wall_ns, 0);
	assert_same_parts(&made, &read);
	causal_result_release(&made);
	causal_result_release(&read);
	place_remove(&place);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),
		cmocka_unit_test(there_is_none),
		cmocka_unit_test(hostile_rows),
		cmocka_unit_test(missing_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
