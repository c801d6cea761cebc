/* SPDX-License-Identifier: MIT */
/*
 * test_look.c - which threads were on a CPU when a tick took the CPUs (look_internal.h), with real
 * occupations (occupy_internal.h).
 *
 * Children of the test spin on one CPU. When all CPUs are taken, at most one of them was on it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sampler/occupier_internal.h"
#include "sampler/occupy_internal.h"
#include "sampler/pipeline_internal.h"
#include "sampler/priority_internal.h"

#define SPINNERS 3
/* Occupations that are complete. Beside 8 busy processes on the CPU one of the spinners is on it in
 * a quarter of them, so that 60 without any have a chance of one in thirty millions. */
#define ROUNDS 60
/* Most attempts for one complete occupation; beside 8 busy processes all ROUNDS took at most 80. */
#define TRIES_MOST 1000
/* Time from an occupation to the next one. */
#define INTERVAL_NS (3 * NS_PER_MS)

struct scene {
	struct run run;
	struct priority priority;
	struct sampled_process process[SPINNERS];
	struct sampled_thread thread[SPINNERS];
	struct looks looks;
	struct sampled_thread *list[SPINNERS];
	pid_t pid[SPINNERS];
	size_t cpus;
};

static void
spin(const cpu_set_t *cpu)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (sched_setaffinity(0, sizeof(*cpu), cpu) != 0)
		_exit(1);
	for (;;)
		__asm__ volatile("");
}

/* Sets *own to the CPUs of the test, and *spinners to the first of them. Returns false if there is
 * one CPU only. */
static bool
take_cpus(cpu_set_t *own, cpu_set_t *spinners)
{
	int cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(*own), own), 0);
	if (CPU_COUNT(own) < 2)
		return false;
	while (!CPU_ISSET((size_t)cpu, own))
		cpu++;
	CPU_ZERO(spinners);
	CPU_SET((size_t)cpu, spinners);
	return true;
}

static void
scene_begin(struct scene *scene)
{
	cpu_set_t own, spinners;
	struct error err;

	memset(scene, 0, sizeof(*scene));
	if (!take_cpus(&own, &spinners)) {
		print_message("there is one CPU only\n");
		skip();
	}
	scene->cpus = (size_t)CPU_COUNT(&own);
	scene->run.threads.thread = scene->list;
	scene->run.threads.count = SPINNERS;
	priority_raise(&scene->priority);
	for (int i = 0; i < SPINNERS; i++) {
		scene->pid[i] = fork();
		assert_true(scene->pid[i] >= 0);
		if (scene->pid[i] == 0)
			spin(&spinners);
		assert_int_equal(process_open(scene->pid[i],
					      (struct process **)&scene->process[i].process, &err),
				 0);
		scene->thread[i].process = &scene->process[i];
		watch_init(&scene->thread[i].watch, scene->pid[i], SCHED_FROM_SCHEDSTAT, true);
		scene->list[i] = &scene->thread[i];
	}
	scene->run.occupy = occupy_create(&own, &scene->priority,
					       (double)CPU_COUNT(&own), false);
	assert_non_null(scene->run.occupy);
}

static void
scene_end(struct scene *scene)
{
	occupy_free(scene->run.occupy);
	looks_release(&scene->looks);
	priority_restore(&scene->priority);
	for (int i = 0; i < SPINNERS; i++) {
		kill(scene->pid[i], SIGKILL);
		waitpid(scene->pid[i], NULL, 0);
		watch_release(&scene->thread[i].watch);
		process_free((struct process *)scene->process[i].process);
	}
}

static void
sleep_until(uint64_t until_ns)
{
	const struct timespec until = { .tv_sec = (time_t)(until_ns / NS_PER_SEC),
					.tv_nsec = (long)(until_ns % NS_PER_SEC) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* Takes the CPUs once, and looks at the spinners. Returns false if not all CPUs were taken, or not
 * in time, or not until the end. */
static bool
occupy_once(struct scene *scene, bool all)
{
	struct occupy *occupy = scene->run.occupy;
	const uint64_t due_ns = clock_now_ns() + INTERVAL_NS;
	bool complete;

	occupy_plan(occupy, due_ns);
	occupy_sleep(occupy);
	sleep_until(due_ns);
	occupy_tick(occupy);
	looks_take(&scene->looks, &scene->run, all);
	complete = occupy_is_complete(occupy) && occupy_switches(occupy) == scene->cpus;
	return occupy_end(occupy, 1, due_ns + 1000 * NS_PER_SEC) && complete;
}

static unsigned
count(const struct scene *scene, enum occupied_thread what)
{
	unsigned n = 0;

	for (int i = 0; i < SPINNERS; i++)
		n += scene->looks.item[i].occupied == what;
	return n;
}

static void
need_switches(struct scene *scene)
{
	if (occupy_has_switches(scene->run.occupy))
		return;
	scene_end(scene);
	print_message("this kernel has no file \"sched\"\n");
	skip();
}

/* Takes the CPUs until an occupation is complete. Returns the number of observations. */
static size_t
occupy_fully(struct scene *scene, bool all)
{
	for (unsigned tries = 0; tries < TRIES_MOST; tries++) {
		scene->run.tick.number++;
		if (occupy_once(scene, all))
			return scene->looks.count;
	}
	scene_end(scene);
	print_message("the machine is too busy: no occupation in time\n");
	skip();
	return 0;
}

static void
test_spinners(void **state)
{
	struct scene scene;
	unsigned found = 0, waited = 0;

	(void)state;
	scene_begin(&scene);
	need_switches(&scene);
	for (unsigned rounds = 0; rounds < ROUNDS; rounds++) {
		assert_int_equal(occupy_fully(&scene, false), SPINNERS);
		for (int i = 0; i < SPINNERS; i++)
			assert_true(scene.looks.item[i].look.settled);
		/* All of them are runnable. */
		assert_int_equal(scene.looks.first, SPINNERS);
		assert_true(count(&scene, OCCUPIED_RUNNING) <= 1);
		found += count(&scene, OCCUPIED_RUNNING);
		waited += count(&scene, OCCUPIED_NOT_RUNNING);
	}
	assert_true(found > 0);
	assert_true(waited > 0);
	scene_end(&scene);
}

/* Calls occupier_find for one CPU. In test_find the wait for it lasts from 100 to 140 us. */
static enum occupied_thread
find_one(struct cpu_taken taken, uint64_t switched_us, bool asleep)
{
	struct cpu_taken *const one[] = { &taken };

	return occupier_find(one, 1, switched_us * 1000, asleep);
}

static void
test_find(void **state)
{
	const struct cpu_taken taken = { .queued_ns = 100000, .switched_ns = 140000 };
	const struct cpu_taken refused = { .queued_ns = 100000,
					   .switched_ns = 140000,
					   .refused = true };
	const struct cpu_taken crowded = { .queued_ns = 100000,
					   .switched_ns = 140000,
					   .crowded = true };
	const struct cpu_taken claimed = { .queued_ns = 100000,
					   .switched_ns = 140000,
					   .claimed = true };

	(void)state;
	/* at the end of the wait, and if the moment of the switch was updated since */
	assert_int_equal(find_one(taken, 140, false), OCCUPIED_RUNNING);
	assert_int_equal(find_one(taken, 140, true), OCCUPIED_RUNNING);
	assert_int_equal(find_one(taken, 125, true), OCCUPIED_RUNNING);
	assert_int_equal(find_one(taken, 100, true), OCCUPIED_RUNNING);
	assert_int_equal(find_one(crowded, 125, true), OCCUPIED_RUNNING);
	/* A third thread may have followed, or the thread may have left the CPU before the wait. */
	assert_int_equal(find_one(crowded, 124, true), OCCUPIED_UNKNOWN);
	assert_int_equal(find_one(crowded, 100, false), OCCUPIED_UNKNOWN);
	assert_int_equal(find_one(taken, 99, true), OCCUPIED_UNKNOWN);
	assert_int_equal(find_one(taken, 85, false), OCCUPIED_UNKNOWN);
	assert_int_equal(find_one(taken, 84, false), OCCUPIED_NOT_RUNNING);
	assert_int_equal(find_one(taken, 141, false), OCCUPIED_NOT_RUNNING);
	assert_int_equal(find_one((struct cpu_taken){ .queued_ns = 0 }, 140, false),
			 OCCUPIED_NOT_RUNNING);
	/* If preemption was refused, a sleeping thread may have fallen asleep in a later call. */
	assert_int_equal(find_one(refused, 140, true), OCCUPIED_UNKNOWN);
	assert_int_equal(find_one(refused, 140, false), OCCUPIED_RUNNING);
	assert_int_equal(find_one(claimed, 140, false), OCCUPIED_UNKNOWN);
}

/* Two CPUs with equal clocks: the moment at which the second one was taken lies within the wait for
 * the first one. */
static void
test_find_cpu(void **state)
{
	struct cpu_taken first = { .queued_ns = 100000, .switched_ns = 140000 };
	struct cpu_taken second = { .queued_ns = 130000, .switched_ns = 130000 };
	struct cpu_taken *const both[] = { &first, &second };

	(void)state;
	assert_int_equal(occupier_find(both, 2, 130000, false), OCCUPIED_RUNNING);
	assert_false(first.claimed);
	assert_true(second.claimed);
	assert_int_equal(occupier_find(both, 2, 140000, true), OCCUPIED_RUNNING);
	assert_true(first.claimed);
	assert_int_equal(occupier_find(both, 2, 130000, false), OCCUPIED_UNKNOWN);
	assert_int_equal(occupier_find(both, 2, 50000, false), OCCUPIED_NOT_RUNNING);
}

/* Threads that are not due are found, too, if they were on a CPU, except the first one, which
 * counts as asleep for long. */
static void
test_search(void **state)
{
	struct scene scene;
	unsigned found = 0;

	(void)state;
	scene_begin(&scene);
	need_switches(&scene);
	scene.run.searches = true;
	scene.run.tick.time_ns = 3;
	for (int i = 0; i < SPINNERS; i++) {
		scene.thread[i].seen = scene.thread[i].selected = true;
		scene.thread[i].asleep = true;
		scene.thread[i].next_tick = UINT32_MAX - 1;
		scene.thread[i].last_ns = 1;
		scene.thread[i].backed_off = i == 0;
	}
	for (unsigned rounds = 0; rounds < ROUNDS; rounds++) {
		const struct tick *tick = &scene.run.tick;
		const size_t count = occupy_fully(&scene, false);
		const struct observation *one = &scene.looks.item[0];

		assert_true(count <= 1);
		assert_int_equal(scene.looks.first, count);
		/* Less than 1 if the time limit has passed before both of them were read. */
		assert_true(tick->searched == 1 || tick->searched == 0.5 ||
			    (tick->searched == 0 && count == 0));
		found += count;
		if (count == 0)
			continue;
		assert_ptr_not_equal(one->thread, &scene.thread[0]);
		assert_int_equal(one->thread->first_tick, tick->number);
		assert_int_equal(one->occupied, OCCUPIED_RUNNING);
		assert_true(one->look.settled);
		assert_true(one->look.call.running);
		assert_int_equal(one->samples, tick->number);
		assert_int_equal(one->weight_ns, 2);
	}
	assert_true(found > 0);
	/* A tick that observes all threads has nothing to search for. */
	for (unsigned rounds = 0; rounds < ROUNDS; rounds++)
		assert_int_equal(occupy_fully(&scene, true), SPINNERS);
	scene_end(&scene);
}

/* A tick that comes late: the next one has no occupation, and the thread may wake on any CPU. */
static void
test_late(void **state)
{
	struct scene scene;
	struct occupy *occupy;
	cpu_set_t before, during, after;
	uint64_t due_ns;

	(void)state;
	scene_begin(&scene);
	occupy = scene.run.occupy;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	due_ns = clock_now_ns() + INTERVAL_NS;
	occupy_plan(occupy, due_ns);
	occupy_sleep(occupy);
	assert_int_equal(sched_getaffinity(0, sizeof(during), &during), 0);
	assert_int_equal(CPU_COUNT(&during), 1);
	sleep_until(due_ns + 5 * NS_PER_MS);
	occupy_tick(occupy);
	assert_false(occupy_arriving(occupy));
	assert_false(occupy_is_complete(occupy));
	assert_false(occupy_end(occupy, 1, due_ns + 10 * NS_PER_MS));
	occupy_plan(occupy, due_ns + 1000 * NS_PER_SEC);
	occupy_sleep(occupy);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
	/* the tick after it: a sleep that ends early lets the thread go */
	occupy_tick(occupy);
	assert_false(occupy_end(occupy, 1, due_ns + 1000 * NS_PER_SEC));
	occupy_plan(occupy, due_ns + 1000 * NS_PER_SEC);
	occupy_sleep(occupy);
	assert_int_equal(sched_getaffinity(0, sizeof(during), &during), 0);
	assert_int_equal(CPU_COUNT(&during), 1);
	occupy_relax(occupy);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
	scene_end(&scene);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_find_cpu),
		cmocka_unit_test(test_spinners),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_late),
	};

	alarm(100);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
