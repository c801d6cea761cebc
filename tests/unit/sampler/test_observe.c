/* SPDX-License-Identifier: MIT */
/*
 * test_observe.c - observations of a thread that is woken, falls asleep or runs on while a tick
 * occupies the CPUs (occupy_internal.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../scene/sleeping_child.h"
#include "sampler/occupy_internal.h"
#include "sampler/pipeline_internal.h"

/* What the child shares with the test. */
struct shared {
	_Atomic bool spins; /* the child spins */
	_Atomic bool go;    /* it is to end that */
};
static struct shared *shared;

struct scene {
	struct run run;
	struct sampled_process process;
	struct sampled_thread thread;
	struct sleeping_child child;
	struct observation observation;
};

/* Waits for a byte again and again; at an 's' spins until it is told to go on. */
static void
wait_or_spin(int in, int out)
{
	char c;

	(void)out;
	while (read(in, &c, 1) == 1) {
		if (c != 's')
			continue;
		shared->spins = true;
		while (!shared->go)
			;
		shared->spins = false;
	}
}

static void
tell(const struct scene *scene, char what)
{
	assert_int_equal(write(scene->child.to, &what, 1), 1);
}

/* Waits until the child sleeps in read(2), and begins an observation, as select_threads does. */
static void
begin_observation(struct scene *scene)
{
	struct syscall_info info;
	struct sched sched;

	assert_true(sleeping_child_settle(&scene->child, &scene->thread.watch, SYS_read, &sched,
					  &info));
	scene->observation = (struct observation){
		.thread = &scene->thread,
		.selected = true,
		.samples = 1,
		.weight_ns = 1,
		.importance = 1.0,
		.early_switches = UINT64_MAX,
		.due_switches = UINT64_MAX,
	};
}

static void
scene_begin(struct scene *scene)
{
	struct error err;
	struct sched sched;
	struct syscall_info info;

	memset(scene, 0, sizeof(*scene));
	shared->spins = shared->go = false;
	sleeping_child_start(&scene->child, wait_or_spin);
	scene->run.tick.copies_until_ns = UINT64_MAX;
	scene->process.process = scene->child.process;
	scene->thread.process = &scene->process;
	scene->thread.selected = true;
	scene->thread.stack_need = 4096;
	window_init(&scene->thread.window);
	watch_init(&scene->thread.watch, scene->child.pid, SCHED_FROM_SCHEDSTAT, false);
	if (!sleeping_child_settle(&scene->child, &scene->thread.watch, SYS_read, &sched, &info) ||
	    tracer_create(scene->child.process, &scene->run.tracer, &err) != 0) {
		print_message("ptrace is not permitted here\n");
		skip();
	}
	begin_observation(scene);
}

static void
scene_end(struct scene *scene)
{
	struct capture_pool *pool = &scene->process.captures;

	if (scene->observation.capture != NULL)
		capture_return(&scene->observation);
	for (size_t i = 0; i < pool->count; i++) {
		snapshot_release(&pool->free[i]->request.snapshot);
		free(pool->free[i]);
	}
	free(pool->free);
	sleeping_child_kill(&scene->child);
	tracer_free(scene->run.tracer);
	watch_release(&scene->thread.watch);
	window_release(&scene->thread.window);
	sleeping_child_release(&scene->child);
}

/* Waits until the kernel says that the child does not sleep. */
static void
wait_runnable(struct scene *scene)
{
	struct syscall_info info = { .running = false };

	while (!info.running) /* the alarm of the test ends this loop */
		(void)watch_read_syscall(&scene->thread.watch, scene->child.process, &info);
}

/* --- a rival that leaves no CPU to the child ------------------------------------------------- */

static _Atomic bool rival_runs, rival_ends;

static void *
rival_run(void *unused)
{
	(void)unused;
	rival_runs = true;
	while (!rival_ends)
		;
	return NULL;
}

static bool
rival_start(pthread_t *rival, const cpu_set_t *cpu)
{
	const struct sched_param first = { .sched_priority = 1 };
	pthread_attr_t attributes;
	bool started;

	rival_runs = rival_ends = false;
	pthread_attr_init(&attributes);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
	pthread_attr_setschedparam(&attributes, &first);
	pthread_attr_setaffinity_np(&attributes, sizeof(*cpu), cpu);
	started = pthread_create(rival, &attributes, rival_run, NULL) == 0;
	pthread_attr_destroy(&attributes);
	while (started && !rival_runs)
		sched_yield();
	return started;
}

/* Finds two CPUs: one for the test, which moves there, and one for the child. */
static bool
take_cpus(cpu_set_t *all, cpu_set_t *other)
{
	cpu_set_t own;
	int cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(*all), all), 0);
	if (CPU_COUNT(all) < 2)
		return false;
	while (!CPU_ISSET(cpu, all))
		cpu++;
	CPU_ZERO(&own);
	CPU_SET(cpu, &own);
	for (cpu++; !CPU_ISSET(cpu, all);)
		cpu++;
	CPU_ZERO(other);
	CPU_SET(cpu, other);
	return sched_setaffinity(0, sizeof(own), &own) == 0;
}

/* A thread that is woken when the CPUs are being taken, and gets none, counts as asleep: it was
 * taken for one that ran and fell asleep. */
static void
test_woken(void **state)
{
	struct scene scene;
	struct observation *observation = &scene.observation;
	cpu_set_t all, other;
	pthread_t rival;

	(void)state;
	if (!take_cpus(&all, &other)) {
		print_message("there is one CPU only\n");
		skip();
	}
	scene_begin(&scene);
	assert_int_equal(sched_setaffinity(scene.child.pid, sizeof(other), &other), 0);
	if (!rival_start(&rival, &other)) {
		print_message("SCHED_FIFO is not permitted here\n");
		scene_end(&scene);
		skip();
	}
	observe_early(&scene.run, observation, 1, UINT64_MAX);
	assert_true(observation->early_switches != UINT64_MAX);
	tell(&scene, 'x');
	wait_runnable(&scene);
	observe_due(observation);
	assert_true(observation->due_switches == observation->early_switches);
	scene.run.tick.copies_until_ns = 0; /* its stack is copied at once all the same */
	observe_threads(&scene.run, observation, 1);
	rival_ends = true;
	pthread_join(rival, NULL);
	sched_setaffinity(0, sizeof(all), &all);
	assert_int_equal(observation->outcome, OUTCOME_SLEEPING);
	assert_int_equal(observation->state, RUN_SLEEPING);
	assert_false(observation->fell_asleep);
	assert_true(observation->importance == 1.0);
	scene_end(&scene);
}

/* Begins an observation whose thread runs when the CPUs are being taken, and then falls asleep.
 * Returns false if it was scheduled in in between. */
static bool
fall_asleep(struct scene *scene)
{
	struct sched sched;
	struct syscall_info info;

	begin_observation(scene);
	shared->go = false;
	tell(scene, 's');
	while (!shared->spins)
		sched_yield();
	observe_due(&scene->observation);
	shared->go = true;
	while (shared->spins)
		sched_yield();
	assert_true(sleeping_child_settle(&scene->child, &scene->thread.watch, SYS_read, &sched,
					  &info));
	return sched.switches == scene->observation.due_switches;
}

/* A thread that was on a CPU then, and has fallen asleep since, counts as running. */
static void
test_fell_asleep(void **state)
{
	struct scene scene;
	struct observation *observation = &scene.observation;

	(void)state;
	scene_begin(&scene);
	while (!fall_asleep(&scene))
		;
	observe_threads(&scene.run, observation, 1);
	assert_int_equal(observation->outcome, OUTCOME_SLEEPING);
	assert_true(observation->fell_asleep);
	assert_int_equal(observation->state, RUN_RUNNING);
	assert_int_equal(observation->slept, RUN_SLEEPING);
	assert_true(observation->importance == IMPORTANCE_ROUGH);
	scene_end(&scene);
}

/* Observes a sleeping thread when there is no time to copy its stack. */
static void
observe_later(struct scene *scene)
{
	begin_observation(scene);
	scene->run.tick.copies_until_ns = 0;
	/* It has hardly been scheduled in since the last tick. */
	scene->thread.sched.switches = 0;
	scene->run.tick.time_ns = UINT64_MAX;
	observe_threads(&scene->run, &scene->observation, 1);
	assert_int_equal(scene->observation.outcome, OUTCOME_ASLEEP);
	assert_null(scene->observation.capture);
}

/* A stack that is copied later: of a thread that has slept since, of one that sleeps again, and of
 * one that runs. */
static void
test_copied_later(void **state)
{
	struct scene scene;
	struct observation *observation = &scene.observation;
	struct sched before, after;
	struct syscall_info info;

	(void)state;
	scene_begin(&scene);
	observe_later(&scene);
	observe_asleep(&scene.run, observation);
	assert_int_equal(observation->outcome, OUTCOME_SLEEPING);
	assert_int_equal(observation->state, RUN_SLEEPING);
	capture_return(observation);

	observe_later(&scene);
	before = scene.thread.sched;
	tell(&scene, 'x');
	do
		assert_true(sleeping_child_settle(&scene.child, &scene.thread.watch, SYS_read,
						  &after, &info));
	while (after.switches == before.switches);
	observe_asleep(&scene.run, observation);
	assert_int_equal(observation->outcome, OUTCOME_SLEEPING);
	assert_int_equal(scene.thread.sched.switches, after.switches);
	capture_return(observation);

	observe_later(&scene);
	shared->go = false;
	tell(&scene, 's');
	while (!shared->spins)
		sched_yield();
	observe_asleep(&scene.run, observation);
	shared->go = true;
	assert_int_equal(observation->outcome, OUTCOME_RUNNING);
	assert_int_equal(observation->state, RUN_RUNNING);
	assert_non_null(observation->capture);
	scene_end(&scene);
}

/* The thread's process has ended when the stack is copied. */
static void
test_gone(void **state)
{
	struct scene scene;

	(void)state;
	scene_begin(&scene);
	observe_later(&scene);
	sleeping_child_kill(&scene.child);
	observe_asleep(&scene.run, &scene.observation);
	assert_int_equal(scene.observation.outcome, OUTCOME_FAILED);
	assert_null(scene.observation.capture);
	scene_end(&scene);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_woken),
		cmocka_unit_test(test_fell_asleep),
		cmocka_unit_test(test_copied_later),
		cmocka_unit_test(test_gone),
	};

	alarm(60);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 99;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
