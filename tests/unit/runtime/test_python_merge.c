/* SPDX-License-Identifier: MIT */
/*
 * test_python_merge.c - the frames of threads of CPython 3.8 to 3.14 that exist in an array only,
 * and their places among native frames.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "../scene/python_array.h"
#include "wallsample/base/base.h"

#define TID 7
#define UNMATCHED "[python: not matched with native frames]"
#define BROKEN "[python: frames not readable]"
#define NO_CODE "[python: code not readable]"
#define CUT "[python: deeper than what is read]"

/*
 * A thread in outer(), which calls middle(), which calls C code, which calls inner(): one call of
 * the function that executes bytecode or, before 3.11, two, and then another.
 */
struct nested {
	struct scene scene;
	uint64_t interpreter, thread;
	uint64_t outer, middle, inner;       /* frames */
	uint64_t outer_call, inner_call;
};

static bool
counts(const struct scene *scene)
{
	return !python_since(&scene->layout, 3, 11);
}

static void
nested_open(struct nested *nested, unsigned minor)
{
	struct scene *scene = &nested->scene;
	uint64_t root;

	array_open(scene, minor);
	nested->interpreter = array_interpreter(scene, 0);
	nested->thread = array_thread(scene, nested->interpreter, TID);
	root = array_root(scene, nested->thread);
	nested->outer = array_frame(scene, array_code(scene, "outer", 10), 3, 0);
	nested->middle = array_frame(scene, array_code(scene, "middle", 20), 4, nested->outer);
	nested->inner = array_frame(scene, array_code(scene, "inner", 30), 5, 0);
	nested->outer_call = array_call(scene, 0x500, nested->middle, nested->outer, root);
	if (counts(scene)) /* which has taken the link to outer() */
		array_put(scene, nested->middle + scene->layout.frame_previous, nested->outer);
	nested->inner_call = array_call(scene, 0x200, nested->inner, nested->inner,
					nested->outer_call);
	array_execute(scene, nested->thread, nested->inner_call);
}

/* Native frames 0 … 5, innermost first: that of inner() is 1, that of middle() 3 and, before 3.11,
 * that of outer() 4. */
static void
nested_chain(struct nested *nested)
{
	struct scene *scene = &nested->scene;

	array_native(scene, 0x000, false);
	array_native(scene, 0x100, true);
	array_native(scene, 0x300, false);
	array_native(scene, 0x400, true);
	array_native(scene, 0x600, counts(scene));
	array_native(scene, 0x700, false);
}

static void
for_each(void (*test)(struct nested *nested), unsigned oldest, unsigned newest)
{
	for (unsigned minor = oldest; minor <= newest; minor++) {
		struct nested nested;

		nested_open(&nested, minor);
		nested_chain(&nested);
		test(&nested);
		array_close(&nested.scene);
	}
}

static void
expect_merged(struct nested *nested, const char *counted, const char *addressed)
{
	const char *want = counts(&nested->scene) ? counted : addressed;

	array_capture(&nested->scene, TID);
	assert_string_equal(array_merged(&nested->scene), want);
}

static void
one_place(struct nested *nested)
{
	expect_merged(nested, "5 4 [outer:13] 3 [middle:24] 2 1 [inner:35] 0",
		      "5 4 3 [outer:13 middle:24] 2 1 [inner:35] 0");
	assert_true(nested->scene.captured.known);
	assert_false(nested->scene.captured.has_lock);
}

static void
test_place(void **state)
{
	(void)state;
	for_each(one_place, 8, 14);
}

/* A call that has just begun, and one that is about to end, has no Python frame. */
static void
one_more_call(struct nested *nested)
{
	struct scene *scene = &nested->scene;

	chain_clear(&scene->chain);
	scene->chain.end = CHAIN_OUTERMOST;
	array_native(scene, 0x080, true);
	nested_chain(nested);
	scene->chain.frame[1].sp += 0x20;
	expect_merged(nested, "6 5 [outer:13] 4 [middle:24] 3 2 [inner:35] 1 0",
		      "6 5 4 [outer:13 middle:24] 3 2 [inner:35] 1 0");
}

static void
test_more_calls(void **state)
{
	(void)state;
	for_each(one_more_call, 8, 14);
}

/* What is on the stack belongs to the frame whose part it is, the last byte of it too. */
static void
one_edge(struct nested *nested)
{
	struct chain_frame *frame = nested->scene.chain.frame;
	const uint64_t anchor = nested->scene.stack + 0x200 +
				(python_since(&nested->scene.layout, 3, 12) ? 32 : 0);

	frame[1].sp = anchor;
	expect_merged(nested, "", "5 4 3 [outer:13 middle:24] 2 1 [inner:35] 0");
	frame[1].sp = anchor - 8;
	frame[2].sp = anchor + 1;
	expect_merged(nested, "", "5 4 3 [outer:13 middle:24] 2 1 [inner:35] 0");
	frame[2].sp = anchor;
	expect_merged(nested, "", "5 4 3 [outer:13 middle:24] 2 [inner:35] 1 0");
}

static void
test_edges(void **state)
{
	(void)state;
	for_each(one_edge, 11, 14);
}

/* Where no native call is for it, what is left is outside of all, and marked. */
static void
one_unmatched(struct nested *nested)
{
	struct chain *chain = &nested->scene.chain;

	chain->count = 3;
	expect_merged(nested, "[outer:13 middle:24 " UNMATCHED "] 2 1 [inner:35] 0",
		      "[outer:13 middle:24 " UNMATCHED "] 2 1 [inner:35] 0");
	chain->count = 1;
	expect_merged(nested, "[outer:13 middle:24 inner:35 " UNMATCHED "] 0",
		      "[outer:13 middle:24 inner:35 " UNMATCHED "] 0");
}

static void
test_unmatched(void **state)
{
	(void)state;
	for_each(one_unmatched, 8, 14);
}

/* A native stack that ends too early says so itself. */
static void
one_truncated(struct nested *nested)
{
	struct chain *chain = &nested->scene.chain;

	chain->count = 3;
	chain->end = CHAIN_NO_UNWIND_INFO;
	expect_merged(nested, "[outer:13 middle:24] 2 1 [inner:35] 0",
		      "[outer:13 middle:24] 2 1 [inner:35] 0");
}

static void
test_truncated(void **state)
{
	(void)state;
	for_each(one_truncated, 8, 14);
}

static void
one_without_code(struct nested *nested)
{
	struct scene *scene = &nested->scene;

	array_put(scene, nested->middle + scene->layout.frame_code, 16);
	expect_merged(nested, "5 4 [outer:13] 3 [" NO_CODE "] 2 1 [inner:35] 0",
		      "5 4 3 [outer:13 " NO_CODE "] 2 1 [inner:35] 0");
	/* Something else lies there. */
	array_put(scene, nested->middle + scene->layout.frame_code, nested->inner);
	expect_merged(nested, "5 4 [outer:13] 3 [" NO_CODE "] 2 1 [inner:35] 0",
		      "5 4 3 [outer:13 " NO_CODE "] 2 1 [inner:35] 0");
}

static void
test_without_code(void **state)
{
	(void)state;
	for_each(one_without_code, 8, 14);
}

static void
one_broken(struct nested *nested)
{
	struct scene *scene = &nested->scene;

	array_put(scene, nested->outer + scene->layout.frame_previous, 0x10);
	array_capture(scene, TID);
	assert_true(scene->captured.broken);
	assert_non_null(strstr(array_merged(scene), BROKEN));
	assert_non_null(strstr(array_merged(scene), "inner:35"));
}

static void
test_broken(void **state)
{
	(void)state;
	for_each(one_broken, 8, 14);
}

/* A ring of frames has an end. */
static void
one_ring(struct nested *nested)
{
	struct scene *scene = &nested->scene;

	array_put(scene, nested->outer + scene->layout.frame_previous, nested->middle);
	array_capture(scene, TID);
	assert_true(scene->captured.cut);
	assert_int_equal(scene->captured.count, PYTHON_DEPTH_MOST);
	assert_non_null(strstr(array_merged(scene), CUT));
	assert_true(scene->frames.cut);
}

static void
test_ring(void **state)
{
	(void)state;
	for_each(one_ring, 8, 14);
}

/* The helper that waits for __init__: its name is that of its file, as an object. */
static void
one_cleanup(struct nested *nested)
{
	struct scene *scene = &nested->scene;
	const uint64_t code = array_get(scene, nested->middle + scene->layout.frame_code);

	array_put(scene, code + scene->layout.code_filename,
		  array_get(scene, code + scene->layout.code_name));
	expect_merged(nested, "", "5 4 3 [outer:13] 2 1 [inner:35] 0");
}

static void
test_init_cleanup(void **state)
{
	(void)state;
	for_each(one_cleanup, 13, 14);
}

/* --- calls of 3.11 and 3.12 that have not said what they execute --------------------- */

/* In the _PyCFrame of the innermost call is what an earlier one left. */
static void
one_window(struct nested *nested)
{
	struct scene *scene = &nested->scene;
	const uint64_t frame = nested->inner_call + scene->layout.cframe_frame;
	const uint64_t previous = nested->inner_call + scene->layout.cframe_previous;
	const uint64_t stale = array_frame(scene, array_code(scene, "stale", 40), 0, 0);
	const char *const outside = "5 4 3 [outer:13 middle:24] 2 1 0";

	array_put(scene, frame, stale);
	expect_merged(nested, "", python_since(&scene->layout, 3, 12) ?
		      "[" BROKEN "] 5 4 3 [outer:13 middle:24] 2 1 0" : outside);
	array_put(scene, stale + scene->layout.frame_previous, nested->outer);
	expect_merged(nested, "", outside);
	array_put(scene, frame, 0x1234);
	expect_merged(nested, "", outside);
	array_put(scene, frame, 0);
	expect_merged(nested, "", outside);
	/* Nor has it said who called it. */
	array_put(scene, previous, 0x4321);
	expect_merged(nested, "", "[" BROKEN "] 5 4 3 2 1 0");
	array_put(scene, previous, scene->stack + 0x8000);
	expect_merged(nested, "", "[" BROKEN "] 5 4 3 2 1 0");
	/* This may be true of one call, but there are two. */
	array_put(scene, previous, array_root(scene, nested->thread));
	expect_merged(nested, "", "[" BROKEN "] 5 4 3 2 1 0");
	array_put(scene, frame, nested->inner);
	array_put(scene, previous, nested->outer_call);
	expect_merged(nested, "", "5 4 3 [outer:13 middle:24] 2 1 [inner:35] 0");
}

static void
test_window(void **state)
{
	(void)state;
	for_each(one_window, 11, 12);
}

/* The first call of a thread: it had no frame before. */
static void
one_first_call(struct nested *nested)
{
	struct scene *scene = &nested->scene;

	scene->chain.count = 3;
	array_put(scene, nested->inner_call + scene->layout.cframe_previous,
		  array_root(scene, nested->thread));
	array_put(scene, nested->inner_call + scene->layout.cframe_frame, 0);
	expect_merged(nested, "", "2 1 0");
	assert_false(scene->captured.broken);
}

static void
test_first_call(void **state)
{
	(void)state;
	for_each(one_first_call, 11, 12);
}

/* A thread that executes nothing just now, as of a program that Python is only a part of. */
static void
one_idle(struct nested *nested)
{
	struct scene *scene = &nested->scene;

	scene->chain.count = 1;
	array_execute(scene, nested->thread, array_root(scene, nested->thread));
	expect_merged(nested, "0", "0");
	assert_true(scene->captured.known);
	assert_false(scene->captured.broken);
}

static void
test_idle(void **state)
{
	(void)state;
	for_each(one_idle, 8, 14);
}

/* --- threads ------------------------------------------------------------------------- */

static void
one_lock(struct nested *nested)
{
	struct scene *scene = &nested->scene;
	const uint64_t lock = array_lock(scene, nested->interpreter);

	array_put(scene, lock + scene->layout.gil_holder, nested->thread);
	array_capture(scene, TID);
	assert_false(scene->captured.has_lock);
	assert_true(scene->captured.lock == lock);
	array_put(scene, lock + scene->layout.gil_locked, 1);
	array_capture(scene, TID);
	assert_true(scene->captured.has_lock);
	array_put(scene, lock + scene->layout.gil_holder, nested->thread + 8);
	array_capture(scene, TID);
	assert_false(scene->captured.has_lock);
}

static void
test_lock(void **state)
{
	(void)state;
	for_each(one_lock, 8, 14);
}

static void
one_stranger(struct nested *nested)
{
	struct scene *scene = &nested->scene;

	array_capture(scene, TID + 1);
	assert_false(scene->captured.known);
	assert_string_equal(array_merged(scene), "5 4 3 2 1 0");
	/* The list is older than the thread that lies there now. */
	array_capture(scene, TID);
	assert_true(scene->captured.known);
	array_put(scene, nested->thread + scene->layout.thread_pthread, 1);
	python_capture(&scene->cpython, TID, &scene->captured);
	assert_false(scene->captured.known);
	assert_string_equal(array_merged(scene), "5 4 3 2 1 0");
}

static void
test_stranger(void **state)
{
	(void)state;
	for_each(one_stranger, 8, 14);
}

/* A thread that runs code of a second interpreter within that of the first. */
static void
one_second_interpreter(struct nested *nested)
{
	struct scene *scene = &nested->scene;
	const uint64_t second = array_interpreter(scene, 1);
	const uint64_t thread = array_thread(scene, second, TID);
	const uint64_t frame = array_frame(scene, array_code(scene, "second", 50), 6, 0);
	const uint64_t lock = array_lock(scene, second);

	array_execute(scene, thread,
		      array_call(scene, 0x080, frame, frame, array_root(scene, thread)));
	array_put(scene, lock + scene->layout.gil_holder, thread);
	array_put(scene, lock + scene->layout.gil_locked, 1);
	chain_clear(&scene->chain);
	scene->chain.end = CHAIN_OUTERMOST;
	array_native(scene, 0x040, true);
	nested_chain(nested);
	scene->chain.frame[1].sp += 0x0d0;
	expect_merged(nested, "6 5 [outer:13] 4 [middle:24] 3 2 [inner:35] 1 0 [second:56]",
		      "6 5 4 [outer:13 middle:24] 3 2 [inner:35] 1 0 [second:56]");
	assert_true(scene->captured.has_lock);
	assert_true(scene->captured.lock == lock);
}

static void
test_second_interpreter(void **state)
{
	(void)state;
	for_each(one_second_interpreter, 8, 14);
}

/* Lists that are rings, of threads and of interpreters. */
static void
one_ring_of_threads(struct nested *nested)
{
	struct scene *scene = &nested->scene;
	const struct python_layout *layout = &scene->layout;

	for (pid_t tid = TID + 1; tid < TID + 20; tid++)
		array_thread(scene, nested->interpreter, tid);
	array_put(scene, nested->thread + layout->thread_next,
		  array_get(scene, nested->interpreter + layout->interpreter_threads));
	array_put(scene, nested->interpreter + layout->interpreter_next, nested->interpreter);
	array_capture(scene, TID);
	assert_int_equal(scene->cpython.threads.count, 20);
	assert_int_equal(scene->cpython.lock_count, 1);
	assert_true(scene->captured.known);
	assert_true(scene->reads < 10000);
}

static void
test_ring_of_threads(void **state)
{
	(void)state;
	for_each(one_ring_of_threads, 8, 14);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_more_calls),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_unmatched),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_without_code),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_init_cleanup),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_first_call),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_lock),
		cmocka_unit_test(test_stranger),
		cmocka_unit_test(test_second_interpreter),
		cmocka_unit_test(test_ring_of_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
