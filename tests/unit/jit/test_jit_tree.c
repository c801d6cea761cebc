/* SPDX-License-Identifier: MIT */
/* test_jit_tree.c - a tree of object files in this program's memory: whole, and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jit/objects/jit_watch_internal.h"
#include "wallsample/base/base.h"

#define NODES 100
#define FILE_SIZE 4096

/* As libstdc++ and LLVM have them. */
struct node {
	uint64_t color;
	struct node *parent, *left, *right;
	uint64_t code;
	const struct object *object;
} __attribute__((aligned(16)));

struct object {
	uint64_t functions, type;
	const void *file;
	uint64_t size;
} __attribute__((aligned(16)));

struct listener {
	uint64_t functions, compare;
	struct node *self[4]; /* color, root, leftmost, rightmost */
	uint64_t count;
} __attribute__((aligned(16)));

static struct node node[NODES];
static struct object object[NODES];
static struct listener listener;
static struct listener *variable = &listener;
static uint8_t file[NODES][FILE_SIZE];

/* A tree of the first `count` nodes, in which the children of n are 2n + 1 and 2n + 2. */
static int
setup(void **state)
{
	(void)state;
	memset(node, 0, sizeof(node));
	variable = &listener;
	listener = (struct listener){ .self = { NULL, &node[0], &node[1], &node[2] },
				      .count = NODES };
	for (size_t i = 0; i < NODES; i++) {
		object[i] = (struct object){ .file = file[i], .size = FILE_SIZE };
		node[i].object = &object[i];
		node[i].parent = i > 0 ? &node[(i - 1) / 2] : (struct node *)&listener.self[0];
		node[i].left = 2 * i + 1 < NODES ? &node[2 * i + 1] : NULL;
		node[i].right = 2 * i + 2 < NODES ? &node[2 * i + 2] : NULL;
	}
	return 0;
}

/* Reads the tree; false when there is none. */
static bool
walk(struct jit_list *to, size_t most)
{
	const struct jit_watch watch = { .address = (uintptr_t)&variable, .kind = JIT_WATCH_TREE };
	struct jit_reader reader = { NULL, getpid() };
	const struct memory memory = { jit_read, &reader };
	struct jit_descriptor before;

	*to = (struct jit_list){ .count = 0 };
	if (!jit_watch_read(&watch, &memory, &before))
		return false;
	assert_true(jit_watch_walk(&watch, &memory, &before, most, to));
	return true;
}

static void
expect(size_t count, size_t most)
{
	struct jit_list done;

	assert_true(walk(&done, most));
	assert_int_equal(done.count, count);
	free(done.item);
}

static void
test_whole(void **state)
{
	bool found[NODES] = { false };
	struct jit_list done;

	(void)state;
	assert_true(walk(&done, 1000));
	assert_int_equal(done.count, NODES);
	for (size_t i = 0; i < NODES; i++) {
		const uint64_t entry = done.item[i].entry;
		const size_t n = (size_t)((const struct node *)(uintptr_t)entry - node);

		assert_true(n < NODES && !found[n]);
		found[n] = true;
		assert_int_equal(done.item[i].address, (uintptr_t)file[n]);
		assert_int_equal(done.item[i].size, FILE_SIZE);
	}
	free(done.item);
	expect(7, 7);
}

/* No listener yet, none of its kind, and a tree without anything in it. */
static void
test_none(void **state)
{
	struct jit_list done;

	(void)state;
	variable = NULL;
	assert_false(walk(&done, 1000));
	variable = (struct listener *)(uintptr_t)0x123450;
	assert_false(walk(&done, 1000));
	variable = &listener;
	listener.count = 0;
	assert_false(walk(&done, 1000));
	listener.count = UINT64_MAX;
	assert_false(walk(&done, 1000));
	listener.count = NODES;
	listener.self[1] = (struct node *)(uintptr_t)8;
	assert_false(walk(&done, 1000));
}

/* Rings end; what leads nowhere, or to no file, is left out, and the rest is good. */
static void
test_damage(void **state)
{
	(void)state;
	node[5].left = &node[0];
	node[6].right = &node[6];
	expect(NODES - 19, 1000);
	setup(NULL);
	node[99].object = NULL;
	node[98].object = (const struct object *)(uintptr_t)0x123450;
	object[97].size = 8;
	object[96].file = (const void *)UINTPTR_MAX;
	node[95].left = (struct node *)(uintptr_t)0x123450;
	node[94].right = (struct node *)(UINTPTR_MAX - 15);
	expect(NODES - 4, 1000);
}

/* The variable is in the first of two segments of the module. */
static void
test_two_segments(void **state)
{
	static struct listener *data[3][512] __attribute__((aligned(4096)));
	struct process process = { .pid = getpid() };
	struct modules *modules = modules_create();
	struct jit_reader reader = { NULL, getpid() };
	const struct memory memory = { jit_read, &reader };
	struct image *image = image_open_fd(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), NULL);
	const uint32_t id = modules_add_object(modules, image);
	struct mapping mapping = { .start = 1, .end = 2, .module = id, .image = image };
	struct jit_tree tree = { .generation = 0 };
	struct maps *maps;

	(void)state;
	modules_get(modules, id)->kind = MODULE_FILE;
	modules_get(modules, id)->name = "libjulia.so";
	memcpy(file[0], ELFMAG, SELFMAG);
	data[0][7] = &listener;
	image->segment_count = 2;
	for (size_t i = 0; i < 2; i++)
		image->segment[i] = (struct image_segment){
			.vaddr = (uintptr_t)data[2 * i], .mem_size = 4096, .writable = true,
		};
	maps = maps_create_fixed(&process, modules, &mapping, 1);
	assert_true(jit_tree_update(&tree, maps, &memory, 1));
	assert_true(tree.variable == (uintptr_t)&data[0][7]);
	maps_free(maps);
	modules_free(modules);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_whole, setup),
		cmocka_unit_test_setup(test_none, setup),
		cmocka_unit_test_setup(test_damage, setup),
		cmocka_unit_test_setup(test_two_segments, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
