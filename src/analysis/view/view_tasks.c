/* SPDX-License-Identifier: MIT */
/*
 * view_tasks.c - how stacks of tasks are shown: without what only parks them, and on top of where
 * they were made.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/view/parking_internal.h"
#include "analysis/view/view_internal.h"

/* Tasks that made one another. */
#define CREATORS_MOST 16
#define PATH_UNKNOWN (STACK_NONE - 1)

/* --- functions of Go ---------------------------------------------------------------------- */

/*
 * Where the sources of Go's library lie: "/usr/local/go/src/", so long, by a file of the runtime's;
 * 0: not known, or a program that was built without the places of its sources (-trimpath).
 */
static size_t
library_length(const struct view_function *function)
{
	const char *at = function->file != NULL ? strstr(function->file, "/src/runtime/") : NULL;

	return at != NULL ? (size_t)(at - function->file) + strlen("/src/") : 0;
}

/* A package of a module without a dot in its path is called as one of the library might be. */
static bool
is_own(const struct view_function *function, const struct view_function *library, size_t length)
{
	if (length > 0 && function->file != NULL && function->file[0] == '/')
		return strncmp(function->file, library->file, length) != 0;
	return go_function_is_own(function->name);
}

void
view_mark_program(struct view *view)
{
	const struct view_function *library = NULL;
	size_t length = 0;
	struct table go; /* modules that Go's runtime is in */

	table_init(&go);
	for (size_t i = 0; i < view->function_count; i++) {
		struct view_function *function = &view->function[i];

		function->program = function->script;
		if (function->module_id == MODULE_NONE ||
		    strncmp(function->name, "runtime.", strlen("runtime.")) != 0)
			continue;
		table_place(&go, function->module_id, 0, 0, NULL);
		if (length == 0 && (length = library_length(function)) > 0)
			library = function;
	}
	for (size_t i = 0; go.count > 0 && i < view->function_count; i++) {
		struct view_function *function = &view->function[i];
		uint32_t found;

		if (function->known && function->module_id != MODULE_NONE &&
		    table_find(&go, function->module_id, 0, &found))
			function->program |= is_own(function, library, length);
	}
	table_release(&go);
}

/* --- what only parks ---------------------------------------------------------------------- */

static bool
only_parks(const struct symbol *symbol)
{
	return symbol->known ? function_only_parks(symbol->function) :
			       module_only_parks(symbol->module);
}

/* How many of the frame's symbols only park, from the innermost on. */
static size_t
count_parking(const struct naming *naming, uint32_t frame)
{
	const struct names names = naming->of_frame[frame];
	size_t count = 0;

	if (profile_frame(naming->view->profile, frame)->module == MODULE_NONE)
		return 0;
	while (count < names.count && only_parks(&naming->symbol[names.first + count]))
		count++;
	return count;
}

/* The path of the stack without its inner frames that only park; its own if that is all. */
static uint32_t
cut_parking(struct naming *naming, const uint32_t *of_stack, uint32_t stack)
{
	const struct profile *profile = naming->view->profile;
	uint32_t at = stack;

	while (at != STACK_NONE) {
		const struct profile_stack *of = profile_stack(profile, at);
		const size_t parking = count_parking(naming, of->frame);
		const struct names names = naming->of_frame[of->frame];
		uint32_t path;

		if (parking == 0)
			return of_stack[at];
		if (parking < names.count) {
			path = of->caller != STACK_NONE ? of_stack[of->caller] : STACK_NONE;
			return view_extend_symbols(naming, path, of->frame, parking);
		}
		at = of->caller;
	}
	return of_stack[stack];
}

void
view_cut_parking(struct naming *naming)
{
	const struct profile *profile = naming->view->profile;
	const size_t size = (profile_stack_count(profile) + 1) * sizeof(uint32_t);
	uint32_t *whole = NULL;

	for (size_t i = 0; i < profile_entry_count(profile); i++) {
		const struct profile_entry *entry = profile_entry(profile, i);

		if (entry->carrier != 0 || entry->stack == STACK_NONE ||
		    !profile_thread(profile, entry->thread)->is_task)
			continue;
		if (whole == NULL) {
			whole = xmalloc(size);
			memcpy(whole, naming->view->of_stack, size);
		}
		naming->view->of_stack[entry->stack] = cut_parking(naming, whole, entry->stack);
	}
	free(whole);
}

/* --- where they were made ----------------------------------------------------------------- */

void
view_begin_created(struct naming *naming)
{
	const struct profile *profile = naming->view->profile;
	const size_t count = profile_thread_count(profile);

	naming->created = xcalloc(count + 1, sizeof(*naming->created));
	for (uint32_t i = 0; i < count; i++) {
		const struct profile_thread *task = profile_thread(profile, i);

		naming->created[i] = PATH_UNKNOWN;
		if (task->is_task && task->task_id != 0)
			table_place(&naming->tasks, task->task_id, task->name, i, NULL);
	}
}

/* The task and those that made one another, outwards; returns how many there are. */
static size_t
list_creators(struct naming *naming, uint32_t thread, uint32_t *list)
{
	const struct profile *profile = naming->view->profile;
	size_t count = 0;

	while (count < CREATORS_MOST) {
		const struct profile_thread *task = profile_thread(profile, thread);
		uint32_t next;

		for (size_t i = 0; i < count; i++)
			if (list[i] == thread)
				return count;
		list[count++] = thread;
		if (task->creator == 0 ||
		    !table_find(&naming->tasks, task->creator, task->name, &next))
			return count;
		thread = next;
	}
	return count;
}

/* The path, and on it a frame that says who made the task, and the place where. */
static uint32_t
add_creation(struct naming *naming, uint32_t path, const struct profile_thread *task)
{
	static const struct path unmatched;
	struct strbuf text;
	const char *where;

	if (task->created_at >= profile_frame_count(naming->view->profile))
		return path;
	/* the first goroutine, before which there was nobody */
	where = naming->symbol[naming->of_frame[task->created_at].first].function;
	if (task->creator == 0 && go_function_is_runtime(where))
		return path;
	strbuf_init(&text);
	strbuf_add_text(&text, "[created by");
	if (task->creator != 0) {
		strbuf_add_format(&text, " %s ", profile_text(naming->view->profile, task->name));
		view_add_task_id(task->creator, &text);
	}
	strbuf_add_text(&text, "]");
	path = view_extend_own(naming, path, text.data,
			       path != STACK_NONE ? &naming->view->path[path] : &unmatched);
	strbuf_release(&text);
	return view_extend_symbols(naming, path, task->created_at, 0);
}

/* Of all that made the task; STACK_NONE: nothing is known of it. */
static uint32_t
creation_of(struct naming *naming, uint32_t thread)
{
	uint32_t list[CREATORS_MOST], path = STACK_NONE;

	if (naming->created[thread] != PATH_UNKNOWN)
		return naming->created[thread];
	for (size_t i = list_creators(naming, thread, list); i-- > 0;)
		path = add_creation(naming, path,
				    profile_thread(naming->view->profile, list[i]));
	return naming->created[thread] = path;
}

uint32_t
view_created_path(struct naming *naming, uint32_t thread, uint32_t full)
{
	struct view *view = naming->view;
	struct path matched;
	uint32_t path;

	if (!profile_thread(view->profile, thread)->is_task)
		return full;
	path = creation_of(naming, thread);
	if (path == STACK_NONE || full == STACK_NONE)
		return path == STACK_NONE ? full : path;
	matched = view->path[full];
	matched.included |= view->path[path].included;
	matched.excluded |= view->path[path].excluded;
	return view_extend_path(naming, path, full, &matched);
}
