/* SPDX-License-Identifier: MIT */
/* test_joint.c - recordings whose times overlap are loaded as recordings of the same seconds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../scene/recording_scene.h"
#include "wallsample/base/base.h"

#define MOST 3

/* A recording of one thread: in tick n the thread runs if ticks[n] is 'R', and sleeps if it is '.';
 * 'Q' waits for a CPU. */
struct one {
	const char *ticks;
	int64_t clock_ns; /* beginning of the recording */
	const char *host;
	int cpus;
};

struct scene {
	struct place place[MOST];
	struct recording *recording[MOST];
	struct recording_load load[MOST];
	struct profile *profile;
	struct run_stats stats;
	size_t count;
};

static void
add_gap(struct profile *profile, uint32_t thread, int64_t ticks)
{
	const struct profile_entry gap = {
		.thread = thread,
		.stack = stack_of(profile, "g"),
		.state = RUN_SLEEPING,
		.ns[WEIGHT_LATENCY] = ticks * TICK,
	};

	if (ticks > 0)
		profile_add(profile, &gap);
}

static void
sample(struct profile *profile, const char *ticks)
{
	const uint32_t thread = profile_add_thread(profile, 0, 78, 5, "worker");
	int64_t gap = 0;

	for (; *ticks != '\0'; ticks++) {
		const bool runs = *ticks == 'R', can_run = *ticks != '.';
		const char *stack = runs ? "r" : can_run ? "q" : "s";
		uint32_t entry;

		if (can_run) {
			add_gap(profile, thread, gap);
			gap = 0;
		}
		entry = add(profile, thread, stack,
			    runs    ? RUN_RUNNING :
			    can_run ? RUN_QUEUED :
				      RUN_SLEEPING,
			    1);
		if (can_run)
			profile_charge(profile, entry, TICK);
		gap += !can_run;
		profile_add_tick(profile, TICK, runs, can_run);
	}
	add_gap(profile, thread, gap);
}

static void
record(const struct place *place, const struct one *one)
{
	const struct run_stats stats = {
		.elapsed_ns = strlen(one->ticks) * (uint64_t)TICK,
		.ticks = strlen(one->ticks),
		.threads_seen = 1,
		.threads_most = 1,
	};
	struct profile *profile = profile_create();
	struct modules *modules = modules_create();
	struct recorder *recorder = record_in(place, profile, modules);
	struct error err;
	char sql[256];

	sample(profile, one->ticks);
	assert_int_equal(recorder_finish(recorder, &stats, RUN_END_DURATION, NULL, &err), 0);
	recorder_free(recorder);
	profile_free(profile);
	modules_free(modules);
	snprintf(sql, sizeof(sql),
		 "REPLACE INTO meta VALUES ('began', %lld), ('clock_ns', %lld), ('host', '%s'), "
		 "('cpus', %d)",
		 (long long)(1700000000 + one->clock_ns / NS_PER_SEC), (long long)one->clock_ns,
		 one->host, one->cpus);
	change(place->path, sql);
}

static void
begin(struct scene *scene, const struct one *one, size_t count,
      const struct recording_selection *selection)
{
	struct error err;

	*scene = (struct scene){ .profile = profile_create(), .count = count };
	for (size_t i = 0; i < count; i++) {
		place_make(&scene->place[i]);
		record(&scene->place[i], &one[i]);
		if (recording_open(scene->place[i].path, &scene->recording[i], &err) != 0)
			fail_msg("%s", err.text);
		scene->load[i] = (struct recording_load){
			.profile = scene->profile,
			.number = (uint32_t)i,
			.selection = selection,
			.stats = &scene->stats,
		};
	}
	if (recordings_load(scene->recording, scene->load, count, &err) != 0)
		fail_msg("%s", err.text);
}

static void
end(struct scene *scene)
{
	for (size_t i = 0; i < scene->count; i++) {
		recording_close(scene->recording[i]);
		place_remove(&scene->place[i]);
	}
	profile_free(scene->profile);
}

/* Returns the latency, in quarters of a tick, of the recording's samples with this stack. */
static int
latency_of(const struct scene *scene, uint32_t thread, const char *functions)
{
	const uint32_t stack = stack_of(scene->profile, functions);
	int64_t ns = 0;

	for (size_t i = 0; i < profile_entry_count(scene->profile); i++) {
		const struct profile_entry *entry = profile_entry(scene->profile, i);

		if (entry->thread == thread && entry->stack == stack)
			ns += entry->ns[WEIGHT_LATENCY];
	}
	return (int)((ns * 4 + TICK / 2) / TICK);
}

static void
assert_time_at(const struct scene *scene, size_t parallelism, int64_t half_ticks)
{
	assert_true(parallelism < profile_parallelism_count(scene->profile));
	assert_int_equal(profile_parallelism(scene->profile, parallelism)->time_ns,
			 half_ticks * TICK / 2);
}

#define START (1000 * (int64_t)NS_PER_SEC)

static void
same_seconds_are_counted_once(void **state)
{
	static const struct one one[] = { { "RR..RR..", START, "a", 2 },
					  { "R.R.R.R.", START, "a", 2 } };
	struct scene scene;

	(void)state;
	begin(&scene, one, 2, NULL);
	assert_int_equal(scene.load[0].members, 2);
	assert_int_equal(scene.load[1].group, 0);
	assert_int_equal(scene.load[0].all_ns, 8 * TICK);
	assert_int_equal(profile_wall_ns(scene.profile), 8 * TICK);
	assert_time_at(&scene, 0, 4);
	assert_time_at(&scene, 1, 8);
	assert_time_at(&scene, 2, 4);
	/* Wall and CPU are sums over threads, Latency is the elapsed time. */
	assert_int_equal(sum_of(scene.profile, WEIGHT_WALL), 16 * TICK);
	assert_int_equal(sum_of(scene.profile, WEIGHT_CPU), 8 * TICK);
	assert_int_equal(sum_of(scene.profile, WEIGHT_LATENCY), 8 * TICK);
	assert_int_equal(latency_of(&scene, 0, "r"), 12);
	assert_int_equal(latency_of(&scene, 1, "r"), 12);
	assert_int_equal(latency_of(&scene, 0, "g") + latency_of(&scene, 1, "g"), 8);
	assert_int_equal(scene.stats.elapsed_ns, 8 * TICK);
	assert_int_equal(scene.stats.overlap_ns, 8 * TICK);
	assert_int_equal(scene.stats.threads_most, 2);
	end(&scene);
}

/* The second recording begins half a tick after the first one. */
static void
ticks_need_no_common_beginning(void **state)
{
	static const struct one one[] = { { "RR..", START, "a", 2 },
					  { ".RR.", START + TICK / 2, "a", 2 } };
	struct scene scene;

	(void)state;
	begin(&scene, one, 2, NULL);
	assert_int_equal(scene.load[0].all_ns, 9 * TICK / 2);
	assert_time_at(&scene, 0, 2); /* from 3.5 ticks to the end */
	assert_time_at(&scene, 1, 6); /* 0 to 1.5, 2 to 3.5 */
	assert_time_at(&scene, 2, 1);
	assert_int_equal(sum_of(scene.profile, WEIGHT_LATENCY), 9 * TICK / 2);
	assert_int_equal(latency_of(&scene, 0, "r"), 7); /* 1.5 ticks alone, half of 0.5 */
	end(&scene);
}

/* Time without a runnable thread belongs to the recording in which a thread can run first. */
static void
the_first_to_run_ends_the_gap(void **state)
{
	static const struct one one[] = { { "R.....R", START, "a", 2 },
					  { "R..R..R", START, "a", 2 } };
	struct scene scene;

	(void)state;
	begin(&scene, one, 2, NULL);
	assert_int_equal(latency_of(&scene, 1, "g"), 8);
	assert_int_equal(latency_of(&scene, 0, "g"), 8);
	assert_int_equal(sum_of(scene.profile, WEIGHT_LATENCY), 7 * TICK);
	end(&scene);
}

static void
threads_on_a_cpu_are_at_most_the_cpus(void **state)
{
	static const struct one one[] = { { "RR.", START, "a", 2 },
					  { "RQ.", START, "a", 2 },
					  { "RQ.", START, "a", 2 } };
	/* Each process has a CPU of its own. */
	static const struct one apart[] = { { "RR", START, "a", 1 }, { "RR", START, "a", 1 } };
	struct scene scene;

	(void)state;
	begin(&scene, one, 3, NULL);
	assert_int_equal(profile_parallelism_count(scene.profile), 3);
	assert_time_at(&scene, 0, 2);
	assert_time_at(&scene, 2, 4); /* the excess of the first tick is in the second */
	assert_int_equal(scene.stats.cpus, 2);
	end(&scene);
	begin(&scene, apart, 2, NULL);
	assert_time_at(&scene, 2, 4);
	assert_int_equal(scene.stats.cpus, 2);
	end(&scene);
}

static void
other_seconds_and_machines_are_added(void **state)
{
	static const struct one one[] = {
		{ "RR..", START, "a", 2 },
		{ "RR..", START + 4 * TICK, "a", 2 },
		{ "RR..", START, "b", 2 },
	};
	struct scene scene;

	(void)state;
	begin(&scene, one, 3, NULL);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(scene.load[i].group, i);
		assert_int_equal(scene.load[i].members, 1);
		assert_int_equal(scene.load[i].all_ns, 4 * TICK);
	}
	assert_int_equal(profile_wall_ns(scene.profile), 12 * TICK);
	assert_int_equal(sum_of(scene.profile, WEIGHT_LATENCY), 12 * TICK);
	assert_time_at(&scene, 1, 12);
	assert_int_equal(profile_parallelism_count(scene.profile), 2);
	assert_int_equal(scene.stats.elapsed_ns, 12 * TICK);
	assert_int_equal(scene.stats.overlap_ns, 0);
	assert_int_equal(scene.stats.threads_most, 1);
	end(&scene);
}

/* The first and the last recording overlap only with the one between them. */
static void
a_group_is_connected_by_overlaps(void **state)
{
	static const struct one one[] = { { "RR..", START, "a", 2 },
					  { "RR..", START + 6 * TICK, "a", 2 },
					  { "RR..", START + 3 * TICK, "a", 2 } };
	struct scene scene;

	(void)state;
	begin(&scene, one, 3, NULL);
	assert_int_equal(scene.load[0].members, 3);
	assert_int_equal(profile_wall_ns(scene.profile), 10 * TICK);
	assert_int_equal(sum_of(scene.profile, WEIGHT_LATENCY), 10 * TICK);
	assert_int_equal(scene.stats.elapsed_ns, 10 * TICK);
	end(&scene);
}

static void
a_part_is_of_the_common_time(void **state)
{
	static const struct one one[] = { { "RR..RR..", START, "a", 2 },
					  { "R.R.", START + 4 * TICK, "b", 2 },
					  { "R.R.", START + 4 * TICK, "a", 2 } };
	const struct recording_selection second = { .has_from = true, .from_ns = 4 * TICK };
	const struct recording_selection both = { .has_parallelism = true, .least = 2, .most = 9 };
	struct scene scene;

	(void)state;
	begin(&scene, one, 3, &second);
	assert_int_equal(scene.load[0].selected_ns, 4 * TICK);
	assert_int_equal(scene.load[1].selected_ns, 0);
	assert_int_equal(sum_of(scene.profile, WEIGHT_CPU), 4 * TICK);
	assert_int_equal(sum_of(scene.profile, WEIGHT_LATENCY), 4 * TICK);
	assert_false(recording_tick_wanted(scene.recording[0], 3));
	assert_true(recording_tick_wanted(scene.recording[2], 0));
	end(&scene);
	begin(&scene, one, 3, &both);
	assert_int_equal(scene.load[0].selected_ns, TICK);
	assert_int_equal(sum_of(scene.profile, WEIGHT_CPU), 2 * TICK);
	assert_int_equal(sum_of(scene.profile, WEIGHT_LATENCY), TICK);
	assert_int_equal(recording_joint_tick(scene.recording[2], 0)->parallelism, 2);
	assert_int_equal(recording_tick(scene.recording[2], 0)->parallelism, 1);
	end(&scene);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_seconds_are_counted_once),
		cmocka_unit_test(ticks_need_no_common_beginning),
		cmocka_unit_test(the_first_to_run_ends_the_gap),
		cmocka_unit_test(threads_on_a_cpu_are_at_most_the_cpus),
		cmocka_unit_test(other_seconds_and_machines_are_added),
		cmocka_unit_test(a_group_is_connected_by_overlaps),
		cmocka_unit_test(a_part_is_of_the_common_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
