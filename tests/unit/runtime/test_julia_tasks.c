/* SPDX-License-Identifier: MIT */
/* test_julia_tasks.c - Julia's tasks in memory that is made by hand: whole, and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/julia/julia_internal.h"
#include "../scene/julia_scene.h"
#include "wallsample/base/base.h"

static const unsigned minors[] = { 5, 13 };

/* All slots; the caller frees it. */
static struct green_task *
look(struct julia_tasks *tasks, const struct julia_scene *scene, size_t *count)
{
	struct green_task *task;
	uint32_t *slot;

	*count = julia_tasks_slots(tasks, &scene->place);
	task = xcalloc(*count + 1, sizeof(*task));
	slot = xcalloc(*count + 1, sizeof(*slot));
	for (size_t i = 0; i < *count; i++)
		slot[i] = (uint32_t)i;
	memset(task, 0x5a, *count * sizeof(*task));
	julia_tasks_look(tasks, slot, *count, task);
	free(slot);
	return task;
}

/* That of the address; an empty one: it has none. */
static struct green_task
find(const struct julia_scene *scene, uint64_t address)
{
	struct julia_tasks *tasks = julia_tasks_create(&scene->tools);
	struct green_task found = { .state = GREEN_TASK_NONE };
	size_t count;
	struct green_task *task = look(tasks, scene, &count);

	for (size_t i = 0; i < count; i++)
		if (task[i].address == address && task[i].state != GREEN_TASK_NONE)
			found = task[i];
	free(task);
	julia_tasks_free(tasks);
	return found;
}

/* Of architectures whose jmp_buf nothing can be told of there is no place to go on at. */
static bool
has_contexts(void)
{
	return julia_context_guard(SCENE_BASE) != 0;
}

static void
expect_context(const struct green_task *task, bool there)
{
	const uint64_t pc = there && has_contexts() ? SCENE_PC : 0;

	assert_int_equal(task->pc, pc);
	assert_int_equal(task->sp, pc != 0 ? task->stack_low + 512 : 0);
	assert_int_equal(task->fp, pc != 0 ? task->stack_low + 528 : 0);
}

/* --- what they do ------------------------------------------------------------------------- */

static void
check_waiting(unsigned minor)
{
	struct julia_scene *scene = julia_scene_create(minor, 2, 8);
	const uint64_t waits = julia_scene_add_task(scene, 1, scene->queue);
	const uint64_t ready = julia_scene_add_task(scene, 0, scene->nothing);
	struct green_task task = find(scene, waits);

	assert_int_equal(task.state, GREEN_TASK_WAITING);
	assert_int_equal(task.id, waits);
	assert_int_equal(task.tid, 0);
	assert_int_equal(task.stack_high - task.stack_low, 1024);
	expect_context(&task, true);
	task = find(scene, ready);
	assert_int_equal(task.state, GREEN_TASK_READY);
	expect_context(&task, true);
	julia_scene_free(scene);
}

static void
check_running(unsigned minor)
{
	struct julia_scene *scene = julia_scene_create(minor, 2, 8);
	const uint64_t runs = julia_scene_add_task(scene, 1, scene->nothing);
	const uint64_t idles = julia_scene_add_task(scene, 0, scene->queue);
	struct green_task task;

	julia_scene_run(scene, 1, runs);
	julia_scene_run(scene, 0, idles);
	task = find(scene, runs);
	assert_int_equal(task.state, GREEN_TASK_RUNNING);
	assert_int_equal(task.tid, julia_scene_tid(1));
	expect_context(&task, false);
	assert_true(task.stack_low != 0);
	task = find(scene, idles);
	assert_int_equal(task.state, GREEN_TASK_CALLING);
	assert_int_equal(task.tid, julia_scene_tid(0));
	julia_scene_free(scene);
}

/* What called the first task lies behind the end of its stack, on the same page; other
 * stacks end where it is said. */
static void
check_first(unsigned minor)
{
	struct julia_scene *scene = julia_scene_create(minor, 1, 8);
	const uint64_t first = julia_scene_get(
		scene, julia_scene_thread(scene, 0) + scene->layout.thread_root, 8);
	const uint64_t other = julia_scene_add_task(scene, 0, scene->queue);
	const uint64_t stack = SCENE_BASE + 65536 + 512;

	julia_scene_set_stack(scene, first, stack, 8192, SCENE_STARTED);
	assert_int_equal(find(scene, first).stack_low, stack);
	assert_int_equal(find(scene, first).stack_high, SCENE_BASE + 65536 + 12288);
	julia_scene_set_stack(scene, first, 4096, UINT64_MAX - 4096 - 7, SCENE_STARTED);
	assert_int_equal(find(scene, first).stack_high, UINT64_MAX - 7);
	julia_scene_set_stack(scene, other, stack, 8192, SCENE_STARTED);
	assert_int_equal(find(scene, other).stack_high, stack + 8192);
	julia_scene_free(scene);
}

/* Ended, without a stack, not begun, begun with its stack copied elsewhere; no task at all. */
static void
check_others(unsigned minor)
{
	struct julia_scene *scene = julia_scene_create(minor, 1, 16);
	uint64_t task[7];
	struct green_task found;

	for (size_t i = 0; i < ARRAY_SIZE(task); i++)
		task[i] = julia_scene_add_task(scene, 0, scene->queue);
	julia_scene_set_state(scene, task[0], SCENE_DONE);
	julia_scene_set_stack(scene, task[1], 0, 0, SCENE_STARTED);
	julia_scene_put(scene, task[2] + scene->layout.task_queue, scene->nothing, 8);
	julia_scene_set_stack(scene, task[2], SCENE_BASE, 4096, 0);
	julia_scene_put(scene, task[3] - 8, SCENE_TAG + 16, 8);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(find(scene, task[i]).state, GREEN_TASK_NONE);
	/* What its context has is of another that had its place. */
	found = find(scene, task[4]);
	julia_scene_set_stack(scene, task[4], found.stack_low, 1024, 0);
	found = find(scene, task[4]);
	assert_int_equal(found.state, GREEN_TASK_READY);
	expect_context(&found, false);
	julia_scene_set_stack(scene, task[5], SCENE_BASE, 4096, SCENE_STARTED | 640);
	found = find(scene, task[5]);
	assert_int_equal(found.state, GREEN_TASK_WAITING);
	assert_int_equal(found.stack_high, 0);
	expect_context(&found, false);
	assert_int_equal(find(scene, task[6]).state, GREEN_TASK_WAITING);
	julia_scene_free(scene);
}

/* A stack pointer that is not on the stack: then the rest is not believed, either. */
static void
check_foreign_context(unsigned minor)
{
	struct julia_scene *scene = julia_scene_create(minor, 1, 8);
	const uint64_t task = julia_scene_add_task(scene, 0, scene->queue);
	const uint64_t stack = find(scene, task).stack_low;
	const uint64_t sp[] = { stack - 8, stack + 1024, stack + 1020, 0, UINT64_MAX };
	struct green_task found;

	for (size_t i = 0; i < ARRAY_SIZE(sp); i++) {
		julia_scene_set_context(scene, task, SCENE_PC, sp[i], stack);
		found = find(scene, task);
		assert_int_equal(found.state, GREEN_TASK_WAITING);
		expect_context(&found, false);
	}
	julia_scene_free(scene);
}

static void
each_version(void (*check)(unsigned minor))
{
	for (size_t i = 0; i < ARRAY_SIZE(minors); i++)
		check(minors[i]);
}

static void
test_waiting(void **state)
{
	(void)state;
	each_version(check_waiting);
}

static void
test_running(void **state)
{
	(void)state;
	each_version(check_running);
}

static void
test_first(void **state)
{
	(void)state;
	each_version(check_first);
}

static void
test_others(void **state)
{
	(void)state;
	each_version(check_others);
}

static void
test_foreign_context(void **state)
{
	(void)state;
	each_version(check_foreign_context);
}

/* --- many, and some of them ------------------------------------------------------------------- */

/* Two thousand and more: look reads them in groups, of which each is a few calls. */
static void
test_many(void **state)
{
	struct julia_scene *scene = julia_scene_create(13, 3, 800);
	struct julia_tasks *tasks = julia_tasks_create(&scene->tools);
	const uint32_t some[] = { 0, 1, 700, 801, 802, 1603, 2402 };
	struct green_task task[ARRAY_SIZE(some)], *all;
	size_t count;

	(void)state;
	for (unsigned i = 0; i < 2400; i++)
		julia_scene_add_task(scene, i / 800, scene->queue);
	all = look(tasks, scene, &count);
	assert_int_equal(count, 2403);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(all[i].state, i == 0 ? GREEN_TASK_RUNNING :
				 i % 801 == 0 ? GREEN_TASK_NONE : GREEN_TASK_WAITING);
	julia_tasks_look(tasks, some, ARRAY_SIZE(some), task);
	for (size_t i = 0; i < ARRAY_SIZE(some); i++)
		assert_memory_equal(&task[i], &all[some[i]], sizeof(task[i]));
	free(all);
	julia_tasks_free(tasks);
	julia_scene_free(scene);
}

/* A task that begins to run between two looks is not the same: who copied its stack may know. */
static void
test_between_looks(void **state)
{
	struct julia_scene *scene = julia_scene_create(13, 1, 8);
	struct julia_tasks *tasks = julia_tasks_create(&scene->tools);
	const uint64_t address = julia_scene_add_task(scene, 0, scene->nothing);
	const uint32_t slot = 1;
	struct green_task before, after;

	(void)state;
	assert_int_equal(julia_tasks_slots(tasks, &scene->place), 2);
	julia_tasks_look(tasks, &slot, 1, &before);
	assert_true(green_task_is_same(&before, &before));
	julia_scene_run(scene, 0, address);
	julia_tasks_look(tasks, &slot, 1, &after);
	assert_int_equal(after.state, GREEN_TASK_RUNNING);
	assert_false(green_task_is_same(&before, &after));
	julia_tasks_free(tasks);
	julia_scene_free(scene);
}

/* --- of a thread --------------------------------------------------------------------------- */

static void
test_of_a_thread(void **state)
{
	struct julia_scene *scene = julia_scene_create(5, 2, 8);
	struct julia_tasks *tasks = julia_tasks_create(&scene->tools);
	const uint64_t address = julia_scene_add_task(scene, 0, scene->nothing);
	struct green_task task;

	(void)state;
	assert_false(julia_tasks_running(tasks, julia_scene_tid(0), &task));
	julia_tasks_slots(tasks, &scene->place);
	julia_scene_run(scene, 0, address);
	pages_begin_capture(scene->tools.pages, true);
	pages_begin(scene->tools.pages, NULL);
	assert_true(julia_tasks_running(tasks, julia_scene_tid(0), &task));
	assert_int_equal(task.state, GREEN_TASK_RUNNING);
	assert_int_equal(task.address, address);
	assert_int_equal(task.tid, julia_scene_tid(0));
	/* The other's first task has ended: the thread is on its stack, and looks for work. */
	assert_true(julia_tasks_running(tasks, julia_scene_tid(1), &task));
	assert_int_equal(task.state, GREEN_TASK_NONE);
	assert_false(julia_tasks_running(tasks, julia_scene_tid(2), &task));
	julia_tasks_free(tasks);
	julia_scene_free(scene);
}

/* --- damage ---------------------------------------------------------------------------------- */

static void
test_counts(void **state)
{
	static const uint32_t counts[] = { 0, UINT32_MAX, 70000, 32767 };
	struct julia_scene *scene = julia_scene_create(13, 1, 8);
	struct julia_tasks *tasks = julia_tasks_create(&scene->tools);
	const uint64_t list = julia_scene_thread(scene, 0) + scene->layout.thread_tasks;
	size_t count;

	(void)state;
	julia_scene_add_task(scene, 0, scene->queue);
	assert_int_equal(julia_tasks_slots(tasks, NULL), 0);
	/* More than it has room for, more than there may be. */
	julia_scene_put(scene, list, 9, 8);
	assert_int_equal(julia_tasks_slots(tasks, &scene->place), 1);
	julia_scene_put(scene, list, UINT64_MAX, 8);
	julia_scene_put(scene, list + 8, UINT64_MAX, 8);
	assert_int_equal(julia_tasks_slots(tasks, &scene->place), 1);
	/* So many as may be, of which none can be read. */
	julia_scene_put(scene, list, 3000, 8);
	julia_scene_put(scene, list + 16, SCENE_BASE + SCENE_SIZE - 8, 8);
	free(look(tasks, scene, &count));
	assert_int_equal(count, 3001);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		julia_scene_put(scene, SCENE_COUNT, counts[i], 4);
		count = julia_tasks_slots(tasks, &scene->place);
		assert_true(count <= GREEN_TASK_SLOTS_MOST);
		assert_int_equal(julia_tasks_slots(tasks, &scene->place) > 0, counts[i] == 32767);
	}
	julia_tasks_free(tasks);
	julia_scene_free(scene);
}

/* Nothing that is found makes no sense, whatever memory has. */
static void
check_sane(const struct green_task *task, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		assert_true(task[i].state <= GREEN_TASK_MOVING);
		assert_true(task[i].stack_low <= task[i].stack_high);
		assert_true(task[i].pc == 0 || (task[i].sp >= task[i].stack_low &&
						task[i].sp < task[i].stack_high));
		assert_true(task[i].state == GREEN_TASK_NONE || task[i].address != 0);
	}
}

static void
check_damage(unsigned minor)
{
	struct julia_scene *scene = julia_scene_create(minor, 3, 20);
	struct julia_tasks *tasks = julia_tasks_create(&scene->tools);
	uint8_t *whole = xmalloc(SCENE_SIZE);
	struct green_task running;

	for (unsigned i = 0; i < 30; i++)
		julia_scene_add_task(scene, i % 3, i % 2 == 0 ? scene->queue : scene->nothing);
	memcpy(whole, scene->bytes, SCENE_SIZE);
	srand(minor);
	for (unsigned round = 0; round < 2000; round++) {
		struct green_task *task;
		size_t count;

		for (unsigned i = 0; i < 1 + round % 40; i++)
			scene->bytes[(size_t)rand() % scene->used] = (uint8_t)rand();
		task = look(tasks, scene, &count);
		assert_true(count <= GREEN_TASK_SLOTS_MOST);
		check_sane(task, count);
		pages_begin_capture(scene->tools.pages, true);
		pages_begin(scene->tools.pages, NULL);
		julia_tasks_running(tasks, julia_scene_tid(round % 3), &running);
		free(task);
		memcpy(scene->bytes, whole, scene->used);
	}
	free(whole);
	julia_tasks_free(tasks);
	julia_scene_free(scene);
}

static void
test_damage(void **state)
{
	(void)state;
	each_version(check_damage);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_running),
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_foreign_context),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_between_looks),
		cmocka_unit_test(test_of_a_thread),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
