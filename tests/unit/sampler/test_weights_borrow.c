/* SPDX-License-Identifier: MIT */
/*
 * test_weights_borrow.c - time for which a window has too few samples: it is divided by earlier
 * samples of the thread, by those of threads of the same kind, or is in a named frame.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <cmocka.h>

#include "../scene/weights_scene.h"
#include "sampler/pipeline_internal.h"

#define MS ((int64_t)NS_PER_MS)
#define ANY RUN_STATE_COUNT

/* Ten ticks, 100 ms. */
#define A10 "aaaaaaaaaa"
#define S10 "----------"
#define S100 S10 S10 S10 S10 S10 S10 S10 S10 S10 S10
/* 20 ticks of a thread that is in a for three quarters of its CPU time. */
#define AAAB "aaabaaabaaabaaabaaab"

static void
assert_within(int64_t got, int64_t wanted, int64_t most)
{
	if (llabs(got - wanted) > most)
		print_error("%lld ns in place of %lld ns\n", (long long)got, (long long)wanted);
	assert_true(llabs(got - wanted) <= most);
}

static int64_t
wall_of(struct weights_scene *scene, int thread, enum run_state state, const char *leaf)
{
	return weights_scene_sum(scene, thread, state, leaf, WEIGHT_WALL);
}

/* Asserts the known times of a thread, and that its wall time is unchanged. */
static void
assert_times(struct weights_scene *scene, int thread, int64_t cpu_ms, int64_t queue_ms,
	     int64_t all_ms)
{
	assert_within(wall_of(scene, thread, RUN_RUNNING, NULL), cpu_ms * MS, 100);
	assert_within(weights_scene_sum(scene, thread, ANY, NULL, WEIGHT_CPU), cpu_ms * MS,
		      100);
	assert_within(wall_of(scene, thread, RUN_QUEUED, NULL), queue_ms * MS, 100);
	assert_within(wall_of(scene, thread, ANY, NULL), all_ms * MS, 100);
}

static void
assert_latency(struct weights_scene *scene)
{
	assert_within(weights_scene_sum(scene, -1, ANY, NULL, WEIGHT_LATENCY),
		      (int64_t)profile_wall_ns(scene->run.profile), 200);
}

/* --- samples that are not exact -------------------------------------------------------------- */

/* The only sample of a thread in a window has this importance, and a thread of its kind has exact
 * samples. Returns the part of the thread's 40 ms of CPU time that its own sample gets. */
static int64_t
seen_time(double importance)
{
	const char *const others[] = { S100, A10 S10 S10 S10 S10 S10 S10 S10 S10 S10 };
	const char *const first[] = { "b", "-" };
	const char *const rest[] = { S10 S10 S10 S10 S10 S10 S10 S10 S10,
				     S10 S10 S10 S10 S10 S10 S10 S10 S10 };
	struct weights_scene scene;
	int64_t seen;

	weights_scene_begin(&scene, 2, NULL);
	weights_scene_count(&scene, 1, 100, 0);
	weights_scene_window(&scene, others, false);
	scene.thread[0].window.importance = importance;
	weights_scene_tick(&scene, first);
	scene.thread[0].window.importance = 1;
	weights_scene_count(&scene, 0, 40, 0);
	weights_scene_window(&scene, rest, false);
	seen = wall_of(&scene, 0, RUN_RUNNING, "b");
	assert_within(wall_of(&scene, 0, RUN_RUNNING, "a"), 40 * MS - seen, 100);
	assert_latency(&scene);
	weights_scene_end(&scene);
	return seen;
}

/* Exact samples of threads of its kind replace a rough sample of the thread. */
static void
test_rough_alone(void **state)
{
	(void)state;
	assert_within(seen_time(1), 40 * MS, 100);
	assert_within(seen_time(0.5), 40 * MS, 100);
	assert_within(seen_time(1.0 / 64), 0, 100);
}

/* --- donors ---------------------------------------------------------------------------------- */

/* A window without a sample of the class: the thread's earlier samples divide the time. */
static void
test_own_donors(void **state)
{
	const char *const first[] = { AAAB AAAB S10 S10 S10 S10 S10 S10 };
	const char *const second[] = { S100 };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	weights_scene_count(&scene, 0, 400, 0);
	weights_scene_window(&scene, first, false);
	for (int window = 2; window <= 6; window++) {
		weights_scene_count(&scene, 0, 200, 0);
		weights_scene_window(&scene, second, false);
		assert_times(&scene, 0, 200 + window * 200, 0, window * 1000);
		assert_latency(&scene);
	}
	/* Ten milliseconds a part: the division is exact to about one part a window. */
	assert_within(wall_of(&scene, 0, RUN_RUNNING, "a"), 1400 * MS * 3 / 4, 20 * MS);
	assert_int_equal(wall_of(&scene, 0, ANY, PROFILE_UNSAMPLED_CPU), 0);
	weights_scene_end(&scene);
}

/* Waits for a CPU without a sample: where the thread was on a CPU. */
static void
test_queue_from_cpu(void **state)
{
	const char *const samples[] = { AAAB AAAB S10 S10 S10 S10 S10 S10 };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	weights_scene_count(&scene, 0, 400, 200);
	weights_scene_window(&scene, samples, false);
	assert_times(&scene, 0, 400, 200, 1000);
	assert_within(wall_of(&scene, 0, RUN_QUEUED, "a"), 150 * MS, 20 * MS);
	assert_within(wall_of(&scene, 0, RUN_QUEUED, "b"), 50 * MS, 20 * MS);
	assert_latency(&scene);
	weights_scene_end(&scene);
}

/* One sample stands for at most four times its weight if there are donors; exactly four times needs
 * none. */
static void
test_few_samples(void **state)
{
	const char *const first[] = { A10 A10 A10 A10 S10 S10 S10 S10 S10 S10 };
	const char *const second[] = { S10 S10 S10 "b" };

	(void)state;
	for (int64_t cpu = 40; cpu <= 240; cpu += 200) {
		struct weights_scene scene;

		weights_scene_begin(&scene, 1, NULL);
		weights_scene_count(&scene, 0, 400, 0);
		weights_scene_window(&scene, first, false);
		scene.thread[0].state = RUN_SLEEPING;
		weights_scene_count(&scene, 0, cpu, 0);
		weights_scene_window(&scene, second, false);
		assert_times(&scene, 0, 400 + cpu, 0, 1310);
		/* The sample of b is a donor, too: of 41 donors it may get one part of ten. */
		assert_within(wall_of(&scene, 0, RUN_RUNNING, "b"), 40 * MS,
			      cpu == 40 ? 100 : 10 * MS);
		weights_scene_end(&scene);
	}
}

/* The only samples of a thread, two of them, divide all of its time: both as samples of the window
 * and as its donors. */
static void
test_stretched(void **state)
{
	const char *const samples[] = { S100 "ab" };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	weights_scene_count(&scene, 0, 300, 0);
	weights_scene_window(&scene, samples, false);
	assert_times(&scene, 0, 300, 0, 1020);
	assert_within(wall_of(&scene, 0, RUN_RUNNING, "a"), 150 * MS, 10 * MS);
	assert_within(wall_of(&scene, 0, RUN_RUNNING, "b"), 150 * MS, 10 * MS);
	weights_scene_end(&scene);
}

/* A thread without donors of its own borrows from threads of its kind, in the same window, whatever
 * the order of the threads; the time is in its own record. */
static void
test_same_kind(void **state)
{
	const char *const samples[][2] = { { S100, AAAB AAAB S10 S10 S10 S10 S10 S10 },
					   { AAAB AAAB S10 S10 S10 S10 S10 S10, S100 } };

	(void)state;
	for (int poor = 0; poor < 2; poor++) {
		struct weights_scene scene;

		weights_scene_begin(&scene, 2, NULL);
		weights_scene_count(&scene, (size_t)(1 - poor), 400, 0);
		weights_scene_count(&scene, (size_t)poor, 200, 30);
		weights_scene_window(&scene, samples[poor], false);
		assert_times(&scene, poor, 200, 30, 1000);
		assert_times(&scene, 1 - poor, 400, 0, 1000);
		/* The kind's donors are cells, one for each entry: 300 ms of a, 100 ms of b. */
		assert_within(wall_of(&scene, poor, RUN_RUNNING, "a"), 150 * MS, 20 * MS);
		assert_within(wall_of(&scene, poor, RUN_RUNNING, "b"), 50 * MS, 20 * MS);
		assert_int_equal(wall_of(&scene, poor, ANY, PROFILE_UNSAMPLED_CPU), 0);
		weights_scene_end(&scene);
	}
}

/* Threads of another name, or of other outermost functions, are of another kind. */
static void
test_other_kind(void **state)
{
	const char *const samples[] = { AAAB AAAB S10 S10 S10 S10 S10 S10, S100 };
	struct weights_scene scene;

	(void)state;
	for (int named = 0; named < 2; named++) {
		weights_scene_begin(&scene, 2, NULL);
		weights_scene_count(&scene, 0, 400, 0);
		weights_scene_count(&scene, 1, 200, 0);
		weights_scene_tick(&scene, samples);
		if (named)
			snprintf(scene.thread[1].name, sizeof(scene.thread[1].name), "writer");
		else
			scene.thread[1].stack = stack_of_text(scene.run.profile, "other",
							      STACK_NONE);
		weights_end_window(&scene.calibration, false);
		assert_times(&scene, 1, 200, 0, 1000);
		assert_within(wall_of(&scene, 1, RUN_RUNNING, PROFILE_UNSAMPLED_CPU), 200 * MS,
			      100);
		weights_scene_end(&scene);
	}
}

/* Samples of waits after wake-ups divide the time of waits for a CPU, and no CPU time. CPU time
 * without samples is divided by samples of other waits for a CPU; without any it has a named
 * frame. */
static void
test_woken(void **state)
{
	static const struct {
		const char *samples;
		int64_t slept_ms, a_ms, unsampled_ms;
	} rows[] = {
		{ "++++++++++AAAAAAAAAA" S10 S10 S10 S10 S10 S10 S10 S10, 150, 150, 0 },
		{ "AAAAAAAAAAAAAAAAAAAA" S10 S10 S10 S10 S10 S10 S10 S10, 0, 150, 0 },
		{ "++++++++++++++++++++" S10 S10 S10 S10 S10 S10 S10 S10, 300, 0, 150 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct weights_scene scene;

		weights_scene_begin(&scene, 1, NULL);
		weights_scene_count(&scene, 0, 150, 300);
		weights_scene_window(&scene, &rows[i].samples, false);
		assert_times(&scene, 0, 150, 300, 1000);
		assert_within(wall_of(&scene, 0, RUN_QUEUED, "sleep"), rows[i].slept_ms * MS, 100);
		assert_within(wall_of(&scene, 0, RUN_RUNNING, PROFILE_UNSAMPLED_CPU),
			      rows[i].unsampled_ms * MS, 100);
		assert_within(wall_of(&scene, 0, RUN_RUNNING, "a"), rows[i].a_ms * MS, 100);
		assert_latency(&scene);
		weights_scene_end(&scene);
	}
}

/* CPU time that is one part in each window is divided among all samples of preempted threads: over
 * many windows in proportion to their number. */
static void
test_woken_and_preempted(void **state)
{
	const char *const first[] = { "AAABAAABAAABAAAB++++" S10 S10 S10 S10 S10 S10 S10 S10 };
	const char *const second[] = { S100 };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	weights_scene_count(&scene, 0, 0, 200);
	weights_scene_window(&scene, first, false);
	for (int window = 0; window < 40; window++) {
		weights_scene_count(&scene, 0, 8, 0);
		weights_scene_window(&scene, second, false);
	}
	assert_within(wall_of(&scene, 0, RUN_RUNNING, NULL), 320 * MS, 100);
	assert_within(wall_of(&scene, 0, RUN_RUNNING, "a"), 240 * MS, 16 * MS);
	assert_within(wall_of(&scene, 0, RUN_RUNNING, "b"), 80 * MS, 16 * MS);
	assert_latency(&scene);
	weights_scene_end(&scene);
}

/* Of a thread with many waits after wake-ups, those of other threads of its kind divide the CPU
 * time. */
static void
test_woken_of_kind(void **state)
{
	const char *const samples[] = { "++++++++++++++++++++" S10 S10 S10 S10 S10 S10 S10 S10,
					"AAAAAAAAAAAAAAAAAAAA" S10 S10 S10 S10 S10 S10 S10 S10 };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 2, NULL);
	weights_scene_count(&scene, 0, 150, 200);
	weights_scene_count(&scene, 1, 0, 200);
	weights_scene_window(&scene, samples, false);
	assert_times(&scene, 0, 150, 200, 1000);
	assert_within(wall_of(&scene, 0, RUN_RUNNING, "a"), 150 * MS, 100);
	assert_latency(&scene);
	weights_scene_end(&scene);
}

/* The sampler's own code attributes a sample of a woken thread: as a wait for a CPU in the stack of
 * the sleep, which remains the last observation. So is the rest of the time after such a sample. */
static void
test_attribute_woken(void **state)
{
	const char *const asleep[] = { "-", "-" };
	struct weights_scene scene;
	struct sampled_thread *thread = &scene.thread[0];
	struct sampled_process process = { .process = NULL };
	struct observation seen[2] = { { .outcome = OUTCOME_UNCHANGED } };

	(void)state;
	weights_scene_begin(&scene, 2, NULL);
	scene.run.config.rate_hz = 100;
	scene.run.pace.config = &scene.run.config;
	scene.run.pace.thin = 1;
	rng_seed(&scene.run.rng, 1);
	weights_scene_tick(&scene, asleep);
	scene.thread[1].selected = false;
	for (size_t i = 0; i < 2; i++) {
		scene.thread[i].syscall = SYS_read;
		scene.thread[i].last_ns = 7;
		scene.thread[i].process = &process;
		seen[i] = (struct observation){
			.thread = &scene.thread[i], .outcome = OUTCOME_UNCHANGED, .woken = true,
			.samples = 1, .weight_ns = WEIGHTS_SPAN_NS,
		};
	}
	attribute_observed(&scene.charging, seen, 2);
	assert_true(scene.charging.runnable == 2 && scene.charging.queued == 2);
	assert_true(thread->woken && thread->state == RUN_SLEEPING);
	assert_int_equal(thread->window.moved_ns, 7);
	assert_int_equal(wall_of(&scene, 0, RUN_QUEUED, "sleep"), WEIGHTS_SPAN_NS);
	assert_int_equal(wall_of(&scene, 1, RUN_QUEUED, NULL), 0);
	attribute_past(&scene.charging, thread, 2, 2 * WEIGHTS_SPAN_NS);
	assert_int_equal(wall_of(&scene, 0, RUN_QUEUED, "sleep"), 3 * WEIGHTS_SPAN_NS);
	assert_int_equal(thread->state, RUN_SLEEPING);
	weights_scene_end(&scene);
}

/* A wait after a wake-up that is still in progress at the end of the window is not counted by the
 * kernel yet: it counts as a wait, as that of a preempted thread does. */
static void
test_woken_all_the_time(void **state)
{
	const char *const samples[] = { "++++++++++++++++++++" };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	weights_scene_window(&scene, samples, false);
	assert_times(&scene, 0, 0, 200, 200);
	weights_scene_count(&scene, 0, 0, 400);
	weights_scene_window(&scene, samples, false);
	assert_times(&scene, 0, 0, 400, 400);
	weights_scene_end(&scene);
}

/* --- named frames ---------------------------------------------------------------------------- */

/* CPU time without samples or donors has a named frame, and moves to samples when there are some,
 * in the ticks in which it was spent. */
static void
test_unsampled_cpu(void **state)
{
	const char *const first[] = { S100 };
	const char *const second[] = { AAAB S10 S10 S10 S10 S10 S10 S10 S10 };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	for (int window = 1; window <= 2; window++) {
		weights_scene_count(&scene, 0, 150, 0);
		weights_scene_window(&scene, first, false);
		assert_times(&scene, 0, window * 150, 0, window * 1000);
		assert_within(wall_of(&scene, 0, RUN_RUNNING, PROFILE_UNSAMPLED_CPU),
			      window * 150 * MS, 100);
		assert_latency(&scene);
	}
	assert_int_equal(scene.thread[0].window.unplaced[CLASS_CPU].first_tick, 0);
	assert_int_equal(scene.thread[0].window.unplaced[CLASS_CPU].end_tick, 200);
	weights_scene_count(&scene, 0, 220, 0);
	weights_scene_window(&scene, second, false);
	assert_times(&scene, 0, 520, 0, 3000);
	assert_int_equal(wall_of(&scene, 0, ANY, PROFILE_UNSAMPLED_CPU), 0);
	assert_within(wall_of(&scene, 0, RUN_RUNNING, "a"), 520 * MS * 3 / 4, 30 * MS);
	assert_int_equal(scene.thread[0].window.unplaced[CLASS_CPU].ns, 0);
	assert_latency(&scene);
	weights_scene_end(&scene);
}

/*
 * The named frame gives back the latency that it got: a millisecond has another latency when the
 * time moves than when it was spent, because another thread was runnable in one of the windows. A
 * report shows less than no time as none, and then the sum is more than the elapsed time.
 */
static void
test_latency_moves(void **state)
{
	const char *const alone[][2] = { { S100, S100 },
					 { AAAB S10 S10 S10 S10 S10 S10 S10 S10, S100 } };
	const char *const beside[][2] = { { S100, A10 A10 A10 A10 A10 A10 A10 A10 A10 A10 },
					  { AAAB S10 S10 S10 S10 S10 S10 S10 S10,
					    A10 A10 A10 A10 A10 A10 A10 A10 A10 A10 } };

	(void)state;
	for (int first = 0; first < 2; first++) {
		struct weights_scene scene;

		weights_scene_begin(&scene, 2, NULL);
		/* Donors of another kind than the first thread's. */
		snprintf(scene.thread[1].name, sizeof(scene.thread[1].name), "writer");
		for (int window = 0; window < 2; window++) {
			const bool other = (window == 0) == (first == 0);

			weights_scene_count(&scene, 0, 220, 0);
			weights_scene_count(&scene, 1, other ? 1000 : 0, 0);
			weights_scene_window(&scene, other ? beside[window] : alone[window], false);
			assert_latency(&scene);
			assert_true(window == 1 ||
				    weights_scene_sum(&scene, 0, ANY, PROFILE_UNSAMPLED_CPU,
						      WEIGHT_LATENCY) > 50 * MS);
		}
		assert_int_equal(wall_of(&scene, 0, ANY, PROFILE_UNSAMPLED_CPU), 0);
		assert_int_equal(weights_scene_sum(&scene, 0, ANY, PROFILE_UNSAMPLED_CPU,
						   WEIGHT_LATENCY),
				 0);
		weights_scene_end(&scene);
	}
}

/* CPU time below 0.1 ms without a sample is kept until there is more of it. */
static void
test_short_cpu(void **state)
{
	const char *const samples[] = { S10 };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	for (int window = 1; window <= 3; window++) {
		scene.thread[0].sched.cpu_ns += 40000;
		weights_scene_window(&scene, samples, true);
		assert_int_equal(wall_of(&scene, 0, RUN_RUNNING, PROFILE_UNSAMPLED_CPU),
				 window < 3 ? 0 : 120000);
		assert_within(wall_of(&scene, 0, ANY, NULL), window * 100 * MS, 0);
	}
	weights_scene_end(&scene);
}

/* A wait for a CPU without samples or donors has the stack that was observed last; before the first
 * observation, a named frame. */
static void
test_unsampled_queue(void **state)
{
	const char *const samples[] = { S100 };
	struct weights_scene scene;

	(void)state;
	for (int seen = 0; seen < 2; seen++) {
		weights_scene_begin(&scene, 1, NULL);
		weights_scene_count(&scene, 0, 0, 70);
		weights_scene_tick(&scene, samples);
		scene.thread[0].seen = seen != 0;
		weights_end_window(&scene.calibration, false);
		assert_times(&scene, 0, 0, 70, 1000);
		assert_within(wall_of(&scene, 0, RUN_QUEUED,
				      seen ? "sleep" : PROFILE_UNSAMPLED_QUEUE),
			      70 * MS, 100);
		weights_scene_end(&scene);
	}
}

/* Blocked time without a sample has a named frame until the thread is seen asleep. */
static void
test_unsampled_blocked(void **state)
{
	const char *const first[] = { A10 A10 A10 A10 A10 A10 A10 A10 A10 A10 };
	const char *const second[] = { A10 A10 A10 A10 A10 S10 S10 S10 S10 S10 };
	struct weights_scene scene;
	int64_t blocked;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	weights_scene_count(&scene, 0, 600, 0);
	scene.thread[0].window.moved_ns = (uint64_t)(1000 * MS);
	weights_scene_window(&scene, first, false);
	/* A scheduler tick in advance, and a two-hundredth that hardly blocked. */
	blocked = wall_of(&scene, 0, RUN_UNKNOWN, PROFILE_UNSAMPLED_BLOCKED);
	assert_within(blocked, (400 - 4 - 5) * MS, 100);
	assert_within(wall_of(&scene, 0, ANY, NULL), 1000 * MS, 100);
	assert_latency(&scene);
	weights_scene_count(&scene, 0, 540, 0);
	weights_scene_window(&scene, second, false);
	assert_int_equal(wall_of(&scene, 0, ANY, PROFILE_UNSAMPLED_BLOCKED), 0);
	assert_within(wall_of(&scene, 0, RUN_SLEEPING, "sleep"), blocked + 464 * MS, 100);
	assert_within(wall_of(&scene, 0, ANY, NULL), 2000 * MS, 100);
	assert_latency(&scene);
	weights_scene_end(&scene);
}

/* Each thread may have a name of its own: the number of kinds is bounded. */
static void
test_many_kinds(void **state)
{
	const char *const samples[] = { "aaaa------", "----------" };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 2, NULL);
	for (int window = 0; window < 5000; window++) {
		snprintf(scene.thread[0].name, sizeof(scene.thread[0].name), "worker %d", window);
		weights_scene_count(&scene, 0, 50, 0);
		weights_scene_count(&scene, 1, 20, 0);
		weights_scene_window(&scene, samples, false);
		assert_true(scene.calibration.kinds.count <= 4096);
	}
	assert_within(wall_of(&scene, 0, RUN_RUNNING, NULL), 5000 * 50 * MS, 5000 * 20);
	assert_within(wall_of(&scene, 1, RUN_RUNNING, NULL), 5000 * 20 * MS, 5000 * 20);
	weights_scene_end(&scene);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rough_alone),
		cmocka_unit_test(test_own_donors),      cmocka_unit_test(test_queue_from_cpu),
		cmocka_unit_test(test_woken),           cmocka_unit_test(test_woken_all_the_time),
		cmocka_unit_test(test_woken_and_preempted),
		cmocka_unit_test(test_woken_of_kind),   cmocka_unit_test(test_attribute_woken),
		cmocka_unit_test(test_few_samples),     cmocka_unit_test(test_stretched),
		cmocka_unit_test(test_same_kind),       cmocka_unit_test(test_other_kind),
		cmocka_unit_test(test_unsampled_cpu),   cmocka_unit_test(test_short_cpu),
		cmocka_unit_test(test_unsampled_queue), cmocka_unit_test(test_unsampled_blocked),
		cmocka_unit_test(test_many_kinds),      cmocka_unit_test(test_latency_moves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
