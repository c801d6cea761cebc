/* SPDX-License-Identifier: MIT */
/*
 * view_entry.c - stacks that do not say where in the code a sample is from but of what it is: its
 * thread, its state, its wait or its part in a GIL, each a frame of ours.
 */
#include <inttypes.h>

#include "analysis/view/view_internal.h"

/* The number of the frame with this text, which is added if it is a new one. */
static uint32_t
find_function(struct naming *naming, const char *text)
{
	struct view *view = naming->view;
	const char *name = strings_text(view->texts, strings_intern(view->texts, text));
	bool added;
	const uint32_t id = *table_place(&naming->own, (uintptr_t)name, 0,
					 (uint32_t)view->function_count, &added);

	if (!added)
		return id;
	view->function = xgrow(view->function, &view->function_capacity,
			       view->function_count + 1, sizeof(*view->function));
	view->function[view->function_count++] = (struct view_function){
		.name = name,
		.module = "",
		.known = true,
		.module_id = MODULE_NONE,
		.frame = FRAME_NONE,
	};
	return id;
}

/* `full` is the path of those who wait, or STACK_NONE. */
static uint32_t
function_of_wait(struct naming *naming, uint32_t wait, uint32_t full)
{
	struct view *view = naming->view;
	struct strbuf *text = &naming->scratch;

	strbuf_clear(text);
	strbuf_add_text(text, "[");
	if (full != STACK_NONE)
		view_add_wait(view, wait, view_path_functions(view, full), view->path[full].depth,
			      text);
	else
		view_add_wait(view, wait, NULL, 0, text);
	strbuf_add_text(text, "]");
	return find_function(naming, text->data);
}

static uint32_t
function_of(struct naming *naming, const struct profile_entry *entry, uint32_t full)
{
	struct strbuf *text = &naming->scratch;

	if (naming->key == VIEW_BY_LOCK && entry->wait != 0)
		return function_of_wait(naming, entry->wait, full);
	strbuf_clear(text);
	if (naming->key == VIEW_BY_THREAD) {
		view_add_unit(naming->view, view_unit(naming->view, entry->thread), text);
	} else if (naming->key == VIEW_BY_GIL) {
		strbuf_add_format(text, "[%s]", entry->gil != GIL_UNKNOWN ? gil_text(entry->gil) :
									    "GIL not known");
	} else {
		strbuf_add_text(text, "[");
		run_state_add(text, entry->state, entry->syscall);
		strbuf_add_text(text, "]");
	}
	return find_function(naming, text->data);
}

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

	if (caller != STACK_NONE && naming->view->path[caller].function == function)
		return caller;
	return view_add_path(naming->view, &naming->paths, &path);
}

uint32_t
view_extend_own(struct naming *naming, uint32_t caller, const char *text,
		const struct path *matched)
{
	return extend(naming, caller, find_function(naming, text), matched);
}

uint32_t
view_entry_path(struct naming *naming, const struct profile_entry *entry, uint32_t full)
{
	struct view *view = naming->view;
	const struct path matched = full != STACK_NONE ? view->path[full] :
							 (struct path){ .function = 0 };
	const uint32_t waits = full;
	uint32_t path = STACK_NONE, kind = STACK_NONE;

	/* What ended a gap, and how, stays: below it one such as "[sleeping in futex]". */
	while (full != STACK_NONE && view->path[full].caller != STACK_NONE) {
		kind = full;
		full = view->path[full].caller;
	}
	if (kind != STACK_NONE && view_is_gap(&view->function[view->path[full].function])) {
		const char *text = view->function[view->path[kind].function].name;

		path = extend(naming, path, find_function(naming, PROFILE_GAP), &matched);
		path = extend(naming, path, find_function(naming, text), &matched);
	}
	return extend(naming, path, function_of(naming, entry, waits), &matched);
}

uint32_t
view_blame_path(struct naming *naming, uint32_t wait, uint32_t full)
{
	struct view *view = naming->view;
	const struct path matched = full != STACK_NONE ? view->path[full] :
							 (struct path){ .function = 0 };
	const uint32_t *function = full != STACK_NONE ? view_path_functions(view, full) : NULL;
	uint32_t path = extend(naming, STACK_NONE, function_of_wait(naming, wait, STACK_NONE),
			       &matched);

	for (size_t i = matched.depth; i-- > 0;) {
		const struct path next = {
			.function = function[i],
			.caller = path,
			.depth = view->path[path].depth + 1,
			.included = matched.included,
			.excluded = matched.excluded,
		};

		path = view_add_path(view, &naming->paths, &next);
	}
	return path;
}
