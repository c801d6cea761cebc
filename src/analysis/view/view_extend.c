/* SPDX-License-Identifier: MIT */
/*
 * view_extend.c - extends paths by functions, and lists the functions of a path.
 */
#include <stdlib.h>

#include "analysis/view/view_internal.h"

/* Returns the index of the path in view->path. A new path is added to `paths` and to view->path. */
static uint32_t
view_add_path(struct view *view, struct table *paths, const struct path *path)
{
	bool added;
	/*
	 * `included` and `excluded` are part of the key: -I and -X match symbols, and different
	 * symbols may have the same function name, so that paths with the same functions may differ
	 * in them.
	 */
	const uint32_t id = *table_insert(paths, path->function,
					  (uint64_t)path->caller << 2 |
						  (uint64_t)path->included << 1 | path->excluded,
					  (uint32_t)view->path_count, &added);

	if (!added)
		return id;
	view->path = xgrow(view->path, &view->path_capacity, view->path_count + 1,
			   sizeof(*view->path));
	view->path[view->path_count++] = *path;
	return id;
}

void
view_add_function(struct view *view, const struct view_function *function)
{
	view->function = xgrow(view->function, &view->function_capacity, view->function_count + 1,
			       sizeof(*view->function));
	view->function[view->function_count] = *function;
	view->function[view->function_count++].label = function->name;
}

uint32_t
view_extend_symbol(struct naming *naming, uint32_t caller, size_t symbol)
{
	struct path path = {
		.function = naming->function[symbol],
		.caller = caller,
		.depth = 1,
		.included = naming->included[symbol],
		.excluded = naming->excluded[symbol],
	};

	if (caller != STACK_NONE) {
		const struct path *outer = &naming->view->path[caller];

		path.included |= outer->included;
		path.excluded |= outer->excluded;
		path.depth = outer->depth + 1;
		if ((naming->key == VIEW_BY_MODULE || naming->key == VIEW_BY_SOURCE) &&
		    outer->function == path.function) {
			path.caller = outer->caller;
			path.depth = outer->depth;
		}
	}
	return view_add_path(naming->view, &naming->paths, &path);
}

uint32_t
view_extend_symbols(struct naming *naming, uint32_t path, uint32_t frame, size_t without)
{
	const struct names names = naming->of_frame[frame];

	for (size_t at = names.first + names.count; at-- > names.first + without;)
		path = view_extend_symbol(naming, path, at);
	return path;
}

uint32_t
view_own_function(struct naming *naming, const char *text)
{
	struct view *view = naming->view;
	const char *name = strings_text(view->texts, strings_intern(view->texts, text));
	bool added;
	const uint32_t id = *table_insert(&naming->own, (uintptr_t)name, 0,
					  (uint32_t)view->function_count, &added);

	if (added)
		view_add_function(view, &(struct view_function){
						.name = name,
						.module = "",
						.place = "",
						.known = true,
						.module_id = MODULE_NONE,
						.named = named_frame_of(name),
						.frame = FRAME_NONE,
					});
	return id;
}

/* Returns the path `caller` extended inwards by one function. */
static uint32_t
extend(struct naming *naming, uint32_t caller, uint32_t function, const struct path *matched)
{
	const struct path path = {
		.function = function,
		.caller = caller,
		.depth = caller != STACK_NONE ? naming->view->path[caller].depth + 1 : 1,
		.included = matched->included,
		.excluded = matched->excluded,
	};

	return view_add_path(naming->view, &naming->paths, &path);
}

uint32_t
view_extend_function(struct naming *naming, uint32_t caller, uint32_t function,
		     const struct path *matched)
{
	if (caller != STACK_NONE && naming->view->path[caller].function == function)
		return caller;
	return extend(naming, caller, function, matched);
}

uint32_t
view_extend_own(struct naming *naming, uint32_t caller, const char *text,
		const struct path *matched)
{
	return view_extend_function(naming, caller, view_own_function(naming, text), matched);
}

uint32_t
view_extend_path(struct naming *naming, uint32_t path, uint32_t inner, const struct path *matched)
{
	struct view *view = naming->view;
	const size_t depth = view->path[inner].depth;
	/* This array stays valid when extend() reallocates view->path. */
	const uint32_t *function = view_path_functions(view, inner);

	for (size_t i = depth; i-- > 0;)
		path = extend(naming, path, function[i], matched);
	return path;
}

const uint32_t *
view_path_functions(const struct view *view, uint32_t id)
{
	struct path *path = &view->path[id];
	uint32_t *to;

	if (path->functions != NULL)
		return path->functions;
	to = path->functions = xmalloc(path->depth * sizeof(*path->functions));
	for (uint32_t at = id; at != STACK_NONE; at = view->path[at].caller)
		*to++ = view->path[at].function;
	return path->functions;
}

void
view_stack(const struct view *view, uint32_t stack, const uint32_t **function, size_t *depth)
{
	const uint32_t path = stack != STACK_NONE ? view->of_stack[stack] : STACK_NONE;

	*function = path != STACK_NONE ? view_path_functions(view, path) : NULL;
	*depth = path != STACK_NONE ? view->path[path].depth : 0;
}
