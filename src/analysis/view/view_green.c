/* SPDX-License-Identifier: MIT */
/*
 * view_green.c - marks the functions of the program itself; removes from the stacks of green tasks
 * the functions that park them; and extends these stacks by the functions that created the task and
 * its creators. In this file "task" means a green task (green_task.h).
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/view/view_internal.h"
#include "wallsample/runtime/language.h"

/* The largest number of creators in a path. */
#define CREATORS_MOST 16
/* Value in naming->created of a task whose path has not been made yet. */
#define PATH_UNKNOWN (STACK_NONE - 1)

/* --- the program's own functions ---------------------------------------------------------- */

/* Where the sources of a compiled language's standard library were when the program was built. */
struct library {
	/* the first `length` bytes of this text are the path of their directory */
	const char *path;
	size_t length; /* 0 if the path is not known, as in programs built without source paths */
};

/*
 * True if the function belongs to the program, not to its language's runtime or standard library.
 * If the absolute path of its source file is known, the path decides. Otherwise the name does,
 * which may be wrong: names of a package of the program can look like those of a package of the
 * library.
 */
static bool
is_own(const struct view_function *function, const struct language_program *program,
       const struct library *library)
{
	if (library->length > 0 && function->file != NULL && function->file[0] == '/')
		return strncmp(function->file, library->path, library->length) != 0;
	return program->is_own(function->name);
}

/*
 * Fills the table `modules`, (module; 0) -> index in languages[], for modules that have a function
 * of a compiled language's runtime. Fills `library`, indexed as languages[].
 */
static void
find_programs(const struct view *view, struct table *modules, struct library *library)
{
	for (size_t i = 0; i < view->function_count; i++) {
		const struct view_function *function = &view->function[i];
		const int row = function->module_id != MODULE_NONE ?
					language_of_runtime(function->name) :
					-1;

		if (row < 0)
			continue;
		table_insert(modules, function->module_id, 0, (uint32_t)row, NULL);
		if (library[row].length == 0 && function->file != NULL)
			library[row] = (struct library){
				.path = function->file,
				.length = languages[row]->program->library(function->file),
			};
	}
}

void
view_mark_program(struct view *view)
{
	struct library library[LANGUAGES_MAX] = { { .path = NULL } };
	struct table modules = { 0 };
	uint32_t row;

	find_programs(view, &modules, library);
	for (size_t i = 0; i < view->function_count; i++) {
		struct view_function *function = &view->function[i];

		function->program = function->script;
		if (function->known && function->module_id != MODULE_NONE &&
		    table_find(&modules, function->module_id, 0, &row))
			function->program |= is_own(function, languages[row]->program,
						    &library[row]);
	}
	table_release(&modules);
}

/* --- parking functions ---------------------------------------------------------------------- */

static bool
only_parks(const struct symbol *symbol)
{
	return language_only_parks(symbol->known ? symbol->function : NULL, symbol->module);
}

/* Returns the number of the frame's innermost symbols that only park a task. */
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

/*
 * Returns the path of the stack without its innermost functions that only park a task. If all its
 * functions only park a task, returns the whole path.
 */
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
		    !profile_thread(profile, entry->thread)->is_green)
			continue;
		if (whole == NULL) {
			whole = xmalloc(size);
			memcpy(whole, naming->view->of_stack, size);
		}
		naming->view->of_stack[entry->stack] = cut_parking(naming, whole, entry->stack);
	}
	free(whole);
}

/* --- where tasks were created ----------------------------------------------------------------- */

void
view_begin_created(struct naming *naming)
{
	const struct profile *profile = naming->view->profile;
	const size_t count = profile_thread_count(profile);

	naming->created = xcalloc(count + 1, sizeof(*naming->created));
	for (uint32_t i = 0; i < count; i++) {
		const struct profile_thread *task = profile_thread(profile, i);

		naming->created[i] = PATH_UNKNOWN;
		if (task->is_green && task->green_id != 0)
			table_insert(&naming->by_green_id, task->green_id, task->name, i, NULL);
	}
}

/*
 * Fills `list` with the task, its creator, the creator's creator, and so on. Returns the number of
 * elements, at most CREATORS_MOST.
 */
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
		    !table_find(&naming->by_green_id, task->creator, task->name, &next))
			return count;
		thread = next;
	}
	return count;
}

/*
 * Returns the path extended inwards by a frame that names the creator of the task, and by the
 * symbols of the frame that created the task. Returns `path` itself if that frame is not known.
 */
static uint32_t
add_creation(struct naming *naming, uint32_t path, const struct profile_thread *task)
{
	static const struct path unmatched;
	struct strbuf text;
	const char *where;

	if (task->created_at >= profile_frame_count(naming->view->profile))
		return path;
	/* A task that the runtime itself created, as it does the first task, gets no such frame. */
	where = naming->symbol[naming->of_frame[task->created_at].first].function;
	if (task->creator == 0 && language_of_runtime(where) >= 0)
		return path;
	strbuf_init(&text);
	strbuf_add_text(&text, "[created by");
	if (task->creator != 0) {
		strbuf_add_format(&text, " %s ", profile_text(naming->view->profile, task->name));
		view_add_green_id(task->creator, &text);
	}
	strbuf_add_text(&text, "]");
	path = view_extend_own(naming, path, text.data,
			       path != STACK_NONE ? &naming->view->path[path] : &unmatched);
	strbuf_release(&text);
	return view_extend_symbols(naming, path, task->created_at, 0);
}

/*
 * Returns the path of the code that created the task. Further outside it has the code that created
 * the task's creator, and so on, for up to CREATORS_MOST creators. STACK_NONE if nothing of this is
 * known. The result is cached in naming->created.
 */
static uint32_t
creation_of(struct naming *naming, uint32_t thread)
{
	uint32_t list[CREATORS_MOST], path = STACK_NONE;

	if (naming->created[thread] != PATH_UNKNOWN)
		return naming->created[thread];
	for (size_t i = list_creators(naming, thread, list); i-- > 0;)
		path = add_creation(naming, path, profile_thread(naming->view->profile, list[i]));
	return naming->created[thread] = path;
}

uint32_t
view_created_path(struct naming *naming, uint32_t thread, uint32_t full)
{
	struct view *view = naming->view;
	struct path matched;
	uint32_t path;

	if (!profile_thread(view->profile, thread)->is_green)
		return full;
	path = creation_of(naming, thread);
	if (path == STACK_NONE || full == STACK_NONE)
		return path == STACK_NONE ? full : path;
	matched = view->path[full];
	matched.included |= view->path[path].included;
	matched.excluded |= view->path[path].excluded;
	return view_extend_path(naming, path, full, &matched);
}
