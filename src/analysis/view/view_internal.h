/* SPDX-License-Identifier: MIT */
/*
 * view_internal.h - what the files that make a view share.
 *
 * view_create.c drives the steps; view.c and view_extend.c are below all of them.
 */
#ifndef WALLSAMPLE_ANALYSIS_VIEW_VIEW_INTERNAL_H
#define WALLSAMPLE_ANALYSIS_VIEW_VIEW_INTERNAL_H

#include "wallsample/base/base.h"
#include "wallsample/unwind/chain.h"
#include "wallsample/process/module.h"
#include "wallsample/base/table.h"
#include "wallsample/analysis/view.h"

/* A stack of functions: the innermost one, and the path of its caller. */
struct path {
	uint32_t function;
	uint32_t caller; /* index of a path, below its own; or STACK_NONE */
	uint32_t depth;
	bool included, excluded; /* a function of it matches -I, -X */
	uint32_t *functions;     /* innermost first; NULL until a row needs it */
};

struct view {
	const struct profile *profile;
	struct view_function *function;
	size_t function_count, function_capacity;
	uint32_t *of_frame;        /* by frame of the profile: its innermost function */
	uint32_t *of_stack;        /* by stack of the profile: its path */
	enum wait_kind *wait_kind; /* by wait of the profile: the kind, refined by functions */
	bool *thread_wanted;   /* by thread of the profile; of a task, whether its id is wanted */
	bool *thread_excluded; /* by thread of the profile: its name is excluded */
	bool only_threads;     /* the filter selects threads by their ids or names */
	const char **entry;    /* by thread: name of a task's first function; NULL: not known */
	const char **created;  /* by thread: name of the function that created the task; or NULL */
	uint32_t *unit;        /* by thread: the thread that represents its unit */
	size_t *unit_tasks;    /* by unit: number of its tasks; 0 or 1: not a group */
	struct filter filter;
	struct path *path;
	size_t path_count, path_capacity;
	struct view_row *row;
	size_t row_count, row_capacity;
	int64_t total_ns[WEIGHT_COUNT], total_samples, unfiltered_ns;
	struct strings *texts; /* names made here: with a line, of named frames */
	enum view_key key;
	bool splits_runnable;
};

/* The symbols of a frame: symbol[first] is the innermost of `count`. */
struct names {
	size_t first, count;
};

/* What is needed while a view is made, and freed afterwards. */
struct naming {
	struct view *view;
	struct symbols *symbols;
	const struct filter *filter;
	enum view_key key;
	struct symbol *symbol; /* of all frames, in address order of the frames */
	size_t symbol_count, symbol_capacity;
	struct names *of_frame;    /* by frame of the profile */
	uint32_t *function;        /* by symbol: its number in view->function */
	bool *included, *excluded; /* by symbol: whether -I and -X match */
	struct table paths;        /* (function, caller, matches) -> path */
	struct table tasks;        /* (task_id, name) -> thread of the profile: with created_by */
	uint32_t *created;         /* by thread: path of the place that created it; or NULL */
	struct table own;          /* text -> function: named frames that the view has added */
	struct strbuf scratch;
};

/* The frame is a function of an interpreted program. */
static inline bool
frame_is_script(const struct profile_frame *frame)
{
	return frame->module == MODULE_NONE && frame->origin == FRAME_SCRIPT;
}

/* --- view_names.c: frames to functions ---------------------------------------------------- */

/*
 * Names the frames of naming->view's profile, numbers the functions that view_function()
 * returns, and matches -I and -X. view, symbols, filter and key are set before.
 */
void naming_make(struct naming *naming);
void naming_release(struct naming *naming);
/* True if the expression, which may be NULL, matches the name. */
bool view_matches(const regex_t *regex, const char *name);

/* --- view_threads.c, view_wait.c ---------------------------------------------------------- */

/* Makes view->entry, created, unit and unit_tasks; after naming_make. */
void view_name_threads(struct naming *naming);
/* Makes view->thread_wanted, thread_excluded and only_threads by view->filter; at any time. */
void view_choose_threads(struct view *view);
/* The filter wants the sample's task and the thread that ran it, or its thread. */
bool view_wants_thread(const struct view *view, const struct profile_entry *entry);
/* Makes view->wait_kind from all stacks, whether shown or not; after naming_make. */
void view_name_waits(struct naming *naming);

/* --- view_extend.c: paths ------------------------------------------------------------------ */

/* The number of the path, which is added to `paths` and to the view if it is new. */
uint32_t view_add_path(struct view *view, struct table *paths, const struct path *path);
/* The path with one symbol, function or named frame more. `matched` has the result of -I and -X
 * for the new path. A function that is the innermost one already is not repeated. */
uint32_t view_extend_symbol(struct naming *naming, uint32_t path, size_t symbol);
uint32_t view_extend_function(struct naming *naming, uint32_t path, uint32_t function,
			      const struct path *matched);
uint32_t view_extend_own(struct naming *naming, uint32_t path, const char *text,
			 const struct path *matched);
/* The path with the symbols of a frame, except the `without` innermost ones. */
uint32_t view_extend_symbols(struct naming *naming, uint32_t path, uint32_t frame, size_t without);
/* The path with all functions of the path `inner`. */
uint32_t view_extend_path(struct naming *naming, uint32_t path, uint32_t inner,
			  const struct path *matched);
/* Appends a function to those that view_function() returns. */
void view_add_function(struct view *view, const struct view_function *function);
/* The number of the function that stands for this text, which is added if it is new. */
uint32_t view_own_function(struct naming *naming, const char *text);
/* The functions of a path, innermost first; borrowed from the view. */
const uint32_t *view_path_functions(const struct view *view, uint32_t path);

/* --- view_paths.c, view_tasks.c, view_entry.c: which path a sample gets -------------------- */

/* Makes view->of_stack, without hidden frames; after naming_make. */
void view_make_paths(struct naming *naming);
/* Sets view_function.program; after naming_make. */
void view_mark_program(struct view *view);
/* Removes the functions that only park a task from the paths of tasks' stacks. */
void view_cut_parking(struct naming *naming);
/* With created_by: prepares, then puts a task's path on top of the path that created it. */
void view_begin_created(struct naming *naming);
uint32_t view_created_path(struct naming *naming, uint32_t thread, uint32_t full);
/*
 * The path that represents the entry for a key of view_key_is_of_sample; `full` is the path of
 * its functions, on which -I and -X have been matched.
 */
uint32_t view_entry_path(struct naming *naming, const struct profile_entry *entry, uint32_t full);
/* The path of a lock holder's functions, below a named frame of what it held. */
uint32_t view_blame_path(struct naming *naming, uint32_t wait, uint32_t full);

#endif
