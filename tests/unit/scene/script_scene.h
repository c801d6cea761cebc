/* SPDX-License-Identifier: MIT */
/*
 * script_scene.h - makes profiles from stacks that are written as text, with native functions and
 * functions of an interpreted program.
 *
 * A stack is its frames, the outermost first, separated by semicolons:
 *     [waiting]          a named frame
 *     libc.so!main       a native function and its module
 *     libc.so!?          a native function without a name
 *     lib.so!f<g         function f, inlined into function g
 *     leaf@/a/app.py:4   a function of a script, with file and line
 *     leaf@:0            a function of a script whose file is not known
 */
#ifndef WALLSAMPLE_SCRIPT_SCENE_H
#define WALLSAMPLE_SCRIPT_SCENE_H

#include "wallsample/profile/profile.h"
#include "wallsample/analysis/view.h"

/* Adds a stack in which thread 1 ran for `ms` milliseconds. */
void script_scene_add(struct profile *profile, const char *stack, int64_t ms);
/* Adds a stack in which thread 1 slept for `ms` milliseconds in wait number `wait`; if `wait` is 0,
 * the thread ran. */
void script_scene_add_wait(struct profile *profile, const char *stack, int64_t ms, uint32_t wait);

/* Returns the rows of a view as sorted folded stacks; the caller frees the text. A frame whose name
 * is ambiguous without its module ends with " (module)". */
char *script_scene_fold(const struct view *view);

#endif
