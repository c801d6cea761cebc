/* SPDX-License-Identifier: MIT */
/*
 * test_margins.c - of many simulated runs, the true share of a function lies within the 95 % margin
 * of error in the part that the binomial distribution allows. Samples are drawn, the kernel's
 * counters are simulated, and the weights are those of src/sampler/weights.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sampler/occupy_internal.h"
#include "sampler/sampler_internal.h"
#include "wallsample/analysis/margin.h"

#define RUNS 1000
#define TICKS 200
#define TICK ((int64_t)(10 * NS_PER_MS))
#define THREADS_MOST 20
/* Share of the running time in the function that is tested. */
#define SHARE 0.3
/* 95 % less 2.9 standard deviations of the binomial distribution, sqrt(1000 * 0.95 * 0.05) = 6.9.
 * The random numbers are the same at each run of the test. */
#define HELD_LEAST 930

/* A program and its sampler. */
struct program {
	unsigned threads;
	double duty;  /* share of its time for which a thread is on a CPU */
	double found; /* share of the time on a CPU at which the sampler finds the thread there */
	double exact; /* share of the exact samples */
	bool alike;   /* all threads are in the same function at the same time */
};

struct simulation {
	struct run run;
	struct charging charging;
	struct calibration calibration;
	struct sampled_process process;
	struct sampled_thread thread[THREADS_MOST], *list[THREADS_MOST];
	struct rng rng;
	uint32_t stack[2], asleep; /* stack[0]: the function that is tested */
};

/* Without stolen time. */
static bool
no_machine(struct machine_time *out)
{
	*out = (struct machine_time){ .stolen_ns = 0 };
	return true;
}

/* None of the threads is its first one. */
static const struct process process = { .pid = 1000 };

static void
begin(struct simulation *simulation, const struct program *program, uint64_t seed)
{
	struct run *run = &simulation->run;
	struct profile *profile = profile_create();

	*simulation = (struct simulation){ .run.profile = profile };
	rng_seed(&simulation->rng, seed);
	for (unsigned i = 0; i < program->threads; i++) {
		struct sampled_thread *thread = &simulation->thread[i];

		simulation->process.process = &process;
		thread->process = &simulation->process;
		window_init(&thread->window);
		strcpy(thread->name, "worker");
		thread->record = profile_add_thread(profile, 0, (pid_t)i + 1, 1, thread->name);
		thread->green_task = THREAD_NONE;
		thread->selected = true;
		simulation->list[i] = thread;
	}
	simulation->stack[0] = stack_of_text(profile, "[tested]", STACK_NONE);
	simulation->stack[1] = stack_of_text(profile, "[other]", STACK_NONE);
	simulation->asleep = stack_of_text(profile, "[asleep]", STACK_NONE);
	run->threads = (struct thread_list){
		.thread = simulation->list,
		.count = program->threads,
		.sched_source = SCHED_FROM_SCHEDSTAT,
	};
	run->stats.cpus = program->threads;
	run->tick.span_ns = (uint64_t)TICK;
	simulation->charging.run = run;
	weights_init(&simulation->calibration, run, &simulation->charging);
	simulation->calibration.stolen.read = no_machine;
}

static void
end(struct simulation *simulation)
{
	for (size_t i = 0; i < simulation->run.threads.count; i++)
		window_release(&simulation->thread[i].window);
	weights_release(&simulation->calibration);
	profile_free(simulation->run.profile);
}

static void
add(struct simulation *simulation, struct sampled_thread *thread, enum run_state state,
    uint32_t stack)
{
	const struct profile_entry entry = {
		.thread = thread->record,
		.stack = stack,
		.state = state,
		.syscall = SYSCALL_NONE,
		.gil = GIL_UNKNOWN,
		.samples = 1,
		.ns[WEIGHT_WALL] = TICK,
		.ns[WEIGHT_CPU] = state == RUN_RUNNING ? TICK : 0,
	};

	thread->seen = true;
	thread->state = state;
	thread->stack = stack;
	window_add(&thread->window, profile_add(simulation->run.profile, &entry), state, 1, TICK);
}

/* One sample of each thread. The kernel counts the true time on a CPU. */
static void
tick(struct simulation *simulation, const struct program *program)
{
	struct rng *rng = &simulation->rng;
	const bool together = rng_uniform(rng) <= SHARE;
	const double importance = rng_uniform(rng) <= program->exact ? 1 : IMPORTANCE_ROUGH;
	uint32_t running = 0;

	simulation->run.tick.time_ns += (uint64_t)TICK;
	for (unsigned i = 0; i < program->threads; i++) {
		struct sampled_thread *thread = &simulation->thread[i];
		const bool tested = program->alike ? together : rng_uniform(rng) <= SHARE;

		thread->sched.cpu_ns += (uint64_t)(program->duty * (double)TICK);
		if (rng_uniform(rng) <= program->duty * program->found) {
			thread->window.importance = importance;
			add(simulation, thread, RUN_RUNNING, simulation->stack[tested ? 0 : 1]);
			running++;
		} else {
			thread->window.importance = 1;
			add(simulation, thread, RUN_SLEEPING, simulation->asleep);
		}
	}
	profile_add_tick(simulation->run.profile, (uint64_t)TICK, running, running);
	if (weights_due(&simulation->calibration))
		weights_end_window(&simulation->calibration, false);
}

/* Returns true if the error of the tested function's share is within its margin. */
static bool
holds(const struct simulation *simulation, const struct program *program, enum weight weight)
{
	const struct profile *profile = simulation->run.profile;
	const double truth = weight == WEIGHT_WALL ? SHARE * program->duty : SHARE;
	int64_t part = 0, whole = 0;
	double share, ticks;

	for (size_t i = 0; i < profile_entry_count(profile); i++) {
		const struct profile_entry *entry = profile_entry(profile, i);

		whole += entry->ns[weight];
		if (entry->stack == simulation->stack[0])
			part += entry->ns[weight];
	}
	share = (double)part / (double)whole;
	ticks = margin_ticks(profile, &simulation->run.stats.division, weight, whole);
	return fabs(share - truth) <= margin_of_share(share, ticks);
}

static void
check(const struct program *program)
{
	unsigned held[WEIGHT_COUNT] = { 0 };
	struct simulation simulation;

	for (unsigned i = 0; i < RUNS; i++) {
		begin(&simulation, program, i + 1);
		for (int n = 0; n < TICKS; n++)
			tick(&simulation, program);
		weights_end_window(&simulation.calibration, true);
		for (int weight = WEIGHT_WALL; weight <= WEIGHT_CPU; weight++)
			held[weight] += holds(&simulation, program, (enum weight)weight);
		end(&simulation);
	}
	print_message("Wall %u, CPU %u of %u\n", held[WEIGHT_WALL], held[WEIGHT_CPU],
		      RUNS);
	assert_true(held[WEIGHT_WALL] >= HELD_LEAST);
	assert_true(held[WEIGHT_CPU] >= HELD_LEAST);
}

#define TEST(name, ...)                                                                            \
	static void test_##name(void **state)                                                      \
	{                                                                                          \
		(void)state;                                                                       \
		check(&(const struct program){ __VA_ARGS__ });                                     \
	}

TEST(busy, .threads = 1, .duty = 1, .found = 1, .exact = 1)
TEST(busy_some_exact, .threads = 1, .duty = 1, .found = 1, .exact = 0.2)
TEST(busy_rarely_found, .threads = 1, .duty = 1, .found = 0.4, .exact = 0.8)
TEST(sleeps, .threads = 1, .duty = 0.33, .found = 1, .exact = 1)
TEST(sleeps_some_exact, .threads = 1, .duty = 0.33, .found = 1, .exact = 0.3)
TEST(threads, .threads = 20, .duty = 0.05, .found = 1, .exact = 1)
TEST(threads_rarely_found, .threads = 20, .duty = 0.05, .found = 0.2, .exact = 0.5)
TEST(threads_alike, .threads = 20, .duty = 0.5, .found = 1, .exact = 0.5, .alike = true)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_busy_some_exact),
		cmocka_unit_test(test_busy_rarely_found),
		cmocka_unit_test(test_sleeps),
		cmocka_unit_test(test_sleeps_some_exact),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_threads_rarely_found),
		cmocka_unit_test(test_threads_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
