/* SPDX-License-Identifier: MIT */
/*
 * test_weights.c - the sums of the samples of a window are those of the kernel's counters; what the
 * window cannot contain is carried to the next one. Ends of threads, and counters that run back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "../scene/weights_scene.h"

#define MS ((int64_t)NS_PER_MS)
#define ANY RUN_STATE_COUNT

/* Ten ticks, 100 ms. */
#define AAAB "aaabaaabab"
#define A10 "aaaaaaaaaa"
#define W10 "AAAAAAAAAA"
#define S10 "----------"

/* "Equal": rounded to a nanosecond, of at most a hundred entries. */
static void
assert_near(int64_t got, int64_t wanted)
{
	if (llabs(got - wanted) > 100)
		print_error("%lld ns in place of %lld ns\n", (long long)got, (long long)wanted);
	assert_true(llabs(got - wanted) <= 100);
}

static int64_t
cpu_of(struct weights_scene *scene, int thread)
{
	const int64_t cpu = weights_scene_sum(scene, thread, ANY, NULL, WEIGHT_CPU);

	assert_near(weights_scene_sum(scene, thread, RUN_RUNNING, NULL, WEIGHT_WALL), cpu);
	return cpu;
}

static int64_t
wall_of(struct weights_scene *scene, int thread, enum run_state state, const char *leaf)
{
	return weights_scene_sum(scene, thread, state, leaf, WEIGHT_WALL);
}

/* The latency of all stacks is the elapsed time. */
static void
assert_latency(struct weights_scene *scene)
{
	assert_near(weights_scene_sum(scene, -1, ANY, NULL, WEIGHT_LATENCY),
		    (int64_t)profile_wall_ns(scene->run.profile));
}

/* --- one window ------------------------------------------------------------------------------ */

/* Samples divide the known time in proportion to their weights; the wall time is unchanged. */
static void
test_sums(void **state)
{
	const char *const samples[] = { AAAB AAAB AAAB AAAB W10 S10 S10 S10 S10 S10 };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	assert_true(scene.run.stats.calibrated);
	weights_scene_count(&scene, 0, 520, 80);
	weights_scene_window(&scene, samples, false);
	assert_near(cpu_of(&scene, 0), 520 * MS);
	assert_near(wall_of(&scene, 0, RUN_RUNNING, "a"), 520 * MS * 7 / 10);
	assert_near(wall_of(&scene, 0, RUN_RUNNING, "b"), 520 * MS * 3 / 10);
	assert_near(wall_of(&scene, 0, RUN_QUEUED, "a"), 80 * MS);
	assert_near(wall_of(&scene, 0, RUN_SLEEPING, "sleep"), 400 * MS);
	assert_near(wall_of(&scene, 0, ANY, NULL), 1000 * MS);
	/* One thread: its latency is the time for which it was runnable. */
	assert_near(weights_scene_sum(&scene, 0, RUN_RUNNING, NULL, WEIGHT_LATENCY), 520 * MS);
	assert_near(weights_scene_sum(&scene, 0, RUN_QUEUED, NULL, WEIGHT_LATENCY), 80 * MS);
	assert_latency(&scene);
	weights_scene_end(&scene);
}

/* The known times at the ends of their range: none, and the whole window. */
static void
test_extremes(void **state)
{
	const char *const samples[] = { A10 A10 A10 A10 A10 S10 S10 S10 S10 S10 };

	(void)state;
	for (int64_t cpu = 0; cpu <= 1000; cpu += 1000) {
		struct weights_scene scene;

		weights_scene_begin(&scene, 1, NULL);
		weights_scene_count(&scene, 0, cpu, 0);
		weights_scene_window(&scene, samples, false);
		assert_near(cpu_of(&scene, 0), cpu * MS);
		assert_near(wall_of(&scene, 0, RUN_RUNNING, "a"), cpu * MS);
		assert_near(wall_of(&scene, 0, RUN_SLEEPING, "sleep"), (1000 - cpu) * MS);
		assert_latency(&scene);
		weights_scene_end(&scene);
	}
}

/* Counters without bounds cannot make a thread run for longer than its window. */
static void
test_huge_counters(void **state)
{
	const char *const samples[] = { A10 A10 A10 A10 A10 W10 S10 S10 S10 S10 };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	scene.thread[0].sched.cpu_ns = INT64_MAX / 2;
	scene.thread[0].sched.delay_ns = INT64_MAX / 2;
	for (int window = 1; window <= 2; window++) {
		weights_scene_window(&scene, samples, false);
		assert_near(cpu_of(&scene, 0), window * 1000 * MS);
		assert_near(wall_of(&scene, 0, ANY, NULL), window * 1000 * MS);
		assert_latency(&scene);
	}
	weights_scene_end(&scene);
}

/* Two threads on two CPUs: each keeps its own time, and they share the elapsed time. */
static void
test_two_threads(void **state)
{
	const char *const samples[] = { A10 A10 A10 A10 A10 S10 S10 S10 S10 S10,
					"bbbbbbbbbb" S10 S10 S10 S10 S10 S10 S10 S10 S10 };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 2, NULL);
	weights_scene_count(&scene, 0, 700, 0);
	weights_scene_count(&scene, 1, 250, 0);
	weights_scene_window(&scene, samples, false);
	assert_near(cpu_of(&scene, 0), 700 * MS);
	assert_near(cpu_of(&scene, 1), 250 * MS);
	assert_near(wall_of(&scene, 0, RUN_RUNNING, "b"), 0);
	assert_near(wall_of(&scene, 1, RUN_RUNNING, "a"), 0);
	assert_latency(&scene);
	weights_scene_end(&scene);
}

/* Rough samples of a running thread decide little beside exact ones (occupy_internal.h). */
static void
test_rough_samples(void **state)
{
	const char *const exact[] = { A10 }, *const rough[] = { "bbbbbbbbbb" };
	const char *const rest[] = { S10 S10 S10 };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	weights_scene_tick(&scene, exact);
	scene.thread[0].window.importance = 0.25;
	weights_scene_tick(&scene, rough);
	scene.thread[0].window.importance = 1;
	weights_scene_count(&scene, 0, 250, 0);
	weights_scene_window(&scene, rest, false);
	assert_near(wall_of(&scene, 0, RUN_RUNNING, "a"), 200 * MS);
	assert_near(wall_of(&scene, 0, RUN_RUNNING, "b"), 50 * MS);
	weights_scene_end(&scene);
}

/* --- from window to window ------------------------------------------------------------------- */

/* The kernel may count more than a window has, which is shorter than elapsed time. */
static void
test_carried(void **state)
{
	const char *const first[] = { A10 A10 A10 A10 A10 A10 A10 A10 A10 S10 };
	const char *const second[] = { A10 A10 A10 A10 A10 S10 S10 S10 S10 S10 };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	weights_scene_count(&scene, 0, 1010, 0);
	weights_scene_window(&scene, first, false);
	assert_near(cpu_of(&scene, 0), 1000 * MS);
	weights_scene_count(&scene, 0, 400, 20);
	weights_scene_window(&scene, second, false);
	assert_near(cpu_of(&scene, 0), 1410 * MS);
	assert_near(wall_of(&scene, 0, RUN_QUEUED, NULL), 20 * MS);
	assert_near(wall_of(&scene, 0, RUN_SLEEPING, NULL), 570 * MS);
	assert_latency(&scene);
	weights_scene_end(&scene);
}

/* The counter of a running thread may be a scheduler tick behind: that time is counted in advance,
 * and not counted again. */
static void
test_behind(void **state)
{
	const char *const first[] = { A10 A10 A10 A10 A10 A10 A10 A10 A10 A10 };
	const char *const second[] = { A10 A10 A10 A10 A10 S10 S10 S10 S10 S10 };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	weights_scene_count(&scene, 0, 996, 0);
	weights_scene_window(&scene, first, false);
	assert_near(cpu_of(&scene, 0), 1000 * MS);
	weights_scene_count(&scene, 0, 454, 0);
	weights_scene_window(&scene, second, false);
	assert_near(cpu_of(&scene, 0), 1450 * MS);
	weights_scene_end(&scene);
}

/* A wait for a CPU is in the kernel's count when it has ended: that of a wait in progress is taken
 * from the samples, and not counted again. */
static void
test_wait_in_progress(void **state)
{
	const char *const first[] = { A10 A10 A10 A10 A10 A10 W10 W10 W10 W10 };
	const char *const second[] = { W10 A10 A10 A10 A10 S10 S10 S10 S10 S10 };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	weights_scene_count(&scene, 0, 600, 0);
	scene.thread[0].window.moved_ns = (uint64_t)(600 * MS);
	weights_scene_window(&scene, first, false);
	assert_near(cpu_of(&scene, 0), 600 * MS);
	assert_near(wall_of(&scene, 0, RUN_QUEUED, "a"), 400 * MS);
	weights_scene_count(&scene, 0, 350, 490);
	weights_scene_window(&scene, second, false);
	assert_near(cpu_of(&scene, 0), 950 * MS);
	assert_near(wall_of(&scene, 0, RUN_QUEUED, "a"), 490 * MS);
	assert_near(wall_of(&scene, 0, RUN_SLEEPING, NULL), 560 * MS);
	weights_scene_end(&scene);
}

/* A difference below a thousandth of the window waits for the next one, but not at the end. */
static void
test_small_difference(void **state)
{
	const char *const samples[] = { A10 A10 A10 A10 A10 S10 S10 S10 S10 S10 };
	const uint64_t more = 600000;
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	for (int window = 1; window <= 3; window++) {
		weights_scene_count(&scene, 0, 500, 0);
		scene.thread[0].sched.cpu_ns += more;
		weights_scene_window(&scene, samples, window == 3);
		/* The second window has both differences: more than a thousandth. */
		assert_near(cpu_of(&scene, 0),
			    window * 500 * MS + (window == 1 ? 0 : window * (int64_t)more));
	}
	weights_scene_end(&scene);
}

/* One window of a thread, for 95 ms of which stops kept it from executing. */
static void
window_with_stops(struct weights_scene *scene, const char *samples, int64_t cpu_ms,
		  int64_t delay_ms)
{
	const char *const all[] = { samples };

	weights_scene_begin(scene, 1, NULL);
	weights_scene_count(scene, 0, cpu_ms, delay_ms);
	scene->thread[0].window.stopped_ns = 95 * MS;
	scene->thread[0].window.moved_ns = (uint64_t)(1000 * MS);
	weights_scene_window(scene, all, false);
	assert_int_equal(scene->thread[0].window.stopped_ns, 0);
}

/* The time of the sampler's own stops of a runnable thread is a wait for a CPU. */
static void
test_stops(void **state)
{
	struct weights_scene scene;

	(void)state;
	window_with_stops(&scene, A10 A10 A10 A10 A10 A10 A10 A10 W10 W10, 700, 200);
	/* A two-hundredth of the window hardly blocked, and counts as running. */
	assert_near(cpu_of(&scene, 0), 705 * MS);
	assert_near(wall_of(&scene, 0, RUN_QUEUED, NULL), 295 * MS);
	assert_near(wall_of(&scene, 0, RUN_UNKNOWN, NULL), 0);
	weights_scene_end(&scene);
}

/* This time is subtracted from the blocked time even if most samples found the thread asleep. */
static void
test_stops_of_sleeper(void **state)
{
	struct weights_scene scene;

	(void)state;
	window_with_stops(&scene, A10 A10 A10 A10 S10 S10 S10 S10 S10 S10, 400, 0);
	assert_near(cpu_of(&scene, 0), 400 * MS);
	assert_near(wall_of(&scene, 0, RUN_SLEEPING, NULL), 505 * MS);
	weights_scene_end(&scene);
}

/* --- counters that run back ------------------------------------------------------------------ */

static void
count_to(struct weights_scene *scene, int64_t cpu_ms, const char *samples)
{
	const char *const all[] = { samples };

	scene->thread[0].sched.cpu_ns = (uint64_t)(cpu_ms * MS);
	weights_scene_window(scene, all, false);
}

/* One reading below the last is an old one: nothing is lost, and nothing counted twice. */
static void
test_old_reading(void **state)
{
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	count_to(&scene, 500, A10 A10 A10 A10 A10 S10 S10 S10 S10 S10);
	count_to(&scene, 450, A10 S10 S10 S10 S10 S10 S10 S10 S10 S10);
	assert_near(cpu_of(&scene, 0), 500 * MS);
	count_to(&scene, 900, A10 A10 A10 S10 S10 S10 S10 S10 S10 S10);
	assert_near(cpu_of(&scene, 0), 900 * MS);
	assert_latency(&scene);
	weights_scene_end(&scene);
}

/* Two such readings are those of another thread, which has taken the id by an exec: its time counts
 * from the second one on. */
static void
test_other_thread(void **state)
{
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	count_to(&scene, 500, A10 A10 A10 A10 A10 S10 S10 S10 S10 S10);
	count_to(&scene, 10, S10 S10 S10 S10 S10 S10 S10 S10 S10 S10);
	count_to(&scene, 20, S10 S10 S10 S10 S10 S10 S10 S10 S10 S10);
	assert_near(cpu_of(&scene, 0), 500 * MS);
	count_to(&scene, 220, A10 S10 S10 S10 S10 S10 S10 S10 S10 S10);
	assert_near(cpu_of(&scene, 0), 700 * MS);
	weights_scene_end(&scene);
}

/* --- ends of threads ------------------------------------------------------------------------- */

/* A thread that ends has a last, shorter window; the other threads keep theirs. */
static void
test_thread_end(void **state)
{
	const char *const half[] = { A10 A10 A10 S10 S10, "bbbbb-----" S10 S10 S10 S10 };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 2, NULL);
	weights_scene_tick(&scene, half);
	weights_scene_count(&scene, 0, 800, 0);
	weights_scene_count(&scene, 1, 120, 30);
	weights_scene_remove(&scene);
	assert_int_equal(scene.thread[1].window.count, 0);
	assert_near(cpu_of(&scene, 1), 120 * MS);
	assert_near(wall_of(&scene, 1, RUN_QUEUED, "b"), 30 * MS);
	assert_near(wall_of(&scene, 1, ANY, NULL), 500 * MS);
	assert_near(cpu_of(&scene, 0), 300 * MS);
	weights_scene_window(&scene, half, false);
	assert_near(cpu_of(&scene, 0), 800 * MS);
	assert_near(wall_of(&scene, 0, ANY, NULL), 1000 * MS);
	assert_near(cpu_of(&scene, 1), 120 * MS);
	assert_latency(&scene);
	weights_scene_end(&scene);
}

/* Samples of a thread that lived for a few ticks stand for such threads in general, and keep their
 * weights; from eight samples on a thread has its own time. */
static void
test_brief_thread(void **state)
{
	const char *const seven[] = { S10 S10, "aaaa---" };
	const char *const eight[] = { S10 S10, "aaaa----" };
	struct weights_scene scene;

	(void)state;
	for (int n = 7; n <= 8; n++) {
		weights_scene_begin(&scene, 2, NULL);
		weights_scene_tick(&scene, n == 7 ? seven : eight);
		weights_scene_count(&scene, 1, 10, 0);
		weights_scene_remove(&scene);
		assert_near(cpu_of(&scene, 1), n == 7 ? 40 * MS : 10 * MS);
		assert_near(wall_of(&scene, 1, ANY, NULL), n * 10 * MS);
		assert_int_equal(scene.process.weights.known_ns, n == 7 ? 40 * MS : 10 * MS);
		weights_scene_end(&scene);
	}
}

/* A thread of an earlier window is not brief, however few samples its last window has. */
static void
test_short_last_window(void **state)
{
	const char *const first[] = { S10 S10, A10 S10 };
	const char *const second[] = { S10, "a--" };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 2, NULL);
	weights_scene_count(&scene, 1, 100, 0);
	weights_scene_window(&scene, first, false);
	weights_scene_tick(&scene, second);
	weights_scene_count(&scene, 1, 2, 0);
	weights_scene_remove(&scene);
	assert_near(cpu_of(&scene, 1), 102 * MS);
	assert_near(wall_of(&scene, 1, ANY, NULL), 230 * MS);
	weights_scene_end(&scene);
}

static uint64_t
own_cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * NS_PER_SEC + (uint64_t)time.tv_nsec;
}

static void
use_cpu(uint64_t ns)
{
	const uint64_t end = own_cpu_ns() + ns;

	while (own_cpu_ns() < end)
		;
}

/* CPU time of the process that no listed thread has used is that of threads that have ended. The
 * process is that of the test, whose threads the run does not list. */
static void
test_ended_threads(void **state)
{
	const char *const samples[] = { "a" S10 };
	struct sampled_process sampled = { .leader_fd = -1 }, *list = &sampled;
	struct weights_scene scene;
	struct process *process;
	uint64_t before, after = 0;
	int64_t placed = 0;
	struct error err;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	assert_int_equal(process_open(getpid(), &process, &err), 0);
	sampled.process = process;
	scene.run.processes = (struct process_list){ .item = &list, .count = 1 };
	sampled.weights.record = THREAD_NONE;
	scene.thread[0].process = &sampled;
	before = own_cpu_ns();
	scene.run.threads.count = 0; /* the counters of the listed thread begin at 0 */
	weights_start(&scene.calibration);
	scene.run.threads.count = 1;
	/* Excluded threads have used 10 ms, and the listed one 5 ms. */
	sampled.weights.known_ns += 10 * MS;
	weights_scene_count(&scene, 0, 5, 0);
	use_cpu(15 * NS_PER_MS);
	for (int i = 0; i < 200 && placed == 0; i++) {
		use_cpu(20 * NS_PER_MS);
		weights_scene_window(&scene, samples, false);
		after = own_cpu_ns();
		placed = weights_scene_sum(&scene, -1, RUN_RUNNING, PROFILE_UNSAMPLED_CPU,
					   WEIGHT_CPU);
	}
	assert_true(placed > 0);
	assert_string_equal(profile_text(scene.run.profile,
					 profile_thread(scene.run.profile,
							sampled.weights.record)
						 ->name),
			    PROFILE_ENDED_THREADS);
	/* What is not in the profile yet is kept: the process may be ahead of its threads. */
	placed += sampled.weights.unknown_ns + 15 * MS;
	assert_true(placed <= (int64_t)(after - before));
	assert_true(placed >= 35 * MS);
	process_free(process);
	weights_scene_end(&scene);
}

/* --- without calibration --------------------------------------------------------------------- */

static void
without_schedstat(struct run *run)
{
	run->threads.sched_source = SCHED_FROM_STATUS;
}

static void
exact(struct run *run)
{
	run->config.exact = true;
}

static void
holding(struct run *run)
{
	run->holds = true;
}

static bool
select_some(void *context, pid_t tid, const char *name)
{
	(void)context;
	(void)tid;
	(void)name;
	return true;
}

static void
selecting(struct run *run)
{
	run->context.selected = select_some;
}

/* Without schedstat, in dumps and while threads are held, samples keep their weights. */
static void
test_off(void **state)
{
	static void (*const change[])(struct run * run) = { without_schedstat, exact, holding };
	const char *const samples[] = { A10 S10 S10 };

	(void)state;
	for (size_t i = 0; i < sizeof(change) / sizeof(change[0]); i++) {
		struct weights_scene scene;

		weights_scene_begin(&scene, 1, change[i]);
		assert_false(scene.run.stats.calibrated);
		weights_scene_count(&scene, 0, 250, 0);
		weights_scene_window(&scene, samples, false);
		assert_near(cpu_of(&scene, 0), 100 * MS);
		assert_int_equal(scene.thread[0].window.count, 0);
		assert_latency(&scene);
		weights_scene_end(&scene);
	}
}

/* With a choice of threads their weights are the kernel's, but not those of the whole process. */
static void
test_selected(void **state)
{
	const char *const samples[] = { A10 S10 S10 };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 1, selecting);
	assert_false(scene.run.stats.calibrated);
	weights_scene_count(&scene, 0, 250, 0);
	weights_scene_window(&scene, samples, false);
	assert_near(cpu_of(&scene, 0), 250 * MS);
	weights_scene_end(&scene);
}

/* A window lasts a second, and longer if it has more than two thousand threads. */
static void
test_due(void **state)
{
	struct weights_scene scene;
	struct run *run = &scene.run;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	run->tick.time_ns = NS_PER_SEC - 1;
	assert_false(weights_due(&scene.calibration));
	run->tick.time_ns = NS_PER_SEC;
	assert_true(weights_due(&scene.calibration));
	run->threads.count = 1999;
	assert_true(weights_due(&scene.calibration));
	run->threads.count = 2000;
	assert_false(weights_due(&scene.calibration));
	run->tick.time_ns = 2 * NS_PER_SEC;
	assert_true(weights_due(&scene.calibration));
	run->threads.count = 1;
	weights_scene_end(&scene);
}

/*
 * A hypervisor has used the CPUs for a fifth of the time for which they were busy: a thread that
 * computed for 500 ms was stopped in this way for 100 ms, which the kernel counts neither as CPU
 * time nor as a wait. The samples tell stolen time from sleep, up to twice the likely time. A
 * thread that never sleeps has all of its missing time stolen.
 */
static void
test_stolen(void **state)
{
	const char *const samples[] = { A10 A10 A10 A10 A10 A10 S10 S10 S10 S10,
					A10 A10 A10 A10 A10 A10 A10 A10 A10 A10,
					A10 A10 A10 A10 A10 A10 A10 A10 A10 S10 };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 3, NULL);
	scene.calibration.stolen.last = (struct machine_time){ .busy_ns = 1, .stolen_ns = 1 };
	weights_scene_machine_time = (struct machine_time){
		.busy_ns = 1 + 2 * NS_PER_SEC,
		.stolen_ns = 1 + 2 * NS_PER_SEC / 5,
	};
	weights_scene_count(&scene, 0, 500, 0);
	weights_scene_count(&scene, 1, 700, 0);
	weights_scene_count(&scene, 2, 500, 0);
	/* The second thread is not in a wait that the kernel will count. */
	scene.thread[1].window.moved_ns = scene.run.tick.time_ns + NS_PER_SEC;
	weights_scene_window(&scene, samples, false);
	assert_near(cpu_of(&scene, 0), 500 * MS);
	assert_near(wall_of(&scene, 0, RUN_QUEUED, "a"), 100 * MS);
	assert_near(wall_of(&scene, 0, RUN_SLEEPING, "sleep"), 400 * MS);
	/* Its CPU time may be behind by a scheduler tick. */
	assert_near(cpu_of(&scene, 1), 704 * MS);
	assert_near(wall_of(&scene, 1, RUN_QUEUED, "a"), 296 * MS);
	assert_near(cpu_of(&scene, 2), 500 * MS);
	assert_near(wall_of(&scene, 2, RUN_QUEUED, "a"), 200 * MS);
	assert_near(wall_of(&scene, 2, RUN_SLEEPING, "sleep"), 300 * MS);
	assert_near((int64_t)scene.run.stats.stolen_ns, 596 * MS);
	weights_scene_end(&scene);
}

/* Latency that was charged to a thread outside of its window is corrected by the next window. */
static void
test_stray_latency(void **state)
{
	const char *const samples[] = { A10 A10 A10 A10 A10 A10 S10 S10 S10 S10 };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	weights_scene_count(&scene, 0, 500, 0);
	weights_scene_window(&scene, samples, false);
	assert_latency(&scene);
	profile_charge(scene.run.profile, 0, 50 * MS);
	weights_scene_count(&scene, 0, 500, 0);
	weights_scene_window(&scene, samples, false);
	assert_latency(&scene);
	weights_scene_end(&scene);
}

/* On a machine without stolen time, missing time is time asleep, as before. */
static void
test_nothing_stolen(void **state)
{
	const char *const samples[] = { A10 A10 A10 A10 A10 A10 S10 S10 S10 S10 };
	struct weights_scene scene;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	weights_scene_machine_time = (struct machine_time){ .busy_ns = 2 * NS_PER_SEC };
	for (int window = 1; window <= 40; window++) {
		weights_scene_count(&scene, 0, 500, 0);
		weights_scene_window(&scene, samples, false);
		assert_near(wall_of(&scene, 0, RUN_SLEEPING, "sleep"), window * 500 * MS);
	}
	assert_int_equal(scene.run.stats.stolen_ns, 0);
	weights_scene_end(&scene);
}

/* A thread that is removed between its sample and the end of the tick: its latency is charged
 * without it. */
static void
test_charge_removed(void **state)
{
	static const char *const samples[] = { "a" };
	struct weights_scene scene;
	struct thread_window *window = &scene.thread[0].window;
	struct thread_window kept;
	int64_t before;
	size_t gaps;

	(void)state;
	weights_scene_begin(&scene, 1, NULL);
	weights_scene_tick(&scene, samples);
	before = weights_scene_sum(&scene, -1, ANY, NULL, WEIGHT_LATENCY);
	gaps = scene.charging.gap_count;
	scene.run.tick.span_ns = WEIGHTS_SPAN_NS;
	charge_runnable(&scene.charging, &scene.thread[0], window->cell[0].entry, 1);
	charge_removed(&scene.charging, &scene.thread[0]);
	/* as memory that was freed */
	kept = *window;
	window->cell = NULL;
	charge_tick(&scene.charging);
	*window = kept;
	assert_int_equal(weights_scene_sum(&scene, -1, ANY, NULL, WEIGHT_LATENCY),
			 before + WEIGHTS_SPAN_NS);
	assert_int_equal(scene.charging.gap_count, gaps + 1);
	assert_int_equal(scene.charging.gap[gaps].ns, WEIGHTS_SPAN_NS);
	weights_scene_end(&scene);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_charge_removed),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_huge_counters),
		cmocka_unit_test(test_two_threads),
		cmocka_unit_test(test_rough_samples),
		cmocka_unit_test(test_carried),
		cmocka_unit_test(test_behind),
		cmocka_unit_test(test_wait_in_progress),
		cmocka_unit_test(test_small_difference),
		cmocka_unit_test(test_stops),
		cmocka_unit_test(test_stops_of_sleeper),
		cmocka_unit_test(test_old_reading),
		cmocka_unit_test(test_other_thread),
		cmocka_unit_test(test_thread_end),
		cmocka_unit_test(test_brief_thread),
		cmocka_unit_test(test_short_last_window),
		cmocka_unit_test(test_ended_threads),
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_selected),
		cmocka_unit_test(test_due),
		cmocka_unit_test(test_stolen),
		cmocka_unit_test(test_stray_latency),
		cmocka_unit_test(test_nothing_stolen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
