/* SPDX-License-Identifier: MIT */
/*
 * go_find_internal.h - looks for Go's runtime in the modules of a process.
 *
 * The section .go.buildinfo says that a module is Go's, and of which version. Its symbols say where
 * the runtime's variables are; without symbols they are found in memory by what they hold.
 */
#ifndef WALLSAMPLE_RUNTIME_GO_GO_FIND_INTERNAL_H
#define WALLSAMPLE_RUNTIME_GO_GO_FIND_INTERNAL_H

#include "runtime/finder_internal.h"
#include "runtime/go/go_layout_internal.h"

/* Words that may be runtime.allm: without symbols others look like it, at times. */
#define GO_HEADS_MOST 8
#define GO_VERSION_TEXT 48

/* Where one Go runtime is in the target. */
struct go_home {
	uint32_t module;
	uint64_t bias;
	uint64_t all;          /* runtime.allgs, a slice of pointers to all goroutines */
	uint64_t head[GO_HEADS_MOST]; /* runtime.allm: the one with the longest list */
	size_t head_count;
	uint64_t reasons;      /* runtime.waitReasonStrings, an array of strings; 0: not known */
	size_t reason_count;
	struct go_layout layout;
	char version[GO_VERSION_TEXT]; /* "1.26.8" */
};

extern const struct finder_kind go_finder; /* its place: a struct go_home */

#endif
