/* SPDX-License-Identifier: MIT */
/*
 * python_scene.h - memory with objects of CPython in it that tests make by hand: by the offsets
 * of 3.11 on x86-64, which a test may change before it makes any.
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
	struct memory memory; /* to read `bytes`, which are all that there is */
	uint8_t bytes[SCENE_SIZE];
	size_t used;
	uint64_t code_type;
	unsigned reads;
	/* Before that read (counted from 1; 0: none) the word at this address becomes another. */
	unsigned change_at;
	uint64_t change_address, change_to;
};

int python_scene_create(void **state);
int python_scene_free(void **state);

void python_scene_put(struct python_scene *scene, uint64_t address, const void *bytes, size_t size);
void scene_put_u64(struct python_scene *scene, uint64_t address, uint64_t value);
/* Fresh zeroed memory. */
uint64_t python_scene_allocate(struct python_scene *scene, size_t size);

/* Flags of a str as they are up to 3.13. */
#define STATE(width, compact, ascii) \
	((uint32_t)(width) << 2 | (uint32_t)(compact) << 5 | (uint32_t)(ascii) << 6)

/* A str of that many characters of `width` bytes. Where the flags are not for compact ones, the
 * characters are elsewhere and pointed to. */
uint64_t python_scene_str(struct python_scene *scene, uint32_t state, unsigned width, bool compact,
		   bool ascii, const void *characters, uint64_t length);
uint64_t python_scene_ascii(struct python_scene *scene, const char *text);
uint64_t python_scene_bytes(struct python_scene *scene, const void *bytes, size_t size);

/* A code object; the names are addresses of objects, 0: NULL. */
struct python_code_id python_scene_code(struct python_scene *scene, uint64_t filename,
					uint64_t name,
				 uint64_t qualified_name, uint64_t line_table,
				 uint32_t first_line);
/* The members of a code object that is at the address already. */
void python_scene_fill_code(struct python_scene *scene, const struct python_code_id *id);

#endif
