/* SPDX-License-Identifier: MIT */
/*
 * jit_scene.h - what the tests of JIT names share: a target that is the test itself, the files
 * that it writes for profilers, and what is found in them.
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
	char *said; /* what the log got */
	size_t said_size;
	struct log log;
	char map_path[64], dump_path[64];
	void *mapped; /* a page of the dump */
	uint64_t now_ns;
};

/* For cmocka: a scene without any file; the end removes them. */
int jit_scene_start(void **state);
int jit_scene_end(void **state);
#define JIT_ROW(name) cmocka_unit_test_setup_teardown(name, jit_scene_start, jit_scene_end)

/* `mode` as of fopen(3). */
void write_file(const char *path, const char *mode, const void *bytes, size_t size);
/* Adds to the perf map. */
void append(struct scene *scene, const char *text);
/* A second passes. */
void tick(struct scene *scene);

/* The name of the address, "-" if it has none. */
const char *name_in(struct scene *scene, uint64_t address, uint32_t epoch);
const char *name_of(struct scene *scene, uint64_t address);

/* How often the log has said these words, and how much in all. */
unsigned times_said(struct scene *scene, const char *words);
unsigned lines_said(struct scene *scene);

#endif
