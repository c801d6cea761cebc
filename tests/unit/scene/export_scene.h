/* SPDX-License-Identifier: MIT */
/*
 * export_scene.h - a profile made up for exporters: three threads in all kinds of states, in
 * functions whose names are hostile.
 *
 * It brings a symbols_find of its own, in place of that of the library.
 */
#ifndef UNIT_EXPORT_SCENE_H
#define UNIT_EXPORT_SCENE_H

#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/base.h"
#include "wallsample/report/export.h"

#define MS ((int64_t)NS_PER_MS)

/* Functions, by what stands for their address. */
enum {
	START, MAIN, LOOP, POLL, PARSE, WORK, LOCK, HOSTILE, WIDE, SAME_NAME, NAMELESS, JIT,
	TURNED, MARKUP, LONG,
};

/* The name of LONG, for the test that has it to fill in. */
#define LONGEST 10000
extern char longest[LONGEST];

struct scene {
	struct profile *profile;
	struct view *view;
	struct process process;
	struct run_stats *stats; /* large */
	char command[400];
};

struct scene scene_make(const struct filter *filter);
void scene_release(struct scene *scene);
/* For a report of 80 columns; it borrows from the scene. */
struct export_input scene_input(struct scene *scene);

/* Adds wall time of a stack of functions, outermost first, ended by a negative number. */
void scene_add(struct profile *profile, uint32_t thread, enum run_state run, long syscall,
	       int64_t ms, const int *functions);
#define STACK(...) ((const int[]){ __VA_ARGS__, -1 })

/* What the exporter of that name writes, and as text; the caller frees it. */
char *scene_write(const char *format, const struct export_input *input, size_t *size);
char *scene_text(const char *format, const struct export_input *input);

#endif
