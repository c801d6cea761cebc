/* SPDX-License-Identifier: MIT */
/*
 * wait_scene.h - an invented process with some pages of memory, one thread and a time-out. It
 * counts the reads of its memory.
 */
#ifndef TEST_WAIT_SCENE_H
#define TEST_WAIT_SCENE_H

#include "wallsample/thread/state.h"
#include "wallsample/wait/wait.h"

#define PAGE 4096
#define PAGES 3
#define MEMORY UINT64_C(0x7f3a40000000)
#define TIMES UINT64_C(0x7f3a50000000) /* address of the time-out */

#define LIVING 4321
#define INNER 77 /* the id of thread LIVING in the target's pid namespace */
#define DEAD 76

extern struct scene {
	unsigned char bytes[PAGES * PAGE];
	uint64_t start, end; /* the part of the memory that is mapped: [start, end) */
	struct {
		int64_t seconds, fraction;
	} time;
	size_t blocked; /* number of threads that are blocked on `word` */
	size_t beside;  /* number of threads that are blocked on the address 4 bytes after `word` */
	uint64_t word;
	size_t reads, largest;
} scene;

extern const struct wait_source scene_source;

/* Maps all pages, sets them to 0, and sets the time-out to 100 s. */
void scene_clear(void);
void put32(uint64_t address, uint32_t value);
void put64(uint64_t address, uint64_t value);

#endif
