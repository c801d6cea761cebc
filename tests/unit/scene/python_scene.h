/* SPDX-License-Identifier: MIT */
/*
 * python_scene.h - an array of bytes that represents memory with objects of CPython, in the layout
 * of 3.11 on x86-64. A test may change the layout before it makes objects.
 */
#ifndef WALLSAMPLE_TESTS_PYTHON_SCENE_H
#define WALLSAMPLE_TESTS_PYTHON_SCENE_H

#include "runtime/python/python_layout_internal.h"
#include "wallsample/base/base.h"

#define SCENE_BASE UINT64_C(0x7f5500000000)
#define SCENE_SIZE 65536
#define SCENE_NOWHERE UINT64_C(0x123456789000)

struct python_scene {
	struct python_layout layout;
	struct memory memory; /* reads `bytes`; no other memory can be read */
	uint8_t bytes[SCENE_SIZE];
	size_t used;
	uint64_t code_type;
	unsigned reads;
	/* Before read number change_at (1: the first read; 0: never), the word at change_address is
	 * set to change_to. */
	unsigned change_at;
	uint64_t change_address, change_to;
};

int python_scene_create(void **state);
int python_scene_free(void **state);

void python_scene_put(struct python_scene *scene, uint64_t address, const void *bytes, size_t size);
void scene_put_u64(struct python_scene *scene, uint64_t address, uint64_t value);
/* Allocates zeroed memory; returns its address. */
uint64_t python_scene_allocate(struct python_scene *scene, size_t size);

/* Flags of a str in the layout of versions up to 3.13. */
#define STATE(width, compact, ascii) \
	((uint32_t)(width) << 2 | (uint32_t)(compact) << 5 | (uint32_t)(ascii) << 6)

/* Adds a str of `length` characters of `width` bytes. The characters of a str that is not compact
 * are in separate memory, to which the object points. */
uint64_t python_scene_str(struct python_scene *scene, uint32_t state, unsigned width, bool compact,
		   bool ascii, const void *characters, uint64_t length);
uint64_t python_scene_ascii(struct python_scene *scene, const char *text);
uint64_t python_scene_bytes(struct python_scene *scene, const void *bytes, size_t size);

/* Adds a code object. The names are addresses of str objects; 0: a null pointer. */
struct python_code_id python_scene_code(struct python_scene *scene, uint64_t filename,
					uint64_t name,
				 uint64_t qualified_name, uint64_t line_table,
				 uint32_t first_line);
/* Sets the members of a code object that has already been allocated. */
void python_scene_fill_code(struct python_scene *scene, const struct python_code_id *id);

#endif
