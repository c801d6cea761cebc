/* SPDX-License-Identifier: MIT */
/*
 * test_parallelism_split.c - rows of a recording whose ticks are known, by parallelism.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wallsample/report/parallelism_split.h"
#include "report/time/tick_levels_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/recording/recording_read.h"

#define MS ((int64_t)NS_PER_MS)
#define TICK (10 * MS)

static char command[] = "made -up";
static struct process process = {
	.pid = 77, .dirfd = -1, .taskfd = -1, .comm = "made", .cmdline = command,
};

/* --- what is sampled ----------------------------------------------------------------------- */

static void
add(struct profile *profile, uint32_t thread, const char *name, enum run_state state, int64_t ms)
{
	const struct profile_entry entry = {
		.thread = thread,
		.stack = profile_intern_stack(profile, profile_intern_named(profile, name),
					      STACK_NONE),
		.state = state,
		.syscall = state == RUN_SLEEPING ? 0 : (int32_t)SYSCALL_NONE,
		.samples = 1,
		.ns[WEIGHT_WALL] = TICK,
		.ns[WEIGHT_CPU] = state == RUN_RUNNING ? TICK : 0,
	};
	const uint32_t id = profile_add(profile, &entry);

	if (ms > 0)
		profile_charge(profile, id, ms * MS);
}

/* Real time of a tick in which nobody ran. */
static void
add_waiting(struct profile *profile, uint32_t thread)
{
	struct profile_entry entry = {
		.thread = thread, .state = RUN_SLEEPING, .ns[WEIGHT_LATENCY] = TICK,
	};

	entry.stack = profile_intern_stack(profile, profile_intern_named(profile, "[waiting]"),
					   STACK_NONE);
	entry.stack = profile_intern_stack(profile, profile_intern_named(profile, "s"),
					   entry.stack);
	profile_add(profile, &entry);
}

/*
 * Of four ticks the first thread runs in "a" at three, of which the second runs in "b" at one;
 * at the fourth nobody does, and it is the first that is waited for.
 */
static void
sample(struct profile *profile, int rounds)
{
	const uint32_t first = profile_add_thread(profile, 0, 78, 5, "first");
	const uint32_t second = profile_add_thread(profile, 0, 79, 6, "second");

	for (int i = 0; i < 4 * rounds; i++) {
		const uint32_t running = (i % 4 != 3) + (i % 4 == 1);

		if (i % 4 == 3) {
			add(profile, first, "s", RUN_SLEEPING, 0);
			add_waiting(profile, first);
		} else {
			add(profile, first, "a", RUN_RUNNING, 10 / running);
		}
		add(profile, second, i % 4 == 1 ? "b" : "s",
		    i % 4 == 1 ? RUN_RUNNING : RUN_SLEEPING, i % 4 == 1 ? 5 : 0);
		profile_add_tick(profile, TICK, running, running);
	}
}

/* --- the recording ------------------------------------------------------------------------- */

struct scene {
	struct profile *profile;
	struct modules *modules;
	struct recorder *recorder;
	struct recording *recording;
	struct recording_load load;
	struct view *view;
	struct error wrong;
	struct export_input input;
	struct parallelism_split *split;
};

static void
scene_init(struct scene *scene)
{
	static const struct run_stats no_stats;
	struct error err;

	*scene = (struct scene){ .profile = profile_create(), .modules = modules_create() };
	assert_int_equal(recorder_create(&(struct recording_config){ .modules = scene->modules,
								     .rate_hz = 100 },
					 scene->profile, &scene->recorder, &err), 0);
	recorder_set_process(scene->recorder, &process);
	sample(scene->profile, 25);
	assert_int_equal(recorder_commit(scene->recorder, &no_stats, &err), 0);
	assert_int_equal(recording_of(scene->recorder, &scene->recording, &err), 0);
	scene->load.profile = profile_create();
	assert_int_equal(recording_load(scene->recording, &scene->load, &err), 0);
	scene->view = view_create(scene->load.profile, NULL, &(struct filter){ 0 },
				  VIEW_BY_ADDRESS);
	scene->input = (struct export_input){ .view = scene->view,
					      .recordings = &scene->recording,
					      .recording_count = 1, .error = &scene->wrong };
	scene->split = parallelism_split_create(&scene->input);
}

static void
scene_release(struct scene *scene)
{
	parallelism_split_free(scene->split);
	view_free(scene->view);
	recording_close(scene->recording);
	recorder_free(scene->recorder);
	profile_free(scene->load.profile);
	profile_free(scene->profile);
	modules_free(scene->modules);
}

/* The row of a thread that is innermost in this function. */
static const struct view_row *
find_row(const struct scene *scene, pid_t tid, const char *name, bool waited)
{
	for (size_t i = 0; i < view_row_count(scene->view); i++) {
		const struct view_row *row = view_row(scene->view, i);

		if (profile_thread(scene->load.profile, row->thread)->tid == tid &&
		    strcmp(view_function(scene->view, row->function[0])->name, name) == 0 &&
		    (row->depth > 1) == waited)
			return row;
	}
	print_error("no row of %s\n", name);
	abort();
}

static void
assert_part(const struct parallelism_part *part, uint32_t parallelism, int64_t wall_ms,
	    int64_t overhead_ms, int64_t latency_ms)
{
	assert_int_equal(part->parallelism, parallelism);
	assert_int_equal(part->ns[WEIGHT_WALL], wall_ms * MS);
	assert_int_equal(part->ns[WEIGHT_CPU], overhead_ms * MS);
	assert_int_equal(part->ns[WEIGHT_LATENCY], latency_ms * MS);
}

/* --- the tests ----------------------------------------------------------------------------- */

static void
test_parts(void **state)
{
	const struct parallelism_part *part;
	struct scene scene;
	size_t count;

	(void)state;
	scene_init(&scene);
	assert_int_equal(scene.wrong.kind, ERROR_NONE);
	part = parallelism_split_row(scene.split, find_row(&scene, 78, "a", false), &count);
	assert_int_equal(count, 2);
	assert_part(&part[0], 1, 500, 500, 500);
	assert_part(&part[1], 2, 250, 250, 125);
	part = parallelism_split_row(scene.split, find_row(&scene, 79, "b", false), &count);
	assert_int_equal(count, 1);
	assert_part(&part[0], 2, 250, 250, 125);
	part = parallelism_split_row(scene.split, find_row(&scene, 79, "s", false), &count);
	assert_int_equal(count, 2);
	assert_part(&part[0], 0, 250, 0, 0);
	assert_part(&part[1], 1, 500, 0, 0);
	/* what was waited for while nobody ran has no ticks of its own */
	part = parallelism_split_row(scene.split, find_row(&scene, 78, "s", true), &count);
	assert_int_equal(count, 1);
	assert_part(&part[0], 0, 0, 0, 250);
	scene_release(&scene);
}

/* However a row is shared out, nothing of it is lost. */
static void
test_sums(void **state)
{
	struct scene scene;
	struct view_row row;

	(void)state;
	scene_init(&scene);
	row = *find_row(&scene, 78, "a", false);
	for (int64_t ns = 1; ns < 100; ns++) {
		const struct parallelism_part *part;
		int64_t sum[WEIGHT_COUNT] = { 0 };
		size_t count;

		for (int w = 0; w < WEIGHT_COUNT; w++)
			row.ns[w] = ns * (w + 1);
		part = parallelism_split_row(scene.split, &row, &count);
		for (size_t i = 0; i < count; i++)
			for (int w = 0; w < WEIGHT_COUNT; w++)
				sum[w] += part[i].ns[w];
		assert_memory_equal(sum, row.ns, sizeof(sum));
	}
	scene_release(&scene);
}

/* Sums of a stretch of ticks, by parallelism. */
struct sums {
	double time_ns[3], real_ns[3];
	size_t calls;
};

static void
add_sums(void *context, uint32_t parallelism, double time_ns, double real_ns)
{
	struct sums *sums = context;

	assert_in_range(parallelism, 0, 2);
	sums->time_ns[parallelism] += time_ns;
	sums->real_ns[parallelism] += real_ns;
	sums->calls++;
}

/* The ticks' parallelism is 1, 2, 1, 0, again and again: whichever part is asked for is summed, and
 * without a walk through it if it is long. */
static void
test_ticks(void **state)
{
	static const uint32_t pattern[] = { 1, 2, 1, 0 };
	struct tick_levels *levels;
	struct scene scene;

	(void)state;
	scene_init(&scene);
	levels = tick_levels_create(scene.recording);
	for (uint64_t first = 0; first < 100; first++) {
		struct sums want = { .calls = 0 };

		for (uint64_t ticks = 0; first + ticks <= 100; ticks++) {
			struct sums sums = { .calls = 0 };

			tick_levels_sum(levels, first, ticks, add_sums, &sums);
			assert_true(sums.calls <= (ticks < 96 ? ticks : 3));
			for (int p = 0; p < 3; p++) {
				assert_true(sums.time_ns[p] == want.time_ns[p]);
				assert_true(sums.real_ns[p] == want.real_ns[p]);
			}
			add_sums(&want, pattern[(first + ticks) % 4], TICK,
				 pattern[(first + ticks) % 4] == 2 ? TICK / 2 : TICK);
		}
	}
	tick_levels_free(levels);
	scene_release(&scene);
}

/* Without recordings there is nothing to share a row out by. */
static void
test_unknown(void **state)
{
	struct export_input input;
	struct scene scene;
	size_t count = 1;

	(void)state;
	scene_init(&scene);
	parallelism_split_free(scene.split);
	input = scene.input;
	input.recording_count = 0;
	scene.split = parallelism_split_create(&input);
	parallelism_split_row(scene.split, find_row(&scene, 78, "a", false), &count);
	assert_int_equal(count, 0);
	parallelism_split_row(scene.split, find_row(&scene, 78, "s", true), &count);
	assert_int_equal(count, 0);
	scene_release(&scene);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
