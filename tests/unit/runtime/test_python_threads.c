/* SPDX-License-Identifier: MIT */
/*
 * test_python_threads.c - finds the threads of CPython 3.8 to 3.14 that start, in an array that
 * represents memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../scene/python_array.h"
#include "wallsample/base/base.h"

#define NOW NS_PER_MS /* earlier than the time at which the whole lists are read again */

/* Gives the PyThreadState the ids of another thread, as the thread itself does when it starts; its
 * pthread_t stays the same. */
static void
bind(struct scene *scene, uint64_t thread, pid_t tid)
{
	const struct python_layout *layout = &scene->layout;
	const uint64_t pthread = array_get(scene, thread + layout->thread_pthread);

	if (layout->thread_native != MEMBER_ABSENT)
		array_put(scene, thread + layout->thread_native, (uint64_t)tid);
	array_put(scene, pthread + pthread_tid_offset[0], (uint64_t)tid);
}

static void
list(struct scene *scene)
{
	scene->cpython.base.list_budget.filled_ns = 0;
	scene->cpython.base.new_count = 0;
	python_threads_list(&scene->cpython.base, NOW);
}

static bool
has(struct scene *scene, pid_t tid)
{
	return python_threads_find(&scene->cpython, tid) != NULL;
}

/* A new thread gets the PyThreadState of the one that ended last, and even its pthread_t: the
 * heads of the lists have the same addresses as before. */
static void
reuse(unsigned minor)
{
	struct scene scene;
	uint64_t interpreter, thread;

	array_open(&scene, minor);
	interpreter = array_interpreter(&scene, 0);
	array_thread(&scene, interpreter, 5);
	thread = array_thread(&scene, interpreter, 7);
	list(&scene);
	assert_int_equal(scene.cpython.base.new_count, 2);
	bind(&scene, thread, 8);
	list(&scene);
	assert_true(has(&scene, 8));
	assert_int_equal(scene.cpython.base.new_count, 1);
	assert_int_equal(scene.cpython.base.new_thread[0], 8);
	assert_false(has(&scene, 7));
	assert_true(has(&scene, 5));
	array_close(&scene);
}

/* The lists were read before the thread had written its ids, and another one has started since. A
 * search for the thread finds it, at once. */
static void
seek(unsigned minor)
{
	struct scene scene;
	uint64_t interpreter, thread;

	array_open(&scene, minor);
	interpreter = array_interpreter(&scene, 0);
	array_thread(&scene, interpreter, 5);
	/* without ids, or with those of the thread that has created it */
	thread = array_thread(&scene, interpreter, minor >= 12 ? 0 : 5);
	array_thread(&scene, interpreter, 9);
	list(&scene);
	assert_false(has(&scene, 7));
	bind(&scene, thread, 7);
	assert_false(python_threads_know(&scene.cpython, 7));
	python_threads_seek(&scene.cpython, 7, NOW);
	assert_true(python_threads_know(&scene.cpython, 7));
	assert_int_equal(python_threads_owner(&scene.cpython, thread), 7);
	/* A thread that starts later is at the head of the list. */
	thread = array_thread(&scene, interpreter, 11);
	assert_int_equal(python_threads_owner(&scene.cpython, thread), 11);
	assert_true(has(&scene, 11));
	/* The PyThreadState belongs to another thread by now. */
	bind(&scene, thread, 12);
	python_threads_seek(&scene.cpython, 12, NOW);
	assert_true(python_threads_know(&scene.cpython, 12));
	assert_false(has(&scene, 11));
	array_close(&scene);
}

/* Of a thread that is missing again and again few searches read memory; nor does a new thread make
 * the list of all threads be read. */
static void
cost(unsigned minor)
{
	struct scene scene;
	uint64_t interpreter, before;

	array_open(&scene, minor);
	interpreter = array_interpreter(&scene, 0);
	for (pid_t tid = 1; tid <= 60; tid++)
		array_thread(&scene, interpreter, tid);
	list(&scene);
	before = scene.reads;
	array_thread(&scene, interpreter, 70);
	list(&scene);
	assert_true(has(&scene, 70));
	assert_true(has(&scene, 1));
	assert_true(scene.reads - before < 30);
	before = scene.reads;
	for (int i = 0; i < 1000; i++) {
		scene.cpython.base.list_budget.filled_ns = 0;
		scene.cpython.seek_budget.filled_ns = 0;
		python_threads_seek(&scene.cpython, 80, NOW);
	}
	assert_true(scene.reads - before < 150);
	array_close(&scene);
}

/* The time for whole lists is used up: new threads are found at the heads of the lists, at once.
 * The whole lists are read when there is time again. */
static void
no_time(unsigned minor)
{
	struct scene scene;
	struct cpu_budget *budget = &scene.cpython.base.list_budget;
	uint64_t interpreter, other, reads;

	array_open(&scene, minor);
	interpreter = array_interpreter(&scene, 0);
	array_thread(&scene, interpreter, 5);
	other = array_thread(&scene, interpreter, 6);
	array_thread(&scene, interpreter, 7);
	list(&scene);
	*budget = (struct cpu_budget){ -(int64_t)NS_PER_SEC, NOW, 0 };
	array_thread(&scene, interpreter, 8);
	python_threads_list(&scene.cpython.base, NOW);
	assert_true(has(&scene, 8));
	array_thread(&scene, interpreter, 9);
	python_threads_seek(&scene.cpython, 9, NOW);
	assert_true(has(&scene, 9));
	bind(&scene, other, 10);
	python_threads_seek(&scene.cpython, 10, NOW);
	assert_false(has(&scene, 10));
	array_thread(&scene, interpreter, 11);
	python_threads_list(&scene.cpython.base, NOW);
	assert_true(has(&scene, 11));
	assert_false(has(&scene, 10));
	python_threads_list(&scene.cpython.base, NOW + 200 * NS_PER_SEC);
	assert_true(has(&scene, 10));
	/* nor is there time for searches */
	scene.cpython.seek_budget = (struct cpu_budget){ -(int64_t)NS_PER_SEC, NOW, 0 };
	array_thread(&scene, interpreter, 12);
	reads = scene.reads;
	python_threads_seek(&scene.cpython, 12, NOW);
	assert_int_equal(scene.reads, reads);
	array_close(&scene);
}

/* A thread that a capture could not read counts as new when it is readable again: it may have slept
 * since, and would keep the stack without Python frames. */
static void
missed(unsigned minor)
{
	struct scene scene;
	uint64_t interpreter, thread;

	array_open(&scene, minor);
	interpreter = array_interpreter(&scene, 0);
	scene.used = (scene.used + 2 * MEMORY_PAGE - 1) / MEMORY_PAGE * MEMORY_PAGE;
	thread = array_thread(&scene, interpreter, 7);
	list(&scene);
	scene.unreadable = thread - thread % MEMORY_PAGE;
	python_capture(&scene.cpython, 7, &scene.captured);
	assert_false(scene.captured.known);
	scene.unreadable = 0;
	list(&scene);
	assert_int_equal(scene.cpython.base.new_count, 1);
	python_capture(&scene.cpython, 7, &scene.captured);
	assert_true(scene.captured.known);
	list(&scene);
	assert_int_equal(scene.cpython.base.new_count, 0);
	array_close(&scene);
}

static void
each(void (*test)(unsigned minor))
{
	for (unsigned minor = SCENE_MINOR_OLDEST; minor <= SCENE_MINOR_NEWEST; minor++)
		test(minor);
}

static void
test_reuse(void **state)
{
	(void)state;
	each(reuse);
}

static void
test_no_time(void **state)
{
	(void)state;
	each(no_time);
}

static void
test_seek(void **state)
{
	(void)state;
	each(seek);
}

static void
test_cost(void **state)
{
	(void)state;
	each(cost);
}

static void
test_missed(void **state)
{
	(void)state;
	each(missed);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_seek),
		cmocka_unit_test(test_no_time),
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
