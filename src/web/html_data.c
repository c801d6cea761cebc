/* SPDX-License-Identifier: MIT */
/*
 * html_data.c - writes the call trees of the flame graph as JSON inside a script element.
 */
#include "web/html_internal.h"

#include <jansson.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"
#include "wallsample/web/flame.h"

/* The frames of all trees by name: frames of the same function, thread or state have one entry. */
struct naming {
	json_t *names;
	json_t *modules;      /* the different modules */
	json_t *of_module;    /* an object: the index in `modules` by name */
	json_t *module;       /* by name: an index in `modules`, or -1 */
	struct strbuf kinds;  /* by name: the class of its kind, a letter */
	struct table of_node; /* (kind and function; system call) -> index in `names` */
	unsigned seen;        /* set of enum flame_kind: bits */
};

/* Returns the index of a module in naming->modules, -1 for "". Adds it if it is not there yet. */
static json_t *
module_index(struct naming *naming, const char *module)
{
	json_t *index = json_object_get(naming->of_module, module);

	if (module[0] == '\0')
		return json_integer(-1);
	if (index != NULL)
		return json_incref(index);
	index = json_integer((json_int_t)json_array_size(naming->modules));
	json_array_append_new(naming->modules, json_string(module));
	json_object_set(naming->of_module, module, index);
	return index;
}

/* Adds the name, kind and module of a node to the lists of names. */
static void
add_named(struct naming *naming, const struct flame *flame, const struct tree_node *node)
{
	const enum flame_kind kind = flame_kind_of(flame, node);
	const char class = flame_kind_class(kind);
	struct strbuf name = STRBUF_INIT, module = STRBUF_INIT;

	flame_add_name(flame, node, &name);
	flame_add_module(flame, node, &module);
	json_array_append_new(naming->names, json_string(name.data));
	json_array_append_new(naming->module, module_index(naming, module.data));
	strbuf_add(&naming->kinds, &class, 1);
	naming->seen |= 1u << kind;
	strbuf_release(&name);
	strbuf_release(&module);
}

/* Returns the index of the node's name in naming->names; adds the name if it is not there yet. */
static json_t *
json_name(struct naming *naming, const struct flame *flame, const struct tree_node *node)
{
	const uint32_t count = (uint32_t)json_array_size(naming->names);
	bool added;
	const uint32_t at = *table_insert(&naming->of_node,
					  (uint64_t)node->kind << 32 | node->function,
					  (uint32_t)node->syscall, count, &added);

	if (added)
		add_named(naming, flame, node);
	return json_integer((json_int_t)at);
}

/* Returns the time in microseconds, rounded: a smaller difference would not be visible. */
static json_t *
json_us(int64_t ns)
{
	return json_integer((ns + (int64_t)NS_PER_US / 2) / (int64_t)NS_PER_US);
}

const char *
html_weight_title(enum weight weight)
{
	static const char *const titles[] = {
#define X(name, title, word) title,
		WEIGHTS(X)
#undef X
	};

	return titles[weight];
}

static json_t *
make_tree(struct naming *naming, const struct export_input *input, enum weight weight)
{
	json_t *depth = json_array(), *name = json_array(), *value = json_array();
	struct flame flame;
	json_t *tree;

	flame_make(input, weight, FLAME_FRAMES_MOST, FLAME_SHARE_LEAST, &flame);
	for (size_t i = 0; i < flame.tree.count; i++) {
		const struct tree_node *node = &flame.tree.node[i];

		json_array_append_new(depth, json_integer((json_int_t)node->depth));
		json_array_append_new(name, json_name(naming, &flame, node));
		json_array_append_new(value, json_us(node->cum[weight]));
	}
	tree = json_pack("{s:s, s:o, s:I, s:o, s:o, s:o}", "title", html_weight_title(weight),
			 "total", json_us(flame.total_ns), "hidden", (json_int_t)flame.tree.hidden,
			 "depth", depth, "name", name, "value", value);
	flame_release(&flame);
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

/* Adds an item of the legend for each kind of the set. */
static void
add_legend(struct strbuf *out, const struct export_input *input, unsigned seen)
{
	for (int kind = 0; kind < FLAME_KIND_COUNT; kind++) {
		if ((seen & 1u << kind) == 0)
			continue;
		strbuf_add_format(out, "<li><span class=\"swatch %c\"></span>",
				  flame_kind_class((enum flame_kind)kind));
		flame_add_legend(input, (enum flame_kind)kind, out);
		strbuf_add_text(out, "</li>");
	}
}

void
html_add_data(struct strbuf *out, struct strbuf *legend, const struct export_input *input)
{
	struct naming naming = {
		.names = json_array(),
		.modules = json_array(),
		.of_module = json_object(),
		.module = json_array(),
	};
	json_t *trees = json_array();

	for (int w = 0; w < WEIGHT_COUNT; w++)
		json_array_append_new(trees, make_tree(&naming, input, (enum weight)w));
	strbuf_add_text(&naming.kinds, "");
	html_add_json(out,
		      json_pack("{s:I, s:o, s:s, s:o, s:o, s:o}", "sort", (json_int_t)input->sort,
				"names", naming.names, "kinds", naming.kinds.data, "modules",
				naming.modules, "module", naming.module, "trees", trees));
	add_legend(legend, input, naming.seen);
	json_decref(naming.of_module);
	strbuf_release(&naming.kinds);
	table_release(&naming.of_node);
}
