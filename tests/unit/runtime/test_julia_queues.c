/* SPDX-License-Identifier: MIT */
/* test_julia_queues.c - queues of tasks that are ready, in memory made by hand, and damaged. */
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

/* Pairs of names: it takes three looks to go through them, and the wanted one is among the
 * last. */
#define PAIRS UINT64_C(20000)
#define PLACE (PAIRS - 7)

struct made_module {
	uint64_t variable, object, table, symbol, binding, array, data;
};

static uint64_t
new_symbol(struct julia_scene *scene, const char *text)
{
	const uint64_t symbol = julia_scene_allocate(scene, 24 + strlen(text) + 1);

	memcpy(scene->bytes + (symbol + 24 - SCENE_BASE), text, strlen(text));
	return symbol;
}

static void
put_pair(struct julia_scene *scene, const struct made_module *module, uint64_t at, uint64_t symbol,
	 uint64_t binding)
{
	julia_scene_put(scene, module->table + 16 * at, symbol, 8);
	julia_scene_put(scene, module->table + 16 * at + 8, binding, 8);
}

/* Base with Workqueues of two threads: scene->queue is the second's. */
static struct made_module
new_module(struct julia_scene *scene)
{
	struct made_module module = {
		.variable = julia_scene_allocate(scene, 8),
		.object = julia_scene_allocate(scene, 64),
		.table = julia_scene_allocate(scene, 16 * PAIRS),
		.symbol = new_symbol(scene, "Workqueues"),
		.binding = julia_scene_allocate(scene, 32),
		.array = julia_scene_allocate(scene, 32),
		.data = julia_scene_allocate(scene, 32),
	};
	const uint64_t other = new_symbol(scene, "Workqueues2"), unset = 1;

	scene->place.base = module.variable;
	julia_scene_put(scene, module.variable, module.object, 8);
	julia_scene_put(scene, module.object + scene->layout.module_names, 2 * PAIRS, 8);
	julia_scene_put(scene, module.object + scene->layout.module_names + 8, module.table, 8);
	for (uint64_t i = 0; i < PAIRS; i++)
		put_pair(scene, &module, i, i % 3 == 0 ? other : unset, i % 3 == 0 ? other : unset);
	put_pair(scene, &module, PLACE, module.symbol, module.binding);
	julia_scene_put(scene, module.binding + 8, module.array, 8);
	julia_scene_put(scene, module.array, module.data, 8);
	julia_scene_put(scene, module.array + 8, 2, 8);
	julia_scene_put(scene, module.array + 18, 16, 2);
	julia_scene_put(scene, module.data, SCENE_BASE + 0x300000, 8);
	julia_scene_put(scene, module.data + 16, scene->queue, 8);
	return module;
}

/* So many updates; is scene->queue one of them then? */
static bool
has_after(const struct julia_scene *scene, unsigned updates)
{
	struct julia_queues *queues = xcalloc(1, sizeof(*queues));
	bool has;

	for (unsigned i = 0; i < updates; i++)
		julia_queues_update(queues, &scene->tools, &scene->place);
	has = julia_queues_has(queues, scene->queue);
	assert_false(julia_queues_has(queues, scene->nothing));
	assert_false(julia_queues_has(queues, 0));
	free(queues);
	return has;
}

static void
test_found(void **state)
{
	struct julia_scene *scene = julia_scene_create(5, 1, 4);
	const struct made_module module = new_module(scene);

	(void)state;
	assert_false(has_after(scene, 2));
	assert_true(has_after(scene, 3));
	assert_true(has_after(scene, 4));
	/* a release of which it is not known where names are, and one that does not export Base */
	scene->place.layout.module_names = 0;
	assert_false(has_after(scene, 9));
	scene->place.layout.module_names = scene->layout.module_names;
	scene->place.base = 0;
	assert_false(has_after(scene, 9));
	scene->place.base = module.variable;
	assert_true(has_after(scene, 9));
	julia_scene_free(scene);
}

/* A task in it is ready; so is, whose thread it still has, one that runs. */
static void
test_tasks(void **state)
{
	struct julia_scene *scene = julia_scene_create(5, 1, 4);
	struct julia_tasks *tasks = julia_tasks_create(&scene->tools);
	const uint64_t ready = julia_scene_add_task(scene, 0, scene->queue);
	const uint64_t waiting = julia_scene_add_task(scene, 0, julia_scene_allocate(scene, 16));
	static const uint32_t slot[] = { 0, 1, 2 };
	struct green_task task[3];

	(void)state;
	new_module(scene);
	for (int i = 0; i < 3; i++)
		assert_int_equal(julia_tasks_slots(tasks, &scene->place), 3);
	julia_tasks_look(tasks, slot, 3, task);
	assert_int_equal(task[1].address, ready);
	assert_int_equal(task[1].state, GREEN_TASK_READY);
	assert_int_equal(task[2].address, waiting);
	assert_int_equal(task[2].state, GREEN_TASK_WAITING);
	julia_scene_run(scene, 0, ready);
	julia_tasks_slots(tasks, &scene->place);
	julia_tasks_look(tasks, slot, 3, task);
	assert_int_equal(task[1].state, GREEN_TASK_RUNNING);
	julia_tasks_free(tasks);
	julia_scene_free(scene);
}

/* What is not so, or cannot be read, is not believed, and looked through three times at most. */
static void
test_damage(void **state)
{
	static const struct {
		size_t member; /* of struct made_module */
		uint64_t offset, value;
		size_t size;
	} damage[] = {
		{ offsetof(struct made_module, variable), 0, 0, 8 },
		{ offsetof(struct made_module, variable), 0, UINT64_MAX - 7, 8 },
		{ offsetof(struct made_module, object), 16, 0, 8 },
		{ offsetof(struct made_module, object), 16, UINT64_MAX, 8 },
		{ offsetof(struct made_module, object), 16, 2 * PAIRS + 1, 8 },
		{ offsetof(struct made_module, object), 24, UINT64_MAX - 4096, 8 },
		{ offsetof(struct made_module, symbol), 34, '2', 1 },
		{ offsetof(struct made_module, binding), 8, 0, 8 },
		{ offsetof(struct made_module, binding), 8, UINT64_MAX, 8 },
		{ offsetof(struct made_module, array), 0, SCENE_BASE + SCENE_SIZE - 8, 8 },
		{ offsetof(struct made_module, array), 8, UINT64_MAX, 8 },
		{ offsetof(struct made_module, array), 8, 0, 8 },
		{ offsetof(struct made_module, array), 18, 8, 2 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(damage); i++) {
		struct julia_scene *scene = julia_scene_create(5, 1, 4);
		const struct made_module module = new_module(scene);
		uint64_t address;

		memcpy(&address, (const char *)&module + damage[i].member, sizeof(address));
		julia_scene_put(scene, address + damage[i].offset, damage[i].value, damage[i].size);
		if (damage[i].value == UINT64_MAX &&
		    damage[i].member == offsetof(struct made_module, array))
			julia_scene_put(scene, module.array, SCENE_BASE + SCENE_SIZE - 32, 8);
		assert_false(has_after(scene, 30));
		julia_scene_free(scene);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
