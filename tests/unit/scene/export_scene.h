/* SPDX-License-Identifier: MIT */
/*
 * export_scene.h - an invented profile for tests of exporters: three threads in all kinds of
 * states, in functions some of which have hostile names.
 *
 * The scene defines symbols_find() in place of the library's function.
 */
#ifndef UNIT_EXPORT_SCENE_H
#define UNIT_EXPORT_SCENE_H

#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/base.h"
#include "wallsample/report/export.h"

#define MS ((int64_t)NS_PER_MS)

/* The functions. The address of a frame is the number of its function. */
enum {
	START, MAIN, LOOP, POLL, PARSE, WORK, LOCK, HOSTILE, WIDE, SAME_NAME, NAMELESS, JIT,
	TURNED, MARKUP, LONG,
};

/* The name of the function LONG, which a test may set. */
#define LONGEST 10000
extern char longest[LONGEST];

struct scene {
	struct profile *profile;
	struct view *view;
	struct process process;
	struct run_stats *stats; /* allocated because it is large */
	char command[400];
};

struct scene scene_make(const struct filter *filter);
void scene_release(struct scene *scene);
/* Returns the input for a report of 80 columns; it is valid until the scene is released. */
struct export_input scene_input(struct scene *scene);

/* Adds `ms` of wall time to the stack of `functions`: the outermost function first, and -1 at the
 * end. */
void scene_add(struct profile *profile, uint32_t thread, enum run_state run, long syscall,
	       int64_t ms, const int *functions);
#define STACK(...) ((const int[]){ __VA_ARGS__, -1 })

/* Return the output of the exporter with this name, as bytes and as text; the caller frees it. */
char *scene_write(const char *format, const struct export_input *input, size_t *size);
char *scene_text(const char *format, const struct export_input *input);

#endif
