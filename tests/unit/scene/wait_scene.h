/* SPDX-License-Identifier: MIT */
/*
 * wait_scene.h - a process of the unit tests that has some pages of memory, one thread, and a
 * time-out; and counts what is read of it.
 */
#ifndef TEST_WAIT_SCENE_H
#define TEST_WAIT_SCENE_H

#include "wallsample/thread/state.h"
#include "wallsample/wait/wait.h"

#define PAGE 4096
#define PAGES 3
#define MEMORY UINT64_C(0x7f3a40000000)
#define TIMES UINT64_C(0x7f3a50000000) /* where time-outs are */

#define LIVING 4321
#define INNER 77 /* what the target calls LIVING */
#define DEAD 76

extern struct scene {
	unsigned char bytes[PAGES * PAGE];
	uint64_t start, end; /* of it, what is mapped */
	struct {
		int64_t seconds, fraction;
	} time;
	size_t blocked, beside; /* on `word`, and 4 behind it */
	uint64_t word;
	size_t reads, largest;
} scene;

extern const struct wait_source scene_source;

/* All pages are there, and 0; the time is 100 s. */
void scene_clear(void);
void put32(uint64_t address, uint32_t value);
void put64(uint64_t address, uint64_t value);

#endif
