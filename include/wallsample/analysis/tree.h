/* SPDX-License-Identifier: MIT */
/*
 * tree.h - who calls whom, from a view: the call tree, and the neighbours of one function.
 */
#ifndef WALLSAMPLE_ANALYSIS_TREE_H
#define WALLSAMPLE_ANALYSIS_TREE_H

#include "wallsample/analysis/view.h"

#define TREE_NONE UINT32_MAX

enum tree_kind {
	TREE_FUNCTION,
	/* Frames of no stack, that a tree may have besides: */
	TREE_THREAD, /* the thread, outermost */
	TREE_STATE,  /* what it did instead of running, innermost */
};

/* One way to a function, from the outermost frame. */
struct tree_node {
	enum tree_kind kind;
	uint32_t function;        /* of the view; for TREE_THREAD a thread of the profile, for
				   * TREE_STATE an enum run_state */
	int32_t syscall;          /* for TREE_STATE, else SYSCALL_NONE */
	uint32_t parent;          /* TREE_NONE for an outermost frame */
	uint32_t depth;           /* 0 for an outermost frame */
	int64_t flat[WEIGHT_COUNT], cum[WEIGHT_COUNT];
};

/* Nodes from the top down: each is followed by its children, the heaviest of them first. */
struct call_tree {
	struct tree_node *node;
	size_t count;
	size_t hidden;            /* nodes that were left out */
};

/*
 * The `most` heaviest nodes by the weight (a node is never heavier than its parent, so that they
 * hang together), of those that have at least the share `least` of the whole.
 */
void call_tree_make(const struct view *view, enum weight weight, size_t most, double least,
		    struct call_tree *out);

/* Frames that are no functions. */
enum flame_frames {
	FLAME_THREADS = 1 << 0, /* outermost: one for each thread */
	FLAME_STATES = 1 << 1,  /* innermost, where it did not run */
};

/* The same, with such frames; hidden are only nodes that weigh. */
void flame_tree_make(const struct view *view, enum weight weight, size_t most, double least,
		     unsigned frames, struct call_tree *out);
void call_tree_release(struct call_tree *tree);
/*
 * Has such a stack a frame for its state there? Unless it ran, or the stack says so already, as
 * that of "[waiting]" does and one without code.
 */
bool flame_has_state(const struct view *view, enum run_state state, const uint32_t *function,
		     size_t depth);

/* A function next to those in focus. */
struct neighbour_row {
	uint32_t function;        /* TREE_NONE: none, they were outermost or innermost */
	int64_t ns[WEIGHT_COUNT];
};

/*
 * Of the samples that have a function that matches: the functions that match, who called the
 * outermost of them in each stack, and whom the innermost of them called.
 */
struct neighbours {
	struct neighbour_row *self, *caller, *callee; /* by the weight */
	size_t self_count, caller_count, callee_count;
	int64_t ns[WEIGHT_COUNT]; /* of these samples */
};

void neighbours_make(const struct view *view, enum weight weight, const regex_t *focus,
		     struct neighbours *out);
void neighbours_release(struct neighbours *neighbours);

#endif
