/* SPDX-License-Identifier: MIT */
/*
 * tree.h - computes from a view the call tree, and the callers and callees of the functions in
 * focus, which are those whose names match a regular expression.
 */
#ifndef WALLSAMPLE_ANALYSIS_TREE_H
#define WALLSAMPLE_ANALYSIS_TREE_H

#include "wallsample/analysis/view.h"

#define TREE_NONE UINT32_MAX

enum tree_kind {
	TREE_FUNCTION,
	/* Nodes that are not frames of a stack, see enum flame_frames: */
	TREE_PROCESS, /* a process, outermost */
	TREE_THREAD,  /* a unit (view_unit), outermost but for its process */
	TREE_STATE,   /* state of a thread that did not run, innermost */
};

/* One path from an outermost node to this node. */
struct tree_node {
	enum tree_kind kind;
	/* Function of the view; for TREE_PROCESS the process, or PROCESS_NONE; for TREE_THREAD the
	 * unit; for TREE_STATE an enum run_state. */
	uint32_t function;
	int32_t syscall; /* system call of a TREE_STATE; else SYSCALL_NONE */
	uint32_t parent; /* index of the parent; TREE_NONE for an outermost node */
	uint32_t depth;  /* 0 for an outermost node */
	int64_t flat[WEIGHT_COUNT], cum[WEIGHT_COUNT];
};

/* Nodes in preorder: each node is followed by its descendants, the heaviest child first. */
struct call_tree {
	struct tree_node *node;
	size_t count;
	size_t hidden; /* number of nodes that are left out, those with a weight of 0 included */
};

/* Kinds of nodes that a call tree may have besides those of functions. */
enum flame_frames {
	FLAME_THREADS = 1 << 0,   /* outermost: a node for each unit (view_unit) */
	FLAME_STATES = 1 << 1,    /* innermost: a node for the state if flame_has_state() */
	FLAME_PROCESSES = 1 << 2, /* outermost, before threads: a node for each process */
};

/*
 * Fills `out` with nodes whose share of the whole weight is at least `least` (0 to 1) and above 0;
 * if they are more than `most`, with the `most` heaviest ones. No node is heavier than its parent,
 * so the parent of each of these nodes is one of them, too. `frames`: a set of enum flame_frames.
 * The caller releases `out` by call_tree_release().
 */
void call_tree_make(const struct view *view, enum weight weight, size_t most, double least,
		    unsigned frames, struct call_tree *out);

/* As call_tree_make(). Samples with a weight of 0 have no nodes, so that `hidden` does not count
 * them. */
void flame_tree_make(const struct view *view, enum weight weight, size_t most, double least,
		     unsigned frames, struct call_tree *out);
void call_tree_release(struct call_tree *tree);
/* Adds the name of a node, which is not escaped: of a function its label, and "[sleeping in
 * futex]" of a TREE_STATE. */
void tree_add_name(const struct view *view, const struct tree_node *node, struct strbuf *out);
/*
 * True if FLAME_STATES adds a node for this state to the stack. The state is not RUN_RUNNING or
 * RUN_UNKNOWN, the innermost frame is not a named frame (view_is_named()), and the outermost frame
 * is not PROFILE_GAP: the stack of a gap names the state already.
 */
bool flame_has_state(const struct view *view, enum run_state state, const uint32_t *function,
		     size_t depth);

/* A function in focus, or a caller or callee of it. */
struct neighbour_row {
	/*
	 * TREE_NONE in a caller row: the function in focus was outermost; in a callee row: it was
	 * innermost.
	 */
	uint32_t function;
	int64_t ns[WEIGHT_COUNT];
};

/*
 * `self` has the functions that match the focus, `caller` the callers of the outermost match of
 * each stack, `callee` the callees of the innermost match. Only samples with a match count.
 */
struct neighbours {
	struct neighbour_row *self, *caller, *callee; /* each ordered by weight, descending */
	size_t self_count, caller_count, callee_count;
	int64_t ns[WEIGHT_COUNT]; /* sums of the samples with a match */
};

/*
 * Fills `out`, which neighbours_release() releases. The rows are ordered by `weight`, descending,
 * and only samples that have time in this weight count. `focus` is matched with names of functions.
 */
void neighbours_make(const struct view *view, enum weight weight, const regex_t *focus,
		     struct neighbours *out);
void neighbours_release(struct neighbours *neighbours);

#endif
