/* SPDX-License-Identifier: MIT */
/*
 * html_data.c - writes the call trees of the flame graph as JSON inside a script element.
 */
#include "web/html_data_internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include <jansson.h>

#include "wallsample/runtime/language.h"
#include "wallsample/report/display.h"
#include "wallsample/base/base.h"
#include "wallsample/analysis/tree.h"

/* Maximum nodes per weight: with names of NAME_MOST cells a few megabytes. */
#define NODES_MOST 8000
#define NAME_MOST 240
/* A smaller share of the whole is less than half a pixel wide. */
#define SHARE_LEAST 0.0002

struct naming {
	json_t *names, *scripts; /* indices in names of scripts' functions */
	const struct view *view;
	unsigned frames; /* enum flame_frames */
	/* By function and by thread: index in names + 1. */
	size_t *function, *thread;
};

/* The titles of the languages of the interpreted functions. */
static json_t *
languages_json(const char *runtimes)
{
	struct strbuf titles;
	json_t *text;

	strbuf_init(&titles);
	language_add_titles(&titles, runtimes);
	text = json_string(titles.data);
	strbuf_release(&titles);
	return text;
}

static void
page_add_name(struct strbuf *out, const struct view *view, const struct tree_node *node)
{
	if (node->kind == TREE_THREAD) {
		struct strbuf thread;

		strbuf_init(&thread);
		view_add_unit(view, node->function, &thread);
		strbuf_add_escaped(out, thread.data);
		strbuf_release(&thread);
	} else {
		const struct view_function *function = view_function(view, node->function);

		strbuf_add_escaped(out, function->name);
		if (!function->needs_module)
			return;
		strbuf_add_text(out, " (");
		strbuf_add_escaped(out, function->module);
		strbuf_add_text(out, ")");
	}
}

static json_t *
json_name(struct naming *naming, const struct tree_node *node)
{
	size_t *number = node->kind == TREE_THREAD ? naming->thread : naming->function;
	struct strbuf whole, fitted;

	number += node->function;
	if (*number > 0)
		return json_integer((json_int_t)*number - 1);
	strbuf_init(&whole);
	strbuf_init(&fitted);
	page_add_name(&whole, naming->view, node);
	strbuf_add_text(&fitted, "");
	if (whole.length > 0)
		display_add_name(&fitted, whole.data, NAME_MOST);
	json_array_append_new(naming->names, json_string(fitted.data));
	strbuf_release(&whole);
	strbuf_release(&fitted);
	*number = json_array_size(naming->names);
	if (node->kind == TREE_FUNCTION && view_function(naming->view, node->function)->script)
		json_array_append_new(naming->scripts, json_integer((json_int_t)*number - 1));
	return json_integer((json_int_t)*number - 1);
}

/* Microseconds: smaller values are not visible. */
static json_t *
json_us(int64_t ns)
{
	return json_integer((ns + (int64_t)NS_PER_US / 2) / (int64_t)NS_PER_US);
}

/* The tenths, 0 to 9, of its wall time that a node was on a CPU. */
static json_t *
json_tenths(const struct tree_node *node)
{
	const int64_t wall = node->cum[WEIGHT_WALL], cpu = node->cum[WEIGHT_OVERHEAD];

	return json_integer(wall <= 0 || cpu <= 0 ? 0 : cpu >= wall ? 9 : cpu * 10 / wall);
}

static json_t *
make_tree(struct naming *naming, enum weight weight, const char *title)
{
	json_t *tree = json_object(), *depth = json_array(), *name = json_array();
	json_t *value = json_array(), *cpu = json_array();
	struct call_tree calls;

	flame_tree_make(naming->view, weight, NODES_MOST, SHARE_LEAST, naming->frames, &calls);
	for (size_t i = 0; i < calls.count; i++) {
		const struct tree_node *node = &calls.node[i];

		json_array_append_new(depth, json_integer((json_int_t)node->depth));
		json_array_append_new(name, json_name(naming, node));
		json_array_append_new(value, json_us(node->cum[weight]));
		json_array_append_new(cpu, json_tenths(node));
	}
	json_object_set_new(tree, "title", json_string(title));
	json_object_set_new(tree, "total", json_us(view_total_ns(naming->view, weight)));
	json_object_set_new(tree, "hidden", json_integer((json_int_t)calls.hidden));
	json_object_set_new(tree, "depth", depth);
	json_object_set_new(tree, "name", name);
	json_object_set_new(tree, "value", value);
	json_object_set_new(tree, "cpu", cpu);
	call_tree_release(&calls);
	return tree;
}

/*
 * "</script" and "<!--" would end or change a script element. In JSON '<' occurs only in strings,
 * where it can be escaped by its number. The library escapes all characters that are not ASCII,
 * including line separators.
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

	for (int w = 0; w < WEIGHT_COUNT; w++)
		json_array_append_new(trees, make_tree(&naming, (enum weight)w, titles[w]));
	json_object_set_new(data, "sort", json_integer((json_int_t)input->sort));
	json_object_set_new(data, "names", naming.names);
	if (json_array_size(naming.scripts) > 0) {
		json_object_set(data, "scripts", naming.scripts);
		json_object_set_new(data, "languages", languages_json(input->stats->runtimes));
	}
	json_decref(naming.scripts);
	json_object_set_new(data, "trees", trees);
	html_add_json(out, data);
	free(naming.function);
	free(naming.thread);
}
