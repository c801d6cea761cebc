/* SPDX-License-Identifier: MIT */
/*
 * html_data.c - writes the call trees of the flame graph as JSON inside a script element.
 */
#include "web/html_internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include <jansson.h>

#include "wallsample/runtime/language.h"
#include "wallsample/report/display.h"
#include "wallsample/base/base.h"
#include "wallsample/analysis/tree.h"

/*
 * Maximum number of nodes of a tree. With names of NAME_MOST cells, such a tree takes a few
 * megabytes.
 */
#define NODES_MOST 8000
#define NAME_MOST 240
/*
 * Nodes below this share of the whole are left out: on a page of up to 2500 pixels they are
 * narrower than half a pixel.
 */
#define SHARE_LEAST 0.0002

struct naming {
	json_t *names;
	json_t *scripts; /* for each function of an interpreted program: its index in `names` */
	const struct view *view;
	unsigned frames; /* bits of enum flame_frames */
	/*
	 * Indexed by function of the view, and by unit (view_unit()): 1 + the index of its name in
	 * `names`; 0: `names` does not have the name yet.
	 */
	size_t *function, *thread;
};

/* Adds the name of a node, cut to NAME_MOST cells. */
static void
node_add_name(struct strbuf *out, const struct view *view, const struct tree_node *node)
{
	struct strbuf whole = STRBUF_INIT, escaped = STRBUF_INIT;

	if (node->kind == TREE_THREAD) {
		view_add_unit(view, node->function, &whole);
	} else {
		const struct view_function *function = view_function(view, node->function);

		strbuf_add_format(&whole, function->needs_module ? "%s (%s)" : "%s", function->name,
				  function->place);
	}
	strbuf_add_escaped(&escaped, whole.length > 0 ? whole.data : "");
	strbuf_add_text(out, "");
	display_add_name(out, escaped.data, NAME_MOST);
	strbuf_release(&whole);
	strbuf_release(&escaped);
}

/* Returns the index of the node's name in naming->names; adds the name if it is not there yet. */
static json_t *
json_name(struct naming *naming, const struct tree_node *node)
{
	size_t *number = node->kind == TREE_THREAD ? naming->thread : naming->function;
	struct strbuf name = STRBUF_INIT;

	number += node->function;
	if (*number > 0)
		return json_integer((json_int_t)*number - 1);
	node_add_name(&name, naming->view, node);
	json_array_append_new(naming->names, json_string(name.data));
	strbuf_release(&name);
	*number = json_array_size(naming->names);
	if (node->kind == TREE_FUNCTION && view_function(naming->view, node->function)->script)
		json_array_append_new(naming->scripts, json_integer((json_int_t)*number - 1));
	return json_integer((json_int_t)*number - 1);
}

/* Returns the time in microseconds, rounded: a smaller difference would not be visible. */
static json_t *
json_us(int64_t ns)
{
	return json_integer((ns + (int64_t)NS_PER_US / 2) / (int64_t)NS_PER_US);
}

/*
 * Returns the share of the node's wall time in which it was on a CPU, in tenths, rounded down: from
 * 0 to 9. All of the time is 9, too.
 */
static json_t *
json_tenths(const struct tree_node *node)
{
	const int64_t wall = node->cum[WEIGHT_WALL], cpu = node->cum[WEIGHT_OVERHEAD];

	return json_integer(wall <= 0 || cpu <= 0 ? 0 : cpu >= wall ? 9 : cpu * 10 / wall);
}

static json_t *
make_tree(struct naming *naming, enum weight weight, const char *title)
{
	json_t *depth = json_array(), *name = json_array();
	json_t *value = json_array(), *cpu = json_array();
	struct call_tree calls;
	json_t *tree;

	flame_tree_make(naming->view, weight, NODES_MOST, SHARE_LEAST, naming->frames, &calls);
	for (size_t i = 0; i < calls.count; i++) {
		const struct tree_node *node = &calls.node[i];

		json_array_append_new(depth, json_integer((json_int_t)node->depth));
		json_array_append_new(name, json_name(naming, node));
		json_array_append_new(value, json_us(node->cum[weight]));
		json_array_append_new(cpu, json_tenths(node));
	}
	tree = json_pack("{s:s, s:o, s:I, s:o, s:o, s:o, s:o}", "title", title, "total",
			 json_us(view_total_ns(naming->view, weight)), "hidden",
			 (json_int_t)calls.hidden, "depth", depth, "name", name, "value", value,
			 "cpu", cpu);
	call_tree_release(&calls);
	return tree;
}

/*
 * Adds JSON in which "\u003c" replaces '<', because "</script" and "<!--" would end or change a
 * script element. In JSON '<' occurs only in strings. The library escapes all characters that are
 * not ASCII, including line separators.
 */
static int
add_escaped(const char *buffer, size_t size, void *context)
{
	struct strbuf *out = context;

	for (size_t i = 0; i < size; i++) {
		if (buffer[i] == '<')
			strbuf_add_text(out, "\\u003c");
		else
			strbuf_add(out, buffer + i, 1);
	}
	return 0;
}

void
html_add_json(struct strbuf *out, json_t *data)
{
	json_dump_callback(data, add_escaped, out, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(data);
}

void
html_add_data(struct strbuf *out, const struct export_input *input)
{
	static const char *const titles[] = {
#define X(name, title, word) title,
		WEIGHTS(X)
#undef X
	};
	const size_t threads = profile_thread_count(view_profile(input->view));
	struct naming naming = {
		.names = json_array(),
		.scripts = json_array(),
		.view = input->view,
		.frames = input->by_thread ? FLAME_THREADS : 0,
		.function = xcalloc(view_function_count(input->view) + 1, sizeof(size_t)),
		.thread = xcalloc(threads + 1, sizeof(size_t)),
	};
	json_t *data = json_object(), *trees = json_array();
	struct strbuf language_titles = STRBUF_INIT;

	for (int w = 0; w < WEIGHT_COUNT; w++)
		json_array_append_new(trees, make_tree(&naming, (enum weight)w, titles[w]));
	json_object_set_new(data, "sort", json_integer((json_int_t)input->sort));
	json_object_set_new(data, "names", naming.names);
	if (json_array_size(naming.scripts) > 0) {
		json_object_set(data, "scripts", naming.scripts);
		language_add_titles(&language_titles, input->stats->runtimes);
		json_object_set_new(data, "languages", json_string(language_titles.data));
	}
	json_decref(naming.scripts);
	json_object_set_new(data, "trees", trees);
	html_add_json(out, data);
	strbuf_release(&language_titles);
	free(naming.function);
	free(naming.thread);
}
