/* SPDX-License-Identifier: MIT */
/* test_gil_time.c - who had an interpreter's lock when: what timelines show of a recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "wallsample/report/timeline.h"
#include "wallsample/format/exporters.h"
#include "wallsample/report/timeline_bins.h"
#include "../scene/golden.h"
#include "../scene/recording_scene.h"
#include "wallsample/base/base.h"

#define TICKS 30
#define PIDS 4194304 /* more than there can be */
#define STATES (1 << 30) /* from the track of a thread to that with its states */

static const struct filter all;

/* --- what is recorded -------------------------------------------------------------------- */

static void
tell(struct profile *profile, uint32_t thread, enum run_state state, enum gil gil)
{
	const struct profile_entry entry = {
		.thread = thread,
		.stack = profile_intern_stack(profile, profile_intern_named(profile, "f"),
					      STACK_NONE),
		.state = state,
		.syscall = (int32_t)(state == RUN_SLEEPING ? syscall_number("futex") :
							     SYSCALL_NONE),
		.gil = gil,
		.samples = 1,
		.ns[WEIGHT_WALL] = TICK,
	};

	profile_add(profile, &entry);
}

/*
 * The worker has the lock for ten ticks, then the other one, to whom it was handed over, then the
 * worker again. At tick 20 both were seen to have it.
 */
static void
sample(struct profile *profile, uint32_t worker, uint32_t other)
{
	for (int tick = 0; tick < TICKS; tick++) {
		if (tick < 10 || tick >= 20)
			tell(profile, worker, RUN_RUNNING, GIL_HAS);
		else
			tell(profile, worker, tick == 10 ? RUN_QUEUED : RUN_SLEEPING,
			     tick == 10 ? GIL_HANDOVER : GIL_WAIT);
		if (tick >= 10 && tick <= 20)
			tell(profile, other, RUN_RUNNING, GIL_HAS);
		else
			tell(profile, other, RUN_SLEEPING, tick < 10 ? GIL_WAIT : GIL_NONE);
		profile_add_tick(profile, TICK, 1, 1);
	}
}

struct scene {
	struct place place;
	struct recording *recording;
	struct profile *profile;
	struct process process;
	struct run_stats stats;
	struct error error;
	struct export_input input;
};

static int
set_up(void **state)
{
	struct scene *scene = xcalloc(1, sizeof(*scene));
	uint32_t worker, other;
	struct profile *profile = make_profile(&worker, &other);
	struct modules *modules = modules_create();
	struct recording_load to = { .profile = profile_create() };
	struct recorder *recorder;

	place_make(&scene->place);
	recorder = record_in(&scene->place, profile, modules);
	sample(profile, worker, other);
	assert_int_equal(recorder_finish(recorder, &no_stats, RUN_END_STOPPED, NULL,
					 &scene->error), 0);
	recorder_free(recorder);
	profile_free(profile);
	modules_free(modules);
	assert_int_equal(recording_open(scene->place.path, &scene->recording, &scene->error), 0);
	assert_int_equal(recording_load(scene->recording, &to, &scene->error), 0);
	scene->profile = to.profile;
	scene->process = (struct process){ .pid = 77, .cmdline = (char *)"python3" };
	scene->input = (struct export_input){
		.view = view_create(scene->profile, NULL, &all, VIEW_BY_FUNCTION),
		.recordings = &scene->recording, .recording_count = 1,
		.process = &scene->process, .stats = &scene->stats, .error = &scene->error,
		.limit = 20, .thread_limit = 8, .columns = 80,
	};
	*state = scene;
	return 0;
}

static int
tear_down(void **state)
{
	struct scene *scene = *state;

	view_free((struct view *)(uintptr_t)scene->input.view);
	recording_close(scene->recording);
	profile_free(scene->profile);
	place_remove(&scene->place);
	free(scene);
	return 0;
}

static char *
written(const struct scene *scene, const char *format, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	export_write(exporter_by_name(format), &scene->input, out);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(scene->error.kind, ERROR_NONE);
	return text;
}

/* --- chrome ------------------------------------------------------------------------------ */

struct slice {
	json_int_t tid;
	const char *name;
	json_int_t start_ms, end_ms;
};

static const char *
text_of(json_t *event, const char *key)
{
	const char *text = json_string_value(json_object_get(event, key));

	return text != NULL ? text : "";
}

static json_int_t
number_of(json_t *event, const char *key)
{
	return json_integer_value(json_object_get(event, key));
}

/* Is there this slice, and no other of its track and kind that begins then? */
static void
check_slice(json_t *events, const char *category, const struct slice *slice, uint64_t base_ns)
{
	const json_int_t base_us = (json_int_t)((base_ns + 500) / 1000);
	size_t i, found = 0;
	json_t *event;

	json_array_foreach(events, i, event) {
		const json_int_t from = number_of(event, "ts") - base_us;
		const json_int_t to = from + number_of(event, "dur");

		if (strcmp(text_of(event, "cat"), category) != 0 ||
		    number_of(event, "tid") != slice->tid || (from + 500) / 1000 != slice->start_ms)
			continue;
		assert_string_equal(text_of(event, "name"), slice->name);
		assert_int_equal((to + 500) / 1000, slice->end_ms);
		assert_int_equal(number_of(event, "pid"), 77 + PIDS);
		found++;
	}
	assert_int_equal(found, 1);
}

static size_t
count_slices(json_t *events, const char *category)
{
	size_t i, count = 0;
	json_t *event;

	json_array_foreach(events, i, event)
		count += strcmp(text_of(event, "cat"), category) == 0;
	return count;
}

static void
test_chrome(void **state)
{
	static const struct slice holders[] = {
		{ PIDS, "GIL: worker-78", 0, 100 },
		{ PIDS, "GIL: idle-79", 100, 210 },
		{ PIDS, "GIL: worker-78", 210, 300 },
	}, states[] = {
		{ STATES + 78, "running", 0, 100 },
		{ STATES + 78, "waiting for a CPU (GIL handover)", 100, 110 },
		{ STATES + 78, "sleeping in futex (GIL wait)", 110, 200 },
		{ STATES + 78, "running", 200, 300 },
		{ STATES + 79, "sleeping in futex (GIL wait)", 0, 100 },
		{ STATES + 79, "running", 100, 210 },
		{ STATES + 79, "sleeping in futex", 210, 300 },
	}, stacks[] = {
		/* a function is whole, whatever the states are */
		{ 78, "f", 0, 300 },
		{ 79, "f", 0, 300 },
	};
	const struct scene *scene = *state;
	const uint64_t base_ns = timeline_base(&scene->input, 0);
	size_t size;
	char *text = written(scene, "chrome", &size);
	json_t *trace = json_loads(text, 0, NULL), *events = json_object_get(trace, "traceEvents");

	assert_true(json_is_array(events));
	for (size_t i = 0; i < ARRAY_SIZE(holders); i++)
		check_slice(events, "gil", &holders[i], base_ns);
	assert_int_equal(count_slices(events, "gil"), ARRAY_SIZE(holders));
	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		check_slice(events, "state", &states[i], base_ns);
	assert_int_equal(count_slices(events, "state"), ARRAY_SIZE(states));
	for (size_t i = 0; i < ARRAY_SIZE(stacks); i++)
		check_slice(events, "stack", &stacks[i], base_ns);
	assert_int_equal(count_slices(events, "stack"), ARRAY_SIZE(stacks));
	assert_non_null(strstr(text, "\"worker-78: state\""));
	assert_non_null(strstr(text, "\"server 77, sampled\""));
	/* the clock of the recording, which is CLOCK_MONOTONIC */
	assert_int_equal(base_ns, recording_info(scene->recording)->clock_ns);
	json_decref(trace);
	free(text);
}

/* One that is within another's is not told, and one of another recording or process is apart. */
static void
test_spans(void **state)
{
	static const struct timeline_slice slice[] = {
		{ .thread = 1, .gil = GIL_HAS, .start_ns = 10, .end_ns = 20 },
		{ .thread = 1, .gil = GIL_HAS, .start_ns = 20, .end_ns = 40 },
		{ .thread = 1, .gil = GIL_NONE, .start_ns = 40, .end_ns = 50 },
		{ .thread = 2, .gil = GIL_HAS, .start_ns = 15, .end_ns = 30 },
		{ .thread = 2, .gil = GIL_HAS, .start_ns = 35, .end_ns = 45 },
		{ .thread = 3, .gil = GIL_HAS, .start_ns = 10, .end_ns = 12 },
		{ .thread = 4, .recording = 1, .gil = GIL_HAS, .start_ns = 5, .end_ns = 100 },
		{ .thread = 5, .gil = GIL_HAS, .start_ns = 12, .end_ns = 18 },
	};
	static const struct gil_span expected[] = {
		{ 0, 1, 0, 10, 40 }, { 0, 2, 0, 40, 45 }, { 0, 5, 1, 12, 18 }, { 1, 4, 0, 5, 100 },
	};
	struct gil_spans spans = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(slice); i++)
		gil_spans_add(&spans, &slice[i], slice[i].thread == 5);
	gil_spans_settle(&spans);
	assert_int_equal(spans.count, ARRAY_SIZE(expected));
	for (size_t i = 0; i < spans.count; i++) {
		assert_int_equal(spans.span[i].recording, expected[i].recording);
		assert_int_equal(spans.span[i].thread, expected[i].thread);
		assert_int_equal(spans.span[i].start_ns, expected[i].start_ns);
		assert_int_equal(spans.span[i].end_ns, expected[i].end_ns);
	}
	gil_spans_release(&spans);
}

/* --- the page ------------------------------------------------------------------------------ */

static void
check_bin(const struct timeline_row *row, size_t bin, size_t state, bool held)
{
	for (size_t s = 0; s < TIMELINE_STATES; s++)
		assert_true(row->ns[bin * TIMELINE_STATES + s] == (s == state ? TICK : 0));
	assert_true(row->gil_ns[bin] == (held ? TICK : 0));
}

static void
test_bins(void **state)
{
	const struct scene *scene = *state;
	struct timeline_bins bins;

	timeline_bins_make(&scene->input, TICKS, 10, &bins);
	assert_int_equal(bins.count, TICKS);
	assert_true(bins.has_gil);
	assert_int_equal(bins.row_count, 2);
	assert_int_equal(bins.row[0].thread, 0);
	check_bin(&bins.row[0], 5, RUN_RUNNING, true);
	check_bin(&bins.row[0], 10, RUN_QUEUED, false);
	check_bin(&bins.row[0], 15, TIMELINE_GIL_WAIT, false);
	check_bin(&bins.row[1], 5, TIMELINE_GIL_WAIT, false);
	check_bin(&bins.row[1], 12, RUN_RUNNING, true);
	check_bin(&bins.row[1], 25, RUN_SLEEPING, false);
	timeline_bins_release(&bins);
	/* those that have no row of their own */
	timeline_bins_make(&scene->input, TICKS, 1, &bins);
	assert_int_equal(bins.rest_count, 1);
	check_bin(&bins.rest, 12, RUN_RUNNING, true);
	timeline_bins_release(&bins);
}

static void
test_page(void **state)
{
	const struct scene *scene = *state;
	char *page;
	size_t size;

	if (exporter_by_name("html")->absent != NULL)
		skip();
	page = written(scene, "html", &size);
	assert_non_null(strstr(page, "\"waiting for the GIL\""));
	/* of the tick at which both had it, the first row has all */
	assert_non_null(strstr(page, "\"gil\":[\"kkkkkkkkkk0000000000kkkkkkkkkk\","
				     "\"0000000000kkkkkkkkkk\",\"\"]"));
	assert_non_null(strstr(page, "held: 1.00 of the time, wait: 0.67 threads on average"));
	/* a browser opens it: tests/cli/html_page.sh */
	golden_check("timeline-gil.html", page, size);
	free(page);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chrome),
		cmocka_unit_test(test_spans),
		cmocka_unit_test(test_bins),
		cmocka_unit_test(test_page),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
