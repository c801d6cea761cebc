/* SPDX-License-Identifier: MIT */
/*
 * tree.c - builds the call tree from the stacks of all samples, then selects the heaviest nodes of
 * the tree.
 */
#include "wallsample/analysis/tree.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

struct growing {
	/* all nodes of the tree; a parent has a lower index than its children */
	struct tree_node *node;
	size_t capacity;
	struct table known; /* (function and system call; kind and parent) -> node */
};

/* What distinguishes the children of a node. */
struct frame {
	enum tree_kind kind;
	uint32_t function;
	int32_t syscall;
};

/*
 * Adds the weights to the child of `parent` that stands for the frame, and returns the index of the
 * child.
 */
static uint32_t
pass(struct growing *tree, const struct frame *frame, uint32_t parent, const int64_t *ns)
{
	const uint64_t key[] = { (uint64_t)(uint32_t)frame->syscall << 32 | frame->function,
				 (uint64_t)frame->kind << 32 | parent };
	struct tree_node *node;
	uint32_t at;

	tree->node = table_row(&tree->known, key, tree->node, &tree->capacity, sizeof(*tree->node),
			       &at);
	node = &tree->node[at];
	node->kind = frame->kind;
	node->function = frame->function;
	node->syscall = frame->syscall;
	node->parent = parent;
	node->depth = parent == TREE_NONE ? 0 : tree->node[parent].depth + 1;
	weights_add(node->cum, ns);
	return at;
}

bool
flame_has_state(const struct view *view, enum run_state state, const uint32_t *function,
		size_t depth)
{
	return state != RUN_RUNNING && state != RUN_UNKNOWN && depth > 0 &&
	       !view_is_named(view_function(view, function[0])) &&
	       !view_is_gap(view_function(view, function[depth - 1]));
}

/* Adds a row of the view. `frames` is a set of enum flame_frames. */
static void
add_row(struct growing *tree, const struct view *view, const struct view_row *row, unsigned frames)
{
	const bool waits = row->state == RUN_SLEEPING || row->state == RUN_UNINTERRUPTIBLE;
	const struct frame process = { TREE_PROCESS,
				       process_of_record(view_profile(view), row->thread),
				       (int32_t)SYSCALL_NONE };
	const struct frame thread = { TREE_THREAD, view_unit(view, row->thread),
				      (int32_t)SYSCALL_NONE };
	const struct frame state = { TREE_STATE, row->state,
				     waits ? row->syscall : (int32_t)SYSCALL_NONE };
	struct frame function = { .kind = TREE_FUNCTION, .syscall = (int32_t)SYSCALL_NONE };
	uint32_t at = TREE_NONE;

	if (frames & FLAME_PROCESSES)
		at = pass(tree, &process, at, row->ns);
	if (frames & FLAME_THREADS)
		at = pass(tree, &thread, at, row->ns);
	for (size_t i = row->depth; i-- > 0;) {
		function.function = row->function[i];
		at = pass(tree, &function, at, row->ns);
	}
	if ((frames & FLAME_STATES) && flame_has_state(view, row->state, row->function, row->depth))
		at = pass(tree, &state, at, row->ns);
	if (at != TREE_NONE)
		weights_add(tree->node[at].flat, row->ns);
}

/* --- which nodes, and in which order ------------------------------------------------ */

struct order {
	const struct growing *tree;
	const struct view *view;
	enum weight weight;
};

/*
 * Orders nodes by weight, the heaviest first. Of equally heavy nodes a parent comes first; then
 * names make the order deterministic.
 */
static int
compare_nodes(const void *left, const void *right, void *context)
{
	const struct order *order = context;
	const uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
	const struct tree_node *a = &order->tree->node[l], *b = &order->tree->node[r];
	int by_name;

	if (a->cum[order->weight] != b->cum[order->weight])
		return a->cum[order->weight] < b->cum[order->weight] ? 1 : -1;
	if (a->depth != b->depth)
		return a->depth > b->depth ? 1 : -1;
	if (a->kind != b->kind)
		return a->kind > b->kind ? 1 : -1;
	by_name = a->kind != TREE_FUNCTION ? 0 :
					     strcmp(view_function(order->view, a->function)->name,
						    view_function(order->view, b->function)->name);
	return by_name != 0 ? by_name : (l > r) - (l < r);
}

/*
 * Links between the shown nodes. The outermost frames are children of a root that is no node: its
 * index, `root`, is one more than that of the last node.
 */
struct links {
	/*
	 * Indexed by node. first: its heaviest shown child; next: its sibling that is next in the
	 * order of weights. TREE_NONE: there is none.
	 */
	uint32_t *first, *next;
	uint32_t root;
};

static uint32_t
parent_in(const struct links *links, const struct growing *tree, uint32_t id)
{
	return tree->node[id].parent == TREE_NONE ? links->root : tree->node[id].parent;
}

/* Writes the shown nodes to out->node in preorder. */
static void
unroll(const struct growing *tree, const struct links *links, struct call_tree *out)
{
	/* indexed by node: its index in out->node */
	uint32_t *place = xcalloc(links->root + 1, sizeof(*place));
	uint32_t at = links->first[links->root];

	while (at != TREE_NONE) {
		struct tree_node *to = &out->node[out->count];

		*to = tree->node[at];
		place[at] = (uint32_t)out->count++;
		if (to->parent != TREE_NONE)
			to->parent = place[to->parent];
		if (links->first[at] != TREE_NONE) {
			at = links->first[at];
			continue;
		}
		while (at != links->root && links->next[at] == TREE_NONE)
			at = parent_in(links, tree, at);
		at = links->next[at];
	}
	free(place);
}

static uint32_t *
make_array(size_t count)
{
	uint32_t *array = xmalloc(count * sizeof(*array));

	memset(array, 0xff, count * sizeof(*array)); /* each element is TREE_NONE */
	return array;
}

static void
choose(const struct growing *tree, const struct order *order, size_t most, int64_t least,
       struct call_tree *out)
{
	const size_t nodes = tree->known.count;
	struct links links = {
		.first = make_array(nodes + 1),
		.next = make_array(nodes + 1),
		.root = (uint32_t)nodes,
	};
	uint32_t *sorted = xcalloc(nodes + 1, sizeof(*sorted));
	size_t count = 0, shown;

	/*
	 * Nodes lighter than `least` are left out before sorting. In a large tree most nodes are
	 * lighter.
	 */
	for (uint32_t i = 0; i < nodes; i++)
		if (tree->node[i].cum[order->weight] >= least)
			sorted[count++] = i;
	if (count > 1)
		qsort_r(sorted, count, sizeof(*sorted), compare_nodes, (void *)(uintptr_t)order);
	shown = count < most ? count : most;
	/*
	 * The lightest node is linked first. Each node becomes the first child of its parent, so
	 * that the heaviest child is first in the end.
	 */
	for (size_t i = shown; i-- > 0;) {
		uint32_t *first = &links.first[parent_in(&links, tree, sorted[i])];

		links.next[sorted[i]] = *first;
		*first = sorted[i];
	}
	out->node = xcalloc(shown + 1, sizeof(*out->node));
	out->hidden = nodes - shown;
	unroll(tree, &links, out);
	free(sorted);
	free(links.first);
	free(links.next);
}

/* Fills `out` with the heaviest nodes of the tree, and releases the tree. */
static void
take(struct growing *tree, const struct view *view, enum weight weight, size_t most, double least,
     struct call_tree *out)
{
	const struct order order = { tree, view, weight };
	const int64_t bound = (int64_t)(least * (double)view_total_ns(view, weight));

	*out = (struct call_tree){ .count = 0 };
	choose(tree, &order, most, bound > 0 ? bound : 1, out);
	table_release(&tree->known);
	free(tree->node);
}

void
call_tree_make(const struct view *view, enum weight weight, size_t most, double least,
	       unsigned frames, struct call_tree *out)
{
	struct growing tree = { .capacity = 0 };

	for (size_t i = 0; i < view_row_count(view); i++)
		add_row(&tree, view, view_row(view, i), frames);
	take(&tree, view, weight, most, least, out);
}

void
flame_tree_make(const struct view *view, enum weight weight, size_t most, double least,
		unsigned frames, struct call_tree *out)
{
	struct growing tree = { .capacity = 0 };

	for (size_t i = 0; i < view_row_count(view); i++)
		if (view_row(view, i)->ns[weight] > 0)
			add_row(&tree, view, view_row(view, i), frames);
	take(&tree, view, weight, most, least, out);
}

void
call_tree_release(struct call_tree *tree)
{
	free(tree->node);
	*tree = (struct call_tree){ .count = 0 };
}

void
tree_add_name(const struct view *view, const struct tree_node *node, struct strbuf *out)
{
	switch (node->kind) {
	case TREE_PROCESS:
		process_add_label(view_profile(view), node->function, out);
		break;
	case TREE_THREAD:
		view_add_unit(view, node->function, out);
		break;
	case TREE_STATE:
		strbuf_add_text(out, "[");
		run_state_add(out, (enum run_state)node->function, node->syscall);
		strbuf_add_text(out, "]");
		break;
	default:
		strbuf_add_text(out, view_function(view, node->function)->label);
	}
}
