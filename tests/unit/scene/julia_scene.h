/* SPDX-License-Identifier: MIT */
/*
 * julia_scene.h - an array of bytes that represents the memory of a process with Julia's threads
 * and tasks, in the layout of a given version.
 */
#ifndef WALLSAMPLE_JULIA_SCENE_H
#define WALLSAMPLE_JULIA_SCENE_H

#include "runtime/julia/julia_internal.h"

/* The array has the addresses [SCENE_BASE, SCENE_BASE + SCENE_SIZE); no others can be read. */
#define SCENE_BASE UINT64_C(0x20000000)
#define SCENE_SIZE ((size_t)4 << 20)
/* Size in bytes of libjulia's variables, which are at the beginning of the array. */
#define SCENE_VARIABLES ((size_t)3 << 12)
#define SCENE_THREADS (SCENE_BASE + 0x1a50)
#define SCENE_COUNT (SCENE_BASE + 0x1a58)
#define SCENE_NOTHING (SCENE_BASE + 0x2a00)

#define SCENE_TAG UINT64_C(0x7000)
#define SCENE_RUNNABLE 0
#define SCENE_DONE 1
#define SCENE_GUARD UINT64_C(0xa5a5123456789abc)
#define SCENE_STACK 65536

struct julia_scene {
	uint8_t *bytes;
	size_t used;
	uint64_t reads;
	struct julia_layout layout;
	struct runtimes_config config;
	struct runtime_tools tools;
	struct julia_place place;
	uint64_t nothing, queue; /* addresses of the object `nothing` and of a queue */
};

/* Makes a process of Julia 1.`minor` with `threads` threads, each of which has room for `tasks`
 * tasks. The first task of each thread has ended, except in thread 0. */
struct julia_scene *julia_scene_create(unsigned minor, unsigned threads, unsigned tasks);
void julia_scene_free(struct julia_scene *scene);

void julia_scene_put(struct julia_scene *scene, uint64_t address, uint64_t value, size_t size);
uint64_t julia_scene_get(const struct julia_scene *scene, uint64_t address, size_t size);
/* Allocates zeroed memory; returns its address, a multiple of 16. */
uint64_t julia_scene_allocate(struct julia_scene *scene, size_t size);

uint64_t julia_scene_thread(const struct julia_scene *scene, unsigned thread);
/* Returns the kernel's id of the thread with this number. */
pid_t julia_scene_tid(unsigned thread);
/* Adds a suspended task, which waits in `queue`, to the list of the thread. Returns the task's
 * address. */
uint64_t julia_scene_add_task(struct julia_scene *scene, unsigned thread, uint64_t queue);
void julia_scene_run(struct julia_scene *scene, unsigned thread, uint64_t task);
void julia_scene_set_state(struct julia_scene *scene, uint64_t task, uint64_t state);
void julia_scene_set_stack(struct julia_scene *scene, uint64_t task, uint64_t stack, uint64_t size,
		     uint32_t bits);
/* Sets the registers with which a suspended task is resumed. */
void julia_scene_set_context(struct julia_scene *scene, uint64_t task, uint64_t pc, uint64_t sp,
		       uint64_t fp);

#define SCENE_STARTED UINT32_C(0x80000000)
#define SCENE_PC UINT64_C(0x7fff12345678)

#endif
