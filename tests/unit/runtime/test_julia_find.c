/* SPDX-License-Identifier: MIT */
/*
 * test_julia_find.c - finding Julia by files that are made by hand, with and without a symbol for
 * where its threads are; and its layout by debug information, which is this program's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/julia/julia_internal.h"
#include "../scene/julia_scene.h"
#include "../scene/made_elf.h"
#include "wallsample/base/base.h"

#define CODE TEXT_ADDRESS
#define CODE_EACH 16
#define FILE_SIZE (CODE + 4 * CODE_EACH)
#define BIAS (SCENE_BASE - DATA_ADDRESS)
#define MODULES_MOST 4
#define LOOKS 3000

struct found {
	struct modules *modules;
	struct mapping mapping[MODULES_MOST];
	size_t count;
	struct process process;
	struct maps *maps;
	struct julia_scene *scene;
	struct finder *finder;
};

#define VARIABLE(name, address) { name, DATA_ADDRESS + ((address) - SCENE_BASE), 8, STT_OBJECT, \
				  STB_GLOBAL, DATA, true }
#define VERSION(name, n) { name, CODE + (n) * CODE_EACH, 6, STT_FUNC, STB_GLOBAL, TEXT, true }

static const struct made_symbol whole[] = {
	VARIABLE("jl_n_threads", SCENE_COUNT), VARIABLE("jl_nothing", SCENE_NOTHING),
	VERSION("jl_ver_minor", 0), VERSION("jl_ver_patch", 1),
};
static const struct made_symbol loader[] = {
	VARIABLE("jl_n_threads", SCENE_COUNT), VARIABLE("jl_nothing", SCENE_NOTHING),
	VERSION("jl_ver_minor", 2), VERSION("jl_ver_patch", 2),
};
static const struct made_symbol internal[] = {
	VARIABLE("jl_all_tls_states", SCENE_THREADS),
	VERSION("ijl_ver_minor", 0), VERSION("ijl_ver_patch", 1),
};
static const struct made_symbol stripped[] = {
	VERSION("ijl_ver_minor", 0), VERSION("ijl_ver_patch", 1),
};

/* What the functions have: the first two return a number, the third jumps elsewhere. */
static struct image *
make_image(const struct made_symbol *symbol, size_t count, unsigned minor, unsigned patch)
{
	const struct made_file file = make_file(symbol, count);
	uint8_t *bytes = xcalloc(1, FILE_SIZE);
	struct image *image;

	assert_true(file.size < CODE);
	memcpy(bytes, file.bytes, file.size);
	free(file.bytes);
	memcpy(bytes + CODE, (uint8_t[]){ 0x55, 0x48, 0x89, 0xe5, 0xb8, (uint8_t)minor }, 6);
	memcpy(bytes + CODE + CODE_EACH, (uint8_t[]){ 0xb8, (uint8_t)patch }, 2);
	memcpy(bytes + CODE + 2 * CODE_EACH, (uint8_t[]){ 0xff, 0x25, 1, 2, 3, 4 }, 6);
	image = image_take_memory(bytes, FILE_SIZE);
	assert_non_null(image);
	image->segment[0].file_size = FILE_SIZE;
	image->segment[image->segment_count++] = (struct image_segment){
		.vaddr = DATA_ADDRESS, .mem_size = SCENE_VARIABLES, .writable = true,
	};
	return image;
}

static void
add(struct found *found, const char *name, struct image *image)
{
	const uint32_t id = modules_add_object(found->modules, image);
	struct module *module = modules_get(found->modules, id);

	module->kind = MODULE_FILE;
	module->name = name;
	found->mapping[found->count] = (struct mapping){
		.start = 0x1000 * (found->count + 1), .end = 0x1000 * (found->count + 2),
		.module = id, .bias = BIAS, .image = image,
	};
	found->count++;
}

static struct found *
begin(unsigned minor)
{
	struct found *found = xcalloc(1, sizeof(*found));

	found->modules = modules_create();
	found->scene = julia_scene_create(minor, 3, 8);
	return found;
}

/* One look; NULL: there is no Julia yet. */
static const struct julia_place *
look_once(struct found *found, bool *busy)
{
	const struct finder_candidate *candidate;
	size_t at = 0;

	*busy = finder_look(found->finder);
	candidate = finder_next(found->finder, &at);
	return candidate != NULL ? finder_place(found->finder, candidate) : NULL;
}

static const struct julia_place *
look(struct found *found, int *looks)
{
	const struct julia_place *place = NULL;
	bool busy = true;

	if (found->finder == NULL) {
		found->maps = maps_create_fixed(&found->process, found->modules, found->mapping,
						found->count);
		found->scene->config.maps = found->maps;
		found->finder = finder_create(&julia_finder, &found->scene->tools);
	}
	for (*looks = 0; *looks < LOOKS && busy; ++*looks)
		place = look_once(found, &busy);
	return place;
}

static void
end(struct found *found)
{
	finder_free(found->finder);
	maps_free(found->maps);
	modules_free(found->modules);
	julia_scene_free(found->scene);
	free(found);
}

static void
expect_place(const struct found *found, const struct julia_place *place, uint32_t version)
{
	assert_non_null(place);
	assert_int_equal(place->layout.version, version);
	assert_int_equal(place->threads, SCENE_THREADS);
	assert_int_equal(place->count, SCENE_COUNT);
	assert_int_equal(place->nothing, found->scene->nothing);
	assert_int_equal(place->tag, SCENE_TAG);
	assert_int_equal(place->runnable, SCENE_RUNNABLE);
}

/* --- which files ---------------------------------------------------------------------------- */

/* The variable has no symbol, but is near another that has. */
static void
test_whole(void **state)
{
	struct found *found = begin(5);
	int looks;

	(void)state;
	add(found, "libother.so", make_image(whole, ARRAY_SIZE(whole), 6, 6));
	add(found, "libjulia.so.1.5", make_image(whole, ARRAY_SIZE(whole), 5, 3));
	expect_place(found, look(found, &looks), JULIA_VERSION(1, 5, 3));
	assert_int_equal(looks, 1);
	end(found);
}

/* The variables are in two segments, and what is looked for is in the first. */
static void
test_two_segments(void **state)
{
	struct found *found = begin(5);
	struct image *image = make_image(whole, ARRAY_SIZE(whole), 5, 3);
	struct image_segment *last = &image->segment[image->segment_count];
	int looks;

	(void)state;
	last[0] = last[-1];
	last[0].vaddr += 0x2000;
	last[0].mem_size = last[-1].mem_size - 0x2000;
	last[-1].mem_size = 0x2000;
	image->segment_count++;
	add(found, "libjulia.so.1.5", image);
	expect_place(found, look(found, &looks), JULIA_VERSION(1, 5, 3));
	end(found);
}

static void
test_parts(void **state)
{
	struct found *found = begin(13);
	int looks;

	(void)state;
	add(found, "libjulia.so.1.13", make_image(loader, ARRAY_SIZE(loader), 1, 1));
	add(found, "x_libjulia-internal.so.1.13",
	    make_image(internal, ARRAY_SIZE(internal), 13, 1));
	expect_place(found, look(found, &looks), JULIA_VERSION(1, 13, 1));
	end(found);
}

static void
test_stripped_parts(void **state)
{
	struct found *found = begin(13);
	int looks;

	(void)state;
	add(found, "libjulia.so.1.13", make_image(loader, ARRAY_SIZE(loader), 1, 1));
	add(found, "libjulia-internal.so.1.13", make_image(stripped, ARRAY_SIZE(stripped), 13, 0));
	expect_place(found, look(found, &looks), JULIA_VERSION(1, 13, 0));
	end(found);
}

static void
test_none(void **state)
{
	struct found *found = begin(5);
	int looks;

	(void)state;
	add(found, "libc.so.6", make_image(whole, ARRAY_SIZE(whole), 5, 3));
	assert_null(look(found, &looks));
	assert_int_equal(looks, 1);
	assert_null(finder_why(found->finder));
	end(found);
}

static void
test_unknown(void **state)
{
	struct found *found = begin(5);
	int looks;

	(void)state;
	add(found, "libjulia.so.1.5", make_image(whole, ARRAY_SIZE(whole), 99, 4));
	assert_null(look(found, &looks));
	assert_int_equal(looks, 1);
	assert_string_equal(finder_why(found->finder),
			    "the Julia in libjulia.so.1.5 cannot be read: version 1.99.4 is not "
			    "known, and it has no debug information");
	assert_null(finder_why(found->finder));
	end(found);
}

/* --- what is in memory ---------------------------------------------------------------------- */

/* It is waited for, and seen as soon as it is there. */
static void
test_not_yet(void **state)
{
	struct found *found = begin(13);
	bool busy;
	int looks;

	(void)state;
	julia_scene_put(found->scene, SCENE_COUNT, 0, 4);
	add(found, "libjulia.so.1.13", make_image(loader, ARRAY_SIZE(loader), 1, 1));
	add(found, "libjulia-internal.so.1.13", make_image(internal, ARRAY_SIZE(internal), 13, 1));
	found->maps = maps_create_fixed(&found->process, found->modules, found->mapping,
					found->count);
	found->scene->config.maps = found->maps;
	found->finder = finder_create(&julia_finder, &found->scene->tools);
	for (int i = 0; i < 10; i++) {
		assert_null(look_once(found, &busy));
		assert_true(busy);
	}
	julia_scene_put(found->scene, SCENE_COUNT, 3, 4);
	expect_place(found, look(found, &looks), JULIA_VERSION(1, 13, 1));
	assert_int_equal(looks, 1);
	end(found);
}

/* A thread with the number of another; tasks that are not alike; no pthread_t. */
static void
check_misfit(uint64_t address_in_thread, uint64_t value, size_t size)
{
	struct found *found = begin(5);
	int looks;

	julia_scene_put(found->scene, julia_scene_thread(found->scene, 0) + address_in_thread,
			value, size);
	add(found, "libjulia.so.1.5", make_image(whole, ARRAY_SIZE(whole), 5, 3));
	assert_null(look(found, &looks));
	assert_true(looks < LOOKS);
	assert_string_equal(finder_why(found->finder),
			    "the Julia in libjulia.so.1.5 cannot be read: its threads are not "
			    "where they are expected");
	end(found);
}

static void
test_misfits(void **state)
{
	const struct julia_layout *layout = julia_layout_find(JULIA_VERSION(1, 5, 0));
	struct julia_scene *scene = julia_scene_create(5, 3, 8);

	(void)state;
	check_misfit(layout->thread_root, scene->queue, 8);
	julia_scene_free(scene);
	check_misfit(layout->thread_number, 1, 2);
	check_misfit(layout->thread_root, SCENE_BASE + 0x100010, 8);
	check_misfit(layout->thread_current, 0, 8);
	check_misfit(layout->thread_pthread, SCENE_BASE, 8);
}

/* Variables that point anywhere: each page costs two calls, and a few for what looks alike. */
static void
test_damage(void **state)
{
	(void)state;
	srand(1);
	for (unsigned round = 0; round < 50; round++) {
		struct found *found = begin(5);
		struct julia_scene *scene = found->scene;
		int looks;

		julia_scene_put(scene, SCENE_THREADS, 0, 8);
		for (uint64_t at = 0; at < SCENE_VARIABLES; at += 8)
			if (SCENE_BASE + at != SCENE_COUNT)
				julia_scene_put(scene, SCENE_BASE + at,
					  SCENE_BASE + (uint64_t)(rand() % (1 << 20)) * 8, 8);
		add(found, "libjulia.so.1.5", make_image(whole, ARRAY_SIZE(whole), 5, 3));
		look(found, &looks);
		assert_true(looks <= 2000);
		end(found);
	}
}

/* --- debug information ---------------------------------------------------------------------- */

struct list {
	uint32_t len, max;
	void **items;
};

/* A Julia of its own, made of what others have. */
struct _jl_task_t {
	void *next, *queue, *tls;
	uint8_t _state, sticky;
	int16_t tid;
	union {
		struct { uint64_t buffer[25]; } ctx;
		int copy;
	};
	void *stkbuf;
	size_t bufsz;
	uint64_t inference_start_time;
	uint16_t reentrant;
	unsigned copy_stack : 31, started : 1;
};

struct _jl_tls_states_t {
	int16_t tid;
	struct {
		struct list weak_refs, live_tasks;
	} heap;
	struct _jl_task_t *volatile current_task;
	struct _jl_task_t *root_task;
	unsigned long system_id;
};

static const struct _jl_tls_states_t an_instance;

static void
test_debug_info(void **state)
{
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	struct julia_layout layout;
	const struct julia_layout expected = {
		.version = JULIA_VERSION(1, 10, 4),
		.thread_number = offsetof(struct _jl_tls_states_t, tid),
		.thread_tasks = offsetof(struct _jl_tls_states_t, heap.live_tasks),
		.thread_current = offsetof(struct _jl_tls_states_t, current_task),
		.thread_root = offsetof(struct _jl_tls_states_t, root_task),
		.thread_pthread = offsetof(struct _jl_tls_states_t, system_id),
		.list_capacity = offsetof(struct list, max),
		.list_items = offsetof(struct list, items),
		.task_queue = offsetof(struct _jl_task_t, queue),
		.task_state = offsetof(struct _jl_task_t, _state),
		.task_context = offsetof(struct _jl_task_t, ctx),
		.task_stack = offsetof(struct _jl_task_t, stkbuf),
		.task_thread = offsetof(struct _jl_task_t, tid),
		.task_bits = offsetof(struct _jl_task_t, reentrant) + 4,
		.task_size = offsetof(struct _jl_task_t, reentrant) + 8,
	};

	(void)state;
	assert_non_null(dwarf);
	assert_int_equal(an_instance.tid, 0);
	assert_true(julia_layout_read(dwarf, JULIA_VERSION(1, 10, 4), &layout));
	assert_memory_equal(&layout, &expected, sizeof(layout));
	dwarf_end(dwarf);
	close(fd);
}

/* A row is for all patches of its version, and for no other. */
static void
test_rows(void **state)
{
	(void)state;
	assert_null(julia_layout_find(JULIA_VERSION(1, 4, 2)));
	assert_null(julia_layout_find(JULIA_VERSION(1, 14, 0)));
	assert_true(julia_layout_find(JULIA_VERSION(1, 5, 3))->tried);
	assert_false(julia_layout_find(JULIA_VERSION(1, 13, 1))->tried);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_two_segments),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_stripped_parts),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_not_yet),
		cmocka_unit_test(test_misfits),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_debug_info),
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
