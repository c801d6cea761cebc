/* SPDX-License-Identifier: MIT */
/*
 * jit_scene.h - shared by the tests of JIT names: the target is the test itself, which writes files
 * for profilers, and struct jit reads them.
 */
#ifndef TEST_JIT_SCENE_H
#define TEST_JIT_SCENE_H

#include <stddef.h>
#include <stdint.h>

#include "wallsample/jit/jit.h"

struct scene {
	struct process *process;
	struct modules *modules;
	struct maps *maps;
	struct jit *jit;
	char *said; /* the messages in the log */
	size_t said_size;
	struct log log;
	char map_path[64], dump_path[64];
	void *mapped; /* the page of the jitdump file that the test has mapped */
	uint64_t now_ns;
};

/* Setup of a cmocka test: makes a scene without files. Teardown: removes the files of the scene. */
int jit_scene_start(void **state);
int jit_scene_end(void **state);
#define JIT_ROW(name) cmocka_unit_test_setup_teardown(name, jit_scene_start, jit_scene_end)

/* Writes a file; `mode` is that of fopen(3). */
void write_file(const char *path, const char *mode, const void *bytes, size_t size);
/* Appends text to the perf map. */
void append(struct scene *scene, const char *text);
/* Advances the time of the scene by a second, and calls jit_tick(). */
void tick(struct scene *scene);

/* Return the name for the address in an epoch, or in the current one; "-" when there is none. */
const char *name_in(struct scene *scene, uint64_t address, uint32_t epoch);
const char *name_of(struct scene *scene, uint64_t address);

/* Return the number of times that the log contains these words, and the number of its lines. */
unsigned times_said(struct scene *scene, const char *words);
unsigned lines_said(struct scene *scene);

#endif
