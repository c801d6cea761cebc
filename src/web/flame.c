/* SPDX-License-Identifier: MIT */
/* flame.c - chooses the frames of a flame graph, and gives each a kind and a name. */
#include "wallsample/web/flame.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/analysis/own_code.h"
#include "wallsample/report/display.h"
#include "wallsample/runtime/language.h"

static const struct {
	char class;
	const char *text;
} kinds[] = {
#define X(name, class, text) { class, text },
	FLAME_KINDS(X)
#undef X
};

/* True for a native function of the program itself, not of a library or an interpreter. */
static bool
is_own(const struct view_function *function, const struct own *own, uint32_t id)
{
	return own->rank[id] == OWN_PROGRAM ||
	       (own->rank[id] >= OWN_UNNAMED && !language_is_interpreter_file(function->module));
}

static enum flame_kind
kind_of_function(const struct view *view, const struct own *own, uint32_t id)
{
	const struct view_function *function = view_function(view, id);

	if (view_key_is_of_sample(view_key(view)))
		return function->named == NAMED_SLEEPING ||
				       function->named == NAMED_UNINTERRUPTIBLE ?
			       FLAME_KIND_BLOCKED :
			       FLAME_KIND_THREAD;
	if (function->script)
		return FLAME_KIND_SCRIPT;
	switch (function->named) {
	case NAMED_NONE:
		if (!function->known)
			return FLAME_KIND_NAMELESS;
		return is_own(function, own, id) ? FLAME_KIND_OWN : FLAME_KIND_LIBRARY;
	case NAMED_GAP:
	case NAMED_SLEEPING:
	case NAMED_UNINTERRUPTIBLE:
	case NAMED_IDLE:
		return FLAME_KIND_NOBODY;
	default:
		return FLAME_KIND_FAILED;
	}
}

void
flame_make(const struct export_input *input, enum weight weight, size_t most, double least,
	   struct flame *out)
{
	const size_t count = view_function_count(input->view);
	struct own own;

	*out = (struct flame){
		.input = input,
		.weight = weight,
		.total_ns = view_total_ns(input->view, weight),
		.function_kind = xcalloc(count + 1, sizeof(*out->function_kind)),
	};
	own_make(input->view, input->modules, &own);
	for (uint32_t id = 0; id < count; id++)
		out->function_kind[id] = (unsigned char)kind_of_function(input->view, &own, id);
	own_release(&own);
	flame_tree_make(input->view, weight, most, least, FLAME_STATES | export_outer_frames(input),
			&out->tree);
}

void
flame_release(struct flame *flame)
{
	call_tree_release(&flame->tree);
	free(flame->function_kind);
	*flame = (struct flame){ 0 };
}

enum flame_kind
flame_kind_of(const struct flame *flame, const struct tree_node *node)
{
	switch (node->kind) {
	case TREE_PROCESS:
		return FLAME_KIND_PROCESS;
	case TREE_THREAD:
		return FLAME_KIND_THREAD;
	case TREE_STATE:
		return node->function == RUN_QUEUED || node->function == RUN_READY ?
			       FLAME_KIND_QUEUED :
			       FLAME_KIND_BLOCKED;
	default:
		return (enum flame_kind)flame->function_kind[node->function];
	}
}

char
flame_kind_class(enum flame_kind kind)
{
	return kinds[kind].class;
}

void
flame_add_legend(const struct export_input *input, enum flame_kind kind, struct strbuf *out)
{
	const enum view_key key = view_key(input->view);

	if (kind == FLAME_KIND_SCRIPT)
		language_add_titles(out, input->stats->runtimes);
	else if (kind == FLAME_KIND_THREAD)
		strbuf_add_text(out, view_key_is_of_sample(key) ? view_key_word(key) : "thread");
	else
		strbuf_add_text(out, kinds[kind].text);
}

void
flame_add_name(const struct flame *flame, const struct tree_node *node, struct strbuf *out)
{
	struct strbuf whole = STRBUF_INIT, escaped = STRBUF_INIT;

	tree_add_name(flame->input->view, node, &whole);
	if (node->kind == TREE_STATE) {
		strbuf_add_text(out, whole.data);
		strbuf_release(&whole);
		return;
	}
	strbuf_add_escaped(&escaped, whole.length > 0 ? whole.data : "");
	strbuf_add_text(out, "");
	display_add_name(out, escaped.data, FLAME_NAME_MOST);
	strbuf_release(&whole);
	strbuf_release(&escaped);
}

/* True if the module adds to what the name says. */
static bool
has_module(const struct view *view, const struct view_function *function)
{
	/* The name has the source file, which is the module of an interpreted function. */
	if (view_key(view) == VIEW_BY_LINE && function->script)
		return false;
	/* The name of code without a symbol begins with the module. */
	return function->known && strcmp(function->module, function->name) != 0;
}

void
flame_add_module(const struct flame *flame, const struct tree_node *node, struct strbuf *out)
{
	const struct view *view = flame->input->view;

	strbuf_add_text(out, "");
	if (node->kind == TREE_FUNCTION && has_module(view, view_function(view, node->function)))
		strbuf_add_escaped(out, view_function(view, node->function)->module);
}
