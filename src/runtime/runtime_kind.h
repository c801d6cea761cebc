/* SPDX-License-Identifier: MIT */
/*
 * runtime_kind.h - what a kind of runtime has to offer: one file and one row of the table in
 * runtimes.c each.
 */
#ifndef WALLSAMPLE_RUNTIME_KIND_H
#define WALLSAMPLE_RUNTIME_KIND_H

#include "pages.h"
#include "wallsample/runtime.h"

/* Functions at lines, told apart by their texts: those of all runtimes. */
struct runtime_places;

/* The texts are copied. Returns the number for runtimes_place. */
uint32_t runtime_places_add(struct runtime_places *places, const struct runtime_place *place);

/* What all kinds work with; borrowed. */
struct runtime_tools {
	const struct runtimes_config *config;
	struct runtime_places *places;
	struct pages *pages;
};

/* Frames found by one merge; grows. */
struct runtime_frames {
	struct runtime_frame *frame;
	size_t count, capacity;
};

void runtime_frames_add(struct runtime_frames *frames, size_t before, uint32_t place);

/* As the functions of runtime.h of the same names, for one kind of runtime in the process. */
struct runtime_kind {
	const char *name; /* for --runtime */
	void *(*create)(const struct runtime_tools *tools);
	void (*free)(void *state);
	void (*tick)(void *state, uint64_t now_ns);
	pid_t (*next_new)(void *state);
	bool (*any)(const void *state);
	const char *(*describe)(const void *state, size_t index);
	/* The memory of a capture, used again and again. */
	void *(*captured_create)(void);
	void (*captured_free)(void *captured);
	void (*capture)(void *state, pid_t tid, void *captured);
	/* Innermost first, in the order of `before`. */
	void (*merge)(void *state, const void *captured, const struct chain *chain,
		      struct runtime_frames *frames);
	enum gil (*gil)(const void *state, const void *captured, long number,
			const uint64_t args[6]);
	bool (*find_lock)(void *state, uint64_t word, uint64_t *lock, const char **name);
	pid_t (*lock_owner)(void *state, uint64_t lock);
};

extern const struct runtime_kind runtime_python;

#endif
