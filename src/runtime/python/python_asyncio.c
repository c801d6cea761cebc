/* SPDX-License-Identifier: MIT */
/* python_asyncio.c - finds the layout of asyncio's tasks, which the module _asyncio publishes. */
#include <string.h>

#include "runtime/python/python_internal.h"

#define SECTION ".AsyncioDebug"
/* Beginning of the name of the file of _asyncio, such as
 * "_asyncio.cpython-314-x86_64-linux-gnu.so". */
#define FILE_NAME "_asyncio."

/* Reads the offsets in the section .AsyncioDebug of the mapped file into *layout. Returns false,
 * and changes nothing, when the file has no such section, or the offsets are not plausible. */
static bool
read_asyncio_module(const struct mapping *mapping, const struct memory *memory,
		    struct python_task_layout *layout)
{
	uint64_t word[PYTHON_ASYNCIO_WORDS];
	const uint64_t section = image_section_vaddr(mapping->image, SECTION, sizeof(word));

	return section != 0 && memory_read(memory, section + mapping->bias, word, sizeof(word)) &&
	       python_asyncio_parse(word, layout);
}

/* Reads the layout of tasks, which the interpreter and its module _asyncio publish, into
 * cpython->tasks. Returns false when it cannot be read; then also sets cpython->tasks_why, but only
 * if the file of _asyncio is mapped. Without this file the program has no tasks, unless _asyncio is
 * built into the interpreter. */
static bool
find_layout(struct cpython *cpython)
{
	const struct maps *maps = cpython->base.tools->config->maps;
	const struct memory *memory = &cpython->base.tools->memory;
	const bool published = python_since(&cpython->place.layout, 3, 14);
	uint8_t bytes[PYTHON_OFFSETS_SIZE];
	const bool readable = published &&
			      memory_read(memory, cpython->place.runtime, bytes, sizeof(bytes)) &&
			      python_offsets_parse_tasks(bytes, sizeof(bytes), &cpython->tasks);
	uint32_t last = MODULE_NONE;
	bool loaded = false;

	for (size_t i = 0; i < maps_count(maps); i++) {
		const struct mapping *mapping = maps_at(maps, i);
		const struct module *module = modules_at(maps_modules(maps), mapping->module);
		const bool own = strncmp(module->name, FILE_NAME, strlen(FILE_NAME)) == 0;

		if (module->kind != MODULE_FILE || mapping->image == NULL || module->id == last ||
		    (!own && module->id != cpython->place.module))
			continue;
		last = module->id;
		loaded |= own;
		if (readable && read_asyncio_module(mapping, memory, &cpython->tasks))
			return true;
	}
	if (loaded)
		cpython->tasks_why = published ? "what its asyncio says of tasks cannot be so" :
						 "only CPython 3.14 and later tell where they are";
	return false;
}

void
python_tasks_find(struct cpython *cpython)
{
	const uint64_t generation = maps_generation(cpython->base.tools->config->maps);

	if (cpython->tasks_known ||
	    (cpython->tasks_sought && cpython->tasks_generation == generation))
		return;
	cpython->tasks_sought = true;
	cpython->tasks_generation = generation;
	cpython->tasks_why = NULL;
	cpython->tasks_known = find_layout(cpython);
}
