/* SPDX-License-Identifier: MIT */
/*
 * parking_internal.h - functions of runtimes that only put a task aside: what it waits in is the
 * function that called them.
 */
#ifndef WALLSAMPLE_ANALYSIS_VIEW_PARKING_INTERNAL_H
#define WALLSAMPLE_ANALYSIS_VIEW_PARKING_INTERNAL_H

#include <stdbool.h>

/*
 * By the name as it is in symbol tables, of the innermost functions of a task that waits: there
 * "wait" is Julia's.
 */
bool function_only_parks(const char *name);
/* And those that have no name in the module of this name: Julia's library is often stripped. */
bool module_only_parks(const char *name);

/* Is it a function of Go's that is none of its standard library: of main, or of "example.org/x"? */
bool go_function_is_own(const char *name);

/* Is it code of a compiler's around a function that a "go" statement calls: "main.f.gowrap1"? */
bool go_function_is_wrapper(const char *name);
/* Is it one of the packages "runtime" and "internal/runtime/…"? */
bool go_function_is_runtime(const char *name);

#endif
