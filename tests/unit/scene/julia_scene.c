/* SPDX-License-Identifier: MIT */
/* julia_scene.c - writes Julia's threads and tasks into an array of bytes; see the header. */
#include "julia_scene.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/runtime_kind_internal.h"
#include "wallsample/base/base.h"

#define THREAD_SIZE 8192
#define PTHREAD_SIZE 1024

static bool
read_scene(void *context, uint64_t address, void *to, size_t size)
{
	struct julia_scene *scene = context;

	scene->reads++;
	if (address < SCENE_BASE || size > SCENE_SIZE || address - SCENE_BASE > SCENE_SIZE - size)
		return false;
	memcpy(to, scene->bytes + (address - SCENE_BASE), size);
	return true;
}

static size_t
read_pieces(void *context, const struct memory_piece *piece, size_t count, void *to)
{
	uint8_t *at = to;
	size_t i;

	for (i = 0; i < count && read_scene(context, piece[i].address, at, piece[i].size); i++)
		at += piece[i].size;
	return i;
}

static pid_t
find_thread(void *context, pid_t inner)
{
	(void)context;
	return inner;
}

void
julia_scene_put(struct julia_scene *scene, uint64_t address, uint64_t value, size_t size)
{
	memcpy(scene->bytes + (address - SCENE_BASE), &value, size);
}

uint64_t
julia_scene_get(const struct julia_scene *scene, uint64_t address, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, scene->bytes + (address - SCENE_BASE), size);
	return value;
}

uint64_t
julia_scene_allocate(struct julia_scene *scene, size_t size)
{
	const uint64_t address = SCENE_BASE + scene->used;

	scene->used += (size + 15) / 16 * 16;
	if (scene->used > SCENE_SIZE)
		abort();
	return address;
}

/* --- threads -------------------------------------------------------------------------------- */

pid_t
julia_scene_tid(unsigned thread)
{
	return (pid_t)(1000 + thread);
}

uint64_t
julia_scene_thread(const struct julia_scene *scene, unsigned thread)
{
	return julia_scene_get(scene,
			       julia_scene_get(scene, SCENE_THREADS, 8) + 8 * (uint64_t)thread, 8);
}

static uint64_t
list_of(const struct julia_scene *scene, unsigned thread)
{
	return julia_scene_thread(scene, thread) + scene->layout.thread_tasks;
}

static uint64_t
new_pthread(struct julia_scene *scene, unsigned thread)
{
	const uint64_t pthread = julia_scene_allocate(scene, PTHREAD_SIZE);

	julia_scene_put(scene, pthread + 16, pthread, 8);
	julia_scene_put(scene, pthread + pthread_tid_offset[0],
			(uint64_t)julia_scene_tid(thread), 4);
	julia_scene_put(scene, pthread + 0x30, SCENE_GUARD, 8);
	return pthread;
}

static uint64_t
new_task(struct julia_scene *scene, unsigned thread, uint64_t queue)
{
	/* The word before an object is its type tag; its lowest bits belong to the garbage
	 * collector. */
	const uint64_t task = julia_scene_allocate(scene, 16 + scene->layout.task_size) + 16;
	const uint64_t stack = julia_scene_allocate(scene, SCENE_STACK / 64);

	julia_scene_put(scene, task - 8, SCENE_TAG | 3, 8);
	julia_scene_put(scene, task + scene->layout.task_queue, queue, 8);
	julia_scene_put(scene, task + scene->layout.task_thread, thread, 2);
	julia_scene_set_state(scene, task, SCENE_RUNNABLE);
	julia_scene_set_stack(scene, task, stack, SCENE_STACK / 64, SCENE_STARTED);
	return task;
}

static uint64_t
new_thread(struct julia_scene *scene, unsigned thread, unsigned tasks)
{
	const struct julia_layout *layout = &scene->layout;
	const uint64_t address = julia_scene_allocate(scene, THREAD_SIZE) + 8;
	const uint64_t root = new_task(scene, thread, scene->nothing);
	const uint64_t list = address + layout->thread_tasks;

	julia_scene_put(scene, address + layout->thread_number, thread, 2);
	julia_scene_put(scene, address + layout->thread_root, root, 8);
	julia_scene_put(scene, address + layout->thread_current, root, 8);
	julia_scene_put(scene, address + layout->thread_pthread, new_pthread(scene, thread), 8);
	julia_scene_put(scene, list + layout->list_capacity, tasks, layout->list_capacity);
	julia_scene_put(scene, list + layout->list_items,
			julia_scene_allocate(scene, 8 * (size_t)tasks), 8);
	if (thread > 0)
		julia_scene_set_state(scene, root, SCENE_DONE);
	return address;
}

struct julia_scene *
julia_scene_create(unsigned minor, unsigned threads, unsigned tasks)
{
	struct julia_scene *scene = xcalloc(1, sizeof(*scene));
	uint64_t array;

	scene->bytes = xcalloc(1, SCENE_SIZE);
	scene->used = SCENE_VARIABLES;
	scene->layout = *julia_layout_find(JULIA_VERSION(1, minor, 0));
	scene->config = (struct runtimes_config){
		.memory = { read_scene, scene },
		.read_pieces = read_pieces,
		.thread = find_thread,
		.context = scene,
	};
	scene->tools = (struct runtime_tools){
		.config = &scene->config,
		.memory = scene->config.memory,
		.pages = pages_create(&scene->config),
	};
	scene->nothing = julia_scene_allocate(scene, 32) + 16;
	scene->queue = julia_scene_allocate(scene, 32) + 16;
	julia_scene_put(scene, scene->nothing - 8, SCENE_TAG + 0x100, 8);
	julia_scene_put(scene, scene->queue - 8, SCENE_TAG + 0x200, 8);
	array = julia_scene_allocate(scene, 8 * threads);
	julia_scene_put(scene, SCENE_THREADS, array, 8);
	julia_scene_put(scene, SCENE_COUNT, threads, 4);
	julia_scene_put(scene, SCENE_NOTHING, scene->nothing, 8);
	for (unsigned i = 0; i < threads; i++)
		julia_scene_put(scene, array + 8 * i, new_thread(scene, i, tasks), 8);
	scene->place = (struct julia_place){
		.layout = scene->layout,
		.threads = SCENE_THREADS,
		.count = SCENE_COUNT,
		.nothing = scene->nothing,
		.tag = SCENE_TAG,
		.runnable = SCENE_RUNNABLE,
	};
	return scene;
}

void
julia_scene_free(struct julia_scene *scene)
{
	pages_free(scene->tools.pages);
	free(scene->bytes);
	free(scene);
}

/* --- tasks ------------------------------------------------------------------------------------ */

uint64_t
julia_scene_add_task(struct julia_scene *scene, unsigned thread, uint64_t queue)
{
	const uint64_t list = list_of(scene, thread);
	const uint64_t items = julia_scene_get(scene, list + scene->layout.list_items, 8);
	const uint64_t length = julia_scene_get(scene, list, scene->layout.list_capacity);
	const uint64_t task = new_task(scene, thread, queue);
	const uint64_t stack = julia_scene_get(scene, task + scene->layout.task_stack, 8);

	julia_scene_put(scene, items + 8 * length, task, 8);
	julia_scene_put(scene, list, length + 1, scene->layout.list_capacity);
	if (scene->layout.context_is_pointer)
		julia_scene_put(scene, task + scene->layout.task_context, stack + 768, 8);
	julia_scene_set_context(scene, task, SCENE_PC, stack + 512, stack + 528);
	return task;
}

void
julia_scene_run(struct julia_scene *scene, unsigned thread, uint64_t task)
{
	julia_scene_put(scene, julia_scene_thread(scene, thread) + scene->layout.thread_current,
			task, 8);
}

void
julia_scene_set_state(struct julia_scene *scene, uint64_t task, uint64_t state)
{
	julia_scene_put(scene, task + scene->layout.task_state, state,
		  scene->layout.state_is_symbol ? 8 : 1);
}

void
julia_scene_set_stack(struct julia_scene *scene, uint64_t task, uint64_t stack, uint64_t size,
		uint32_t bits)
{
	const uint64_t at = task + scene->layout.task_stack;

	julia_scene_put(scene, at, stack, 8);
	julia_scene_put(scene, at + 8, size, 8);
	julia_scene_put(scene, task + scene->layout.task_bits, bits, 4);
}

static uint64_t
mangle(uint64_t word)
{
	word ^= SCENE_GUARD;
	return word << 17 | word >> 47;
}

/* The layout is that of glibc's jmp_buf on x86-64: rbp is the second word, rsp and rip the last. */
void
julia_scene_set_context(struct julia_scene *scene, uint64_t task, uint64_t pc, uint64_t sp,
			uint64_t fp)
{
	uint64_t at = task + scene->layout.task_context;

	if (scene->layout.context_is_pointer)
		at = julia_scene_get(scene, at, 8);
	julia_scene_put(scene, at + 8, mangle(fp), 8);
	julia_scene_put(scene, at + 48, mangle(sp), 8);
	julia_scene_put(scene, at + 56, mangle(pc), 8);
}
