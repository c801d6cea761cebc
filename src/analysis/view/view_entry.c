/* SPDX-License-Identifier: MIT */
/*
 * view_entry.c - makes the paths of samples for keys that are not code: a named frame for the
 * thread, the state, the wait or the relation to a GIL.
 */
#include <inttypes.h>

#include "analysis/view/view_internal.h"

/*
 * Returns the index in view->function of the named frame for the wait: "[mutex table_lock]". `full`
 * is the path of the waiter, or STACK_NONE.
 */
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
	return view_own_function(naming, text->data);
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
	} else if (naming->key == VIEW_BY_PROCESS) {
		process_add_label_of_thread(naming->view->profile, entry->thread, text);
	} else if (naming->key == VIEW_BY_GIL) {
		strbuf_add_format(text, "[%s]",
				  entry->gil != GIL_UNKNOWN ? gil_text(entry->gil) :
							      "GIL not known");
	} else {
		strbuf_add_text(text, "[");
		run_state_add(text, entry->state, entry->syscall);
		strbuf_add_text(text, "]");
	}
	return view_own_function(naming, text->data);
}

uint32_t
view_entry_path(struct naming *naming, const struct profile_entry *entry, uint32_t full)
{
	struct view *view = naming->view;
	const struct path matched = full != STACK_NONE ? view->path[full] :
							 (struct path){ .function = 0 };
	const uint32_t waits = full;
	uint32_t path = STACK_NONE, kind = STACK_NONE;

	/*
	 * The two outermost frames of a gap are named frames, which are kept: PROFILE_GAP, and one
	 * for the wait, such as "[sleeping in futex]".
	 */
	while (full != STACK_NONE && view->path[full].caller != STACK_NONE) {
		kind = full;
		full = view->path[full].caller;
	}
	if (kind != STACK_NONE && view_is_gap(&view->function[view->path[full].function])) {
		const char *text = view->function[view->path[kind].function].name;

		path = view_extend_own(naming, path, PROFILE_GAP, &matched);
		path = view_extend_own(naming, path, text, &matched);
	}
	return view_extend_function(naming, path, function_of(naming, entry, waits), &matched);
}

uint32_t
view_blame_path(struct naming *naming, uint32_t wait, uint32_t full)
{
	const struct path matched = full != STACK_NONE ? naming->view->path[full] :
							 (struct path){ .function = 0 };
	const uint32_t path = view_extend_function(naming, STACK_NONE,
						   function_of_wait(naming, wait, STACK_NONE),
						   &matched);

	return full != STACK_NONE ? view_extend_path(naming, path, full, &matched) : path;
}
