/* SPDX-License-Identifier: MIT */
/* wait_scene.c - the memory of an invented process; see the header. */
#include <string.h>

#include "wait_scene.h"

struct scene scene;

static bool
read_scene(void *context, uint64_t address, void *to, size_t size)
{
	(void)context;
	scene.reads++;
	if (size > scene.largest)
		scene.largest = size;
	if (address == TIMES && size == sizeof(scene.time)) {
		memcpy(to, &scene.time, size);
		return true;
	}
	if (address < scene.start || address > scene.end || size > scene.end - address)
		return false;
	memcpy(to, scene.bytes + (address - MEMORY), size);
	return true;
}

static pid_t
living(void *context, pid_t inner)
{
	(void)context;
	return inner == INNER ? LIVING : 0;
}

static size_t
blocked(void *context, uint64_t address)
{
	(void)context;
	if (address == scene.word)
		return scene.blocked;
	return address == scene.word + 4 ? scene.beside : 0;
}

const struct wait_source scene_source = {
	.memory = {.read = read_scene}, .thread = living, .blocked = blocked,
};

void
scene_clear(void)
{
	memset(&scene, 0, sizeof(scene));
	scene.start = MEMORY;
	scene.end = MEMORY + sizeof(scene.bytes);
	scene.time.seconds = 100;
}

void
put32(uint64_t address, uint32_t value)
{
	memcpy(scene.bytes + (address - MEMORY), &value, sizeof(value));
}

void
put64(uint64_t address, uint64_t value)
{
	memcpy(scene.bytes + (address - MEMORY), &value, sizeof(value));
}
