/* SPDX-License-Identifier: MIT */
/*
 * script_scene.h - profiles of stacks that are written as text, with functions of an interpreted
 * program among native ones.
 *
 * A stack is its frames, the outermost first, separated by semicolons:
 *     [waiting]          a named frame
 *     libc.so!main       a native function and its module
 *     libc.so!?          one without a name
 *     lib.so!f<g         f is inlined into g, whose code it is
 *     leaf@/a/app.py:4   a function of a script
 *     leaf@:0            one whose file is not known
 */
#ifndef WALLSAMPLE_SCRIPT_SCENE_H
#define WALLSAMPLE_SCRIPT_SCENE_H

#include "wallsample/profile/profile.h"
#include "wallsample/analysis/view.h"

/* Adds a stack of thread 1, which ran there for so many milliseconds. */
void script_scene_add(struct profile *profile, const char *stack, int64_t ms);
/* The same for one that slept there, and waited for this (0: it ran). */
void script_scene_add_wait(struct profile *profile, const char *stack, int64_t ms, uint32_t wait);

/* The rows of a view as folded stacks in order, each frame with " (module)" if it needs it. */
char *script_scene_fold(const struct view *view);

#endif
