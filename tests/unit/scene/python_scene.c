/* SPDX-License-Identifier: MIT */
/* python_scene.c - an array of bytes with objects of CPython; see the header. */
#include "python_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool
read_scene(void *context, uint64_t address, void *to, size_t size)
{
	struct python_scene *scene = context;

	scene->reads++;
	if (scene->reads == scene->change_at)
		scene_put_u64(scene, scene->change_address, scene->change_to);
	if (address < SCENE_BASE || address - SCENE_BASE > SCENE_SIZE ||
	    size > SCENE_SIZE - (address - SCENE_BASE))
		return false;
	memcpy(to, scene->bytes + (address - SCENE_BASE), size);
	return true;
}

int
python_scene_create(void **state)
{
	struct python_scene *scene = xcalloc(1, sizeof(*scene));
	struct python_layout *layout = &scene->layout;
	uint64_t word;

	layout->version = 0x030b07f0;
	layout->code_filename = 112;
	layout->code_name = 120;
	layout->code_qualified_name = 128;
	layout->code_line_table = 136;
	layout->code_first_line = 72;
	layout->code_instructions = 184;
	layout->code_bytecodes = MEMBER_ABSENT;
	layout->code_size = 184;
	layout->text_length = 16;
	layout->text_state = 32;
	layout->text_ascii = 48;
	layout->text_compact = 72;
	layout->bytes_size = 16;
	layout->bytes_data = 32;
	layout->object_type = 8;
	layout->type_name = 24;
	scene->memory = (struct memory){ read_scene, scene };
	word = python_scene_allocate(scene, 8);
	python_scene_put(scene, word, "code", 5);
	scene->code_type = python_scene_allocate(scene, 408);
	scene_put_u64(scene, scene->code_type + layout->type_name, word);
	*state = scene;
	return 0;
}

int
python_scene_free(void **state)
{
	free(*state);
	return 0;
}

void
python_scene_put(struct python_scene *scene, uint64_t address, const void *bytes, size_t size)
{
	assert_true(address >= SCENE_BASE && address + size <= SCENE_BASE + SCENE_SIZE);
	memcpy(scene->bytes + (address - SCENE_BASE), bytes, size);
}

void
scene_put_u64(struct python_scene *scene, uint64_t address, uint64_t value)
{
	python_scene_put(scene, address, &value, sizeof(value));
}

uint64_t
python_scene_allocate(struct python_scene *scene, size_t size)
{
	uint64_t address = SCENE_BASE + scene->used;

	scene->used += (size + 15) / 16 * 16;
	assert_true(scene->used <= SCENE_SIZE);
	return address;
}

uint64_t
python_scene_str(struct python_scene *scene, uint32_t state, unsigned width, bool compact,
		 bool ascii,
	  const void *characters, uint64_t length)
{
	const struct python_layout *layout = &scene->layout;
	size_t size = (size_t)length * width;
	uint64_t address = python_scene_allocate(scene, layout->text_compact + 8 + size);
	uint64_t to = address + (ascii ? layout->text_ascii : layout->text_compact);

	if (!compact) {
		to = python_scene_allocate(scene, size);
		scene_put_u64(scene, address + layout->text_compact, to);
	}
	scene_put_u64(scene, address + layout->text_length, length);
	python_scene_put(scene, address + layout->text_state, &state, sizeof(state));
	python_scene_put(scene, to, characters, size);
	return address;
}

uint64_t
python_scene_ascii(struct python_scene *scene, const char *text)
{
	return python_scene_str(scene, STATE(1, 1, 1), 1, true, true, text, strlen(text));
}

uint64_t
python_scene_bytes(struct python_scene *scene, const void *bytes, size_t size)
{
	uint64_t address = python_scene_allocate(scene, scene->layout.bytes_data + size + 1);

	scene_put_u64(scene, address + scene->layout.bytes_size, size);
	python_scene_put(scene, address + scene->layout.bytes_data, bytes, size);
	return address;
}

void
python_scene_fill_code(struct python_scene *scene, const struct python_code_id *id)
{
	const struct python_layout *layout = &scene->layout;

	scene_put_u64(scene, id->address + layout->object_type, scene->code_type);
	scene_put_u64(scene, id->address + layout->code_filename, id->filename);
	scene_put_u64(scene, id->address + layout->code_name, id->name);
	if (layout->code_qualified_name != MEMBER_ABSENT)
		scene_put_u64(scene, id->address + layout->code_qualified_name,
			      id->qualified_name);
	scene_put_u64(scene, id->address + layout->code_line_table, id->line_table);
	python_scene_put(scene, id->address + layout->code_first_line, &id->first_line, 4);
}

struct python_code_id
python_scene_code(struct python_scene *scene, uint64_t filename, uint64_t name,
		  uint64_t qualified_name,
	   uint64_t line_table, uint32_t first_line)
{
	struct python_code_id id = {
		.address = python_scene_allocate(scene, scene->layout.code_size + 64),
		.filename = filename,
		.name = name,
		.qualified_name = qualified_name,
		.line_table = line_table,
		.first_line = first_line,
	};

	python_scene_fill_code(scene, &id);
	return id;
}
