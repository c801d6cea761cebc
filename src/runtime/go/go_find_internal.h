/* SPDX-License-Identifier: MIT */
/*
 * go_find_internal.h - looks for Go's runtime in the modules of a process.
 *
 * The section .go.buildinfo says that a module is Go's, and of which version. Its symbols say where
 * the runtime's variables are; without symbols they are found in memory by what they hold.
 */
#ifndef WALLSAMPLE_RUNTIME_GO_GO_FIND_INTERNAL_H
#define WALLSAMPLE_RUNTIME_GO_GO_FIND_INTERNAL_H

#include "runtime/go/go_layout_internal.h"
#include "wallsample/process/maps.h"
#include "wallsample/tracer/memory.h"

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

struct go_finder;
struct runtime_tools;

/* Borrowed. */
struct go_finder *go_finder_create(const struct runtime_tools *tools);
void go_finder_free(struct go_finder *finder);

/*
 * To be called when maps_generation has changed, and as long as it says that it has not finished
 * (*busy): it reads a bounded amount (GO_FIND_BUDGET bytes) a call, and a runtime that has
 * not begun yet is waited for. Returns how many there are; *home is valid until the next call.
 * What was found is checked again in each call.
 *
 * DWARF, of a version that nothing else tells the layout of, takes up to a fifth of a second, once.
 */
#define GO_FIND_BUDGET (UINT64_C(4) << 20)
size_t go_finder_look(struct go_finder *finder, const struct go_home **home, bool *busy);
/* Why a Go that is there cannot be read; told once, then NULL. */
const char *go_finder_why(struct go_finder *finder);

#endif
