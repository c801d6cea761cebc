/* SPDX-License-Identifier: MIT */
/*
 * test_waiting.c - what threads waited for, who had it, and deadlocks: from a profile made by hand,
 * and from its recording.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/report_internal.h"
#include "../scene/recording_scene.h"
#include "wallsample/base/base.h"
#include "wallsample/analysis/waiting.h"

#define TICKS 100

/* The threads of the scene, by their numbers in the profile. */
enum { HOLDER, FIRST, SECOND, READER };

struct scene {
	struct profile *profile;
	uint32_t mutex, timed, socket; /* waits */
};

static void
wait_in(const struct scene *scene, uint32_t thread, const char *functions, uint32_t wait)
{
	const struct profile_entry entry = {
		.thread = thread,
		.stack = stack_of(scene->profile, functions),
		.state = RUN_SLEEPING,
		.wait = wait,
		.samples = 1,
		.ns[WEIGHT_WALL] = TICK,
	};
	const struct profile_blame blame = {
		.wait = wait,
		.thread = HOLDER,
		.stack = stack_of(scene->profile,
				  profile_tick_count(scene->profile) % 4 == 0 ? "mh" : "mk"),
		.state = RUN_RUNNING,
		.samples = 1,
		.ns = TICK,
	};

	profile_add(scene->profile, &entry);
	if (wait != scene->socket)
		profile_add_blame(scene->profile, &blame);
}

/*
 * The first waits for a mutex all the time, the second in the later half, both sides of the time
 * with a time-out; the reader for a socket. The holder is in "mh" at every fourth tick.
 */
static void
scene_begin(struct scene *scene, struct profile *profile)
{
	struct profile_wait wait = { .kind = WAIT_MUTEX, .most = 1 };

	scene->profile = profile;
	profile_add_thread(profile, 0, 10, 1, "holder");
	profile_add_thread(profile, 0, 11, 1, "first");
	profile_add_thread(profile, 0, 12, 1, "second");
	profile_add_thread(profile, 0, 13, 1, "reader");
	wait.object = profile_intern_named(profile, "table");
	scene->mutex = profile_add_wait(profile, &wait);
	wait.timed = true;
	scene->timed = profile_add_wait(profile, &wait);
	wait = (struct profile_wait){ .kind = WAIT_SOCKET_READ };
	wait.object = profile_intern_named(profile, "socket:[7]");
	scene->socket = profile_add_wait(profile, &wait);
	assert_true(scene->mutex != 0 && scene->mutex != scene->timed);
}

static void
scene_run(const struct scene *scene, int from, int to)
{
	for (int tick = from; tick < to; tick++) {
		add(scene->profile, HOLDER, tick % 4 == 0 ? "mh" : "mk", RUN_RUNNING, 1);
		wait_in(scene, FIRST, "mw", scene->mutex);
		if (tick >= TICKS / 2)
			wait_in(scene, SECOND, "mv", scene->timed);
		wait_in(scene, READER, "mr", scene->socket);
		profile_add_tick(scene->profile, TICK, 1, 1);
	}
}

static struct view *
view_of(const struct profile *profile, enum view_key key, bool blame)
{
	const struct filter filter = { .blame = blame };

	return view_create(profile, NULL, &filter, key);
}

static void
assert_name(const struct view *view, uint32_t function, const char *name)
{
	assert_string_equal(view_function(view, function)->name, name);
}

static void
check_rows(const struct view *view, int64_t waited, int64_t second, const char *socket)
{
	struct waiting waiting;
	const struct waiting_row *row;

	waiting_make(view, &waiting);
	assert_int_equal(waiting.count, 2);
	row = &waiting.row[0];
	assert_string_equal(row->kind_text, "mutex");
	assert_string_equal(row->object, "table");
	assert_int_equal(row->ns, (waited + second) * TICK);
	assert_int_equal(row->samples, waited + second);
	assert_int_equal(row->threads, 2);
	assert_int_equal(row->most, 2); /* each of the two waits by its own: on average 1.5 or 2 */
	assert_int_equal(row->waiters, 2);
	assert_name(view, row->waiter[0].function[0], "w");
	assert_int_equal(row->waiter[0].ns, waited * TICK);
	assert_int_equal(row->holders, 2);
	assert_name(view, row->holder[0].function[0], "k");
	assert_int_equal(row->holder[0].thread, HOLDER);
	assert_int_equal(row->holder[0].threads, 1);
	assert_int_equal(row->holder[0].ns + row->holder[1].ns, (waited + second) * TICK);
	row = &waiting.row[1];
	assert_int_equal(row->kind, WAIT_SOCKET_READ);
	assert_string_equal(row->object, socket);
	assert_int_equal(row->ns, waited * TICK);
	assert_int_equal(row->holders, 0);
	/* nobody has counted who reads at once; on average it is one */
	assert_int_equal(row->most, 1);
	waiting_release(&waiting);
}

static void
test_rows(void **state)
{
	struct scene scene;
	struct view *view;

	(void)state;
	scene_begin(&scene, profile_create());
	scene_run(&scene, 0, TICKS);
	view = view_of(scene.profile, VIEW_BY_FUNCTION, false);
	check_rows(view, TICKS, TICKS / 2, WAIT_OBJECT_UNKNOWN);
	view_free(view);
	profile_free(scene.profile);
}

/* Sockets that are not identified are one row, those of one name another, each with its number. */
static void
test_sockets(void **state)
{
	struct profile_wait wait = { .kind = WAIT_SOCKET_READ };
	struct waiting waiting;
	struct scene scene;
	struct view *view;

	(void)state;
	scene_begin(&scene, profile_create());
	scene_run(&scene, 0, TICKS);
	for (int i = 0; i < 8; i++) {
		char name[32];

		snprintf(name, sizeof(name), i % 2 == 0 ? "socket:[%d]" : "socket:[10%d]", i);
		wait.object = profile_intern_named(scene.profile, name);
		wait_in(&scene, READER, "mr", profile_add_wait(scene.profile, &wait));
		if (i % 2 != 0)
			profile_rename_frame(scene.profile, wait.object, "tcp to 10.0.0.7:80");
	}
	view = view_of(scene.profile, VIEW_BY_FUNCTION, false);
	waiting_make(view, &waiting);
	assert_int_equal(waiting.count, 3);
	assert_string_equal(waiting.row[1].object, WAIT_OBJECT_UNKNOWN);
	assert_int_equal(waiting.row[1].objects, 5);
	assert_int_equal(waiting.row[1].ns, (TICKS + 4) * TICK);
	assert_string_equal(waiting.row[2].object, "tcp to 10.0.0.7:80");
	assert_int_equal(waiting.row[2].objects, 4);
	assert_int_equal(waiting.row[2].ns, 4 * TICK);
	waiting_release(&waiting);
	view_free(view);
	profile_free(scene.profile);
}

/* Returns waiting_row.most of a mutex for which three threads wait in `part` of 1,000 ticks, if the
 * sampler has counted `counted` waiters at one moment. */
static uint32_t
most_of_three(uint32_t counted, int part)
{
	struct profile_wait wait = { .kind = WAIT_MUTEX, .most = counted };
	struct scene scene;
	struct waiting waiting;
	struct view *view;
	uint32_t most;

	scene_begin(&scene, profile_create());
	wait.object = profile_intern_named(scene.profile, "crowded");
	const uint32_t id = profile_add_wait(scene.profile, &wait);
	for (int tick = 0; tick < 1000; tick++) {
		for (uint32_t thread = HOLDER; thread <= SECOND; thread++)
			if (tick < part)
				wait_in(&scene, thread, "mw", id);
			else
				add(scene.profile, thread, "mk", RUN_RUNNING, 1);
		profile_add_tick(scene.profile, TICK, 1, 1);
	}
	view = view_of(scene.profile, VIEW_BY_LOCK, false);
	waiting_make(view, &waiting);
	assert_int_equal(waiting.count, 1);
	most = waiting.row[0].most;
	waiting_release(&waiting);
	view_free(view);
	profile_free(scene.profile);
	return most;
}

/* A mean raises the number that was counted only if it is above it by more than its error. */
static void
test_most_and_mean(void **state)
{
	(void)state;
	assert_int_equal(most_of_three(2, 660), 2); /* mean 1.98 */
	assert_int_equal(most_of_three(2, 760), 2); /* 2.28 */
	assert_int_equal(most_of_three(2, 860), 3); /* 2.58 */
	assert_int_equal(most_of_three(1, 760), 3); /* rounded up */
	assert_int_equal(most_of_three(3, 500), 3);
}

/* Two who had it in the same function are a row, and none of them is named for both. */
static void
test_many_holders(void **state)
{
	struct scene scene;
	struct waiting waiting;
	struct view *view;

	(void)state;
	scene_begin(&scene, profile_create());
	scene_run(&scene, 0, TICKS);
	profile_add_blame(scene.profile, &(struct profile_blame){
						 .wait = scene.mutex,
						 .thread = SECOND,
						 .stack = stack_of(scene.profile, "mk"),
						 .state = RUN_RUNNING,
						 .samples = 1,
						 .ns = TICK,
					 });
	view = view_of(scene.profile, VIEW_BY_FUNCTION, false);
	waiting_make(view, &waiting);
	assert_int_equal(waiting.row[0].holders, 2);
	assert_name(view, waiting.row[0].holder[0].function[0], "k");
	assert_int_equal(waiting.row[0].holder[0].threads, 2);
	assert_int_equal(waiting.row[0].holder[1].threads, 1);
	waiting_release(&waiting);
	view_free(view);
	profile_free(scene.profile);
}

static int64_t
wall_of(const struct view *view, const char *outermost, const char *innermost)
{
	int64_t sum = 0;

	for (size_t i = 0; i < view_row_count(view); i++) {
		const struct view_row *row = view_row(view, i);

		const uint32_t *function = row->function;

		if (strcmp(view_function(view, function[row->depth - 1])->name, outermost) == 0 &&
		    strcmp(view_function(view, function[0])->name, innermost) == 0)
			sum += row->ns[WEIGHT_WALL];
	}
	return sum;
}

static void
test_views(void **state)
{
	struct scene scene;
	struct view *view;

	(void)state;
	scene_begin(&scene, profile_create());
	scene_run(&scene, 0, TICKS);
	view = view_of(scene.profile, VIEW_BY_LOCK, false);
	assert_int_equal(wall_of(view, "[mutex table]", "[mutex table]"), 150 * TICK);
	assert_int_equal(wall_of(view, "[running]", "[running]"), 100 * TICK);
	assert_int_equal(view_total_ns(view, WEIGHT_WALL), 350 * TICK);
	view_free(view);
	/* The holder's stacks, below what they had: 25 + 13 ticks of "mh" with a waiter, or two. */
	view = view_of(scene.profile, VIEW_BY_FUNCTION, true);
	assert_int_equal(view_total_ns(view, WEIGHT_WALL), 150 * TICK);
	assert_int_equal(view_total_ns(view, WEIGHT_LATENCY), 0);
	assert_int_equal(wall_of(view, "[mutex table]", "h"), (25 + 12) * TICK);
	assert_int_equal(wall_of(view, "[mutex table]", "k"), (75 + 38) * TICK);
	for (size_t i = 0; i < view_row_count(view); i++)
		assert_int_equal(view_row(view, i)->depth, 3);
	view_free(view);
	profile_free(scene.profile);
}

/* The bars of the mutex and of the socket span the selected time. */
static void
check_bars(const char *path, const struct recording_selection *selection, const char *mutex,
	   const char *socket)
{
	struct recording_load to = { .profile = profile_create(), .selection = selection };
	struct error err = { .kind = ERROR_NONE };
	struct export_input input = { .error = &err, .recording_count = 1 };
	struct recording *recording;
	struct waiting waiting;
	struct strbuf text;
	double *bins;

	assert_int_equal(recording_open(path, &recording, &err), 0);
	assert_int_equal(recording_load(recording, &to, &err), 0);
	input.recordings = &recording;
	input.view = view_of(to.profile, VIEW_BY_LOCK, false);
	waiting_make(input.view, &waiting);
	assert_null(waiting_bins_make(&(struct export_input){ .recording_count = 0 }, &waiting));
	bins = waiting_bins_make(&input, &waiting);
	assert_int_equal(err.kind, ERROR_NONE);
	strbuf_init(&text);
	waiting_bins_add(bins, &text);
	assert_string_equal(text.data, mutex);
	strbuf_clear(&text);
	waiting_bins_add(bins + WAITING_BINS, &text);
	assert_string_equal(text.data, socket);
	strbuf_release(&text);
	free(bins);
	waiting_release(&waiting);
	view_free((struct view *)(uintptr_t)input.view);
	recording_close(recording);
	profile_free(to.profile);
}

/* Two recordings of the same seconds, with the same waits: the waiters add up over time. */
static void
check_same_seconds(const char *path)
{
	struct recording_load to[2] = { { .profile = profile_create() }, { .number = 1 } };
	struct error err = { .kind = ERROR_NONE };
	struct export_input input = { .error = &err, .recording_count = 2 };
	struct recording *recording[2];
	struct waiting waiting;
	double *bins;

	to[1].profile = to[0].profile;
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(recording_open(path, &recording[i], &err), 0);
	assert_int_equal(recordings_load(recording, to, 2, &err), 0);
	input.recordings = recording;
	input.view = view_of(to[0].profile, VIEW_BY_LOCK, false);
	waiting_make(input.view, &waiting);
	bins = waiting_bins_make(&input, &waiting);
	assert_non_null(bins);
	assert_int_equal(waiting.row[0].threads, 4);
	assert_int_equal(waiting.row[0].ns, 300 * TICK);
	assert_int_equal(waiting.row[0].most, 4); /* on average 3 */
	assert_int_equal(waiting.row[1].most, 2);
	free(bins);
	waiting_release(&waiting);
	view_free((struct view *)(uintptr_t)input.view);
	for (size_t i = 0; i < 2; i++)
		recording_close(recording[i]);
	profile_free(to[0].profile);
}

/* What was written between two commits may have other names in the next. */
static void
test_recorded(void **state)
{
	static const struct recording_selection second = {
		.has_from = true,
		.from_ns = 50 * TICK,
		.has_to = true,
		.to_ns = 75 * TICK,
	};
	struct modules *modules = modules_create();
	struct recorder *recorder;
	struct profile *back;
	struct scene scene;
	struct place place;
	struct view *view;
	struct error err;

	(void)state;
	place_make(&place);
	scene.profile = profile_create();
	recorder = record_in(&place, scene.profile, modules);
	scene_begin(&scene, scene.profile);
	for (int tick = 0; tick < TICKS; tick += 25) {
		scene_run(&scene, tick, tick + 25);
		assert_int_equal(recorder_commit(recorder, &no_stats, &err), 0);
	}
	profile_add_wait(scene.profile,
			 &(struct profile_wait){
				 .kind = WAIT_MUTEX,
				 .most = 2,
				 .object = profile_wait(scene.profile, scene.mutex)->object });
	profile_rename_frame(scene.profile, profile_wait(scene.profile, scene.socket)->object,
			     "tcp port 80");
	assert_int_equal(recorder_finish(recorder, &no_stats, RUN_END_STOPPED, NULL, &err), 0);
	recorder_free(recorder);
	back = load(place.path, NULL, NULL);
	assert_same(scene.profile, back);
	assert_int_equal(profile_wait(back, scene.mutex)->most, 2);
	assert_true(profile_wait(back, scene.timed)->timed);
	view = view_of(back, VIEW_BY_FUNCTION, false);
	check_rows(view, TICKS, TICKS / 2, "tcp port 80");
	view_free(view);
	profile_free(back);
	back = load(place.path, &second, NULL);
	view = view_of(back, VIEW_BY_FUNCTION, false);
	check_rows(view, 25, 25, "tcp port 80");
	view_free(view);
	profile_free(back);
	assert_int_equal(ask(place.path, "SELECT sum(wall_s) = 1.5 FROM samples "
					 "WHERE waits_for = 'mutex table'"),
			 1);
	assert_int_equal(ask(place.path, "SELECT round(sum(wall_s), 3) = 1.5 FROM top_holders "
					 "WHERE what = 'mutex table' AND holder = 'holder'"),
			 1);
	/* The second thread waits in the later half alone. */
	check_bars(place.path, NULL, "▅▅▅▅▅▅██████", "████████████");
	check_bars(place.path, &second, "████████████", "████████████");
	check_same_seconds(place.path);
	profile_free(scene.profile);
	modules_free(modules);
	place_remove(&place);
}

/* --- deadlocks ------------------------------------------------------------------------- */

static void
check_deadlock(const struct profile *profile, const char *words, const char *others)
{
	const struct profile_deadlock *deadlock;
	struct strbuf text;

	assert_int_equal(profile_deadlock_count(profile), 1);
	deadlock = profile_deadlock(profile, 0);
	strbuf_init(&text);
	for (size_t i = 0; i < deadlock->ring; i++) {
		strbuf_add_text(&text, i > 0 ? "; " : "");
		deadlock_add_thread(profile, deadlock, i, "M", &text);
	}
	assert_string_equal(text.data, words);
	strbuf_clear(&text);
	strbuf_add_text(&text, "");
	deadlock_add_others(profile, deadlock, &text);
	assert_string_equal(text.data, others);
	strbuf_release(&text);
}

static void
test_deadlock(void **state)
{
	struct profile_stuck stuck[] = {
		{ FIRST, 0, 1 }, { SECOND, 0, 2 }, { READER, 0, 1 }, { HOLDER, 0, 1 }
	};
	const struct profile_stuck turned[] = { { SECOND, 0, 2 }, { FIRST, 0, 1 } };
	struct modules *modules = modules_create();
	struct recorder *recorder;
	struct profile *back;
	struct scene scene;
	struct place place;
	struct error err;

	(void)state;
	place_make(&place);
	scene.profile = profile_create();
	recorder = record_in(&place, scene.profile, modules);
	scene_begin(&scene, scene.profile);
	scene_run(&scene, 0, TICKS);
	profile_add_deadlock(scene.profile, stuck, 4, 2);
	assert_int_equal(recorder_commit(recorder, &no_stats, &err), 0);
	/* Fewer are behind it: what has been written of the others goes. */
	profile_add_deadlock(scene.profile, stuck, 3, 2);
	check_deadlock(scene.profile,
		       "first-11 waits for mutex M, held by second-12; second-12 "
		       "waits for mutex M, held by first-11",
		       "reader-13");
	/* The same ring, however it begins, is one; who is behind it is told anew. */
	profile_add_deadlock(scene.profile, turned, 2, 2);
	check_deadlock(scene.profile,
		       "second-12 waits for mutex M, held by first-11; first-11 "
		       "waits for mutex M, held by second-12",
		       "");
	profile_add_deadlock(scene.profile, stuck, 3, 2);
	assert_int_equal(recorder_finish(recorder, &no_stats, RUN_END_STOPPED, NULL, &err), 0);
	recorder_free(recorder);
	back = load(place.path, NULL, NULL);
	check_deadlock(back,
		       "first-11 waits for mutex M, held by second-12; second-12 waits for "
		       "mutex M, held by first-11",
		       "reader-13");
	profile_free(back);
	profile_free(scene.profile);
	modules_free(modules);
	place_remove(&place);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows), cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_most_and_mean),
		cmocka_unit_test(test_many_holders), cmocka_unit_test(test_views),
		cmocka_unit_test(test_recorded),     cmocka_unit_test(test_deadlock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
