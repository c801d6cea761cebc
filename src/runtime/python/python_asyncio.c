/* SPDX-License-Identifier: MIT */
/* python_asyncio.c - finds the module _asyncio, and the offsets that it publishes. */
#include "runtime/python/python_internal.h"

#include <string.h>

#include "runtime/python/python_find_internal.h"

#define SECTION ".AsyncioDebug"
/* "_asyncio.cpython-314-x86_64-linux-gnu.so" */
#define FILE_NAME "_asyncio."

/* PyInterpreterState has 220 KiB; a structure of more than this is refused. */
#define STATE_MOST (UINT64_C(16) << 20)

/* The words in their order; all are offsets or sizes. */
/* clang-format off */
enum word {
	TASK_SIZE, TASK_NAME, TASK_AWAITED_BY, TASK_IS_TASK, TASK_AWAITED_BY_IS_SET, TASK_CORO,
	TASK_NODE,
	INTERPRETER_SIZE, INTERPRETER_TASKS,
	THREAD_SIZE, RUNNING_LOOP, RUNNING_TASK, THREAD_TASKS,
};
/* clang-format on */

bool
python_asyncio_parse(const uint64_t word[PYTHON_ASYNCIO_WORDS], struct python_task_layout *layout)
{
	const uint64_t size = word[TASK_SIZE];

	if (size > PYTHON_TASK_PART_MOST || word[INTERPRETER_SIZE] != layout->interpreter_size ||
	    word[INTERPRETER_TASKS] >= word[INTERPRETER_SIZE] || word[THREAD_SIZE] > STATE_MOST ||
	    word[THREAD_TASKS] >= word[THREAD_SIZE] || word[RUNNING_TASK] >= word[THREAD_SIZE])
		return false;
	for (int w = TASK_NAME; w <= TASK_NODE; w++) {
		const size_t width = w == TASK_IS_TASK || w == TASK_AWAITED_BY_IS_SET ? 1 : 8;

		if (word[w] > size || size - word[w] < width)
			return false;
	}
	layout->size = (uint32_t)size;
	layout->name = (uint32_t)word[TASK_NAME];
	layout->awaited_by = (uint32_t)word[TASK_AWAITED_BY];
	layout->is_task = (uint32_t)word[TASK_IS_TASK];
	layout->awaited_by_is_set = (uint32_t)word[TASK_AWAITED_BY_IS_SET];
	layout->coroutine = (uint32_t)word[TASK_CORO];
	layout->node = (uint32_t)word[TASK_NODE];
	layout->interpreter_tasks = (uint32_t)word[INTERPRETER_TASKS];
	layout->thread_tasks = (uint32_t)word[THREAD_TASKS];
	layout->thread_running = (uint32_t)word[RUNNING_TASK];
	return true;
}

/* Reads the words of the mapping's module, if it is an _asyncio that publishes them. */
static bool
read_asyncio_module(const struct mapping *mapping, const struct memory *memory,
		    struct python_task_layout *layout)
{
	uint64_t word[PYTHON_ASYNCIO_WORDS];
	const uint64_t section = image_section_vaddr(mapping->image, SECTION, sizeof(word));

	return section != 0 && memory_read(memory, section + mapping->bias, word, sizeof(word)) &&
	       python_asyncio_parse(word, layout);
}

bool
python_asyncio_find(struct maps *maps, const struct memory *memory,
		    const struct python_place *place, struct python_task_layout *layout,
		    const char **why)
{
	uint8_t bytes[PYTHON_OFFSETS_SIZE];
	const bool told = python_since(&place->layout, 3, 14) &&
			  memory_read(memory, place->runtime, bytes, sizeof(bytes)) &&
			  python_offsets_parse_tasks(bytes, sizeof(bytes), layout);
	uint32_t last = MODULE_NONE;
	bool loaded = false;

	*why = NULL;
	for (size_t i = 0; i < maps_count(maps); i++) {
		const struct mapping *mapping = maps_at(maps, i);
		const struct module *module = modules_at(maps_modules(maps), mapping->module);
		const bool own = strncmp(module->name, FILE_NAME, strlen(FILE_NAME)) == 0;

		if (module->kind != MODULE_FILE || mapping->image == NULL || module->id == last ||
		    (!own && module->id != place->module))
			continue;
		last = module->id;
		loaded |= own;
		if (told && read_asyncio_module(mapping, memory, layout))
			return true;
	}
	if (loaded)
		*why = python_since(&place->layout, 3, 14) ?
			       "what its asyncio says of tasks cannot be so" :
			       "only CPython 3.14 and later tell where they are";
	return false;
}
