/* SPDX-License-Identifier: MIT */
/*
 * view_internal.h - structs and functions that the files of a view share. view_create.c calls the
 * functions of the other files. -I and -X are the options that set filter.include and
 * filter.exclude. In this header "task" means a green task (green_task.h).
 */
#ifndef WALLSAMPLE_ANALYSIS_VIEW_VIEW_INTERNAL_H
#define WALLSAMPLE_ANALYSIS_VIEW_VIEW_INTERNAL_H

#include "analysis/view/view_files_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/unwind/chain.h"
#include "wallsample/process/module.h"
#include "wallsample/base/table.h"
#include "wallsample/analysis/view.h"

/* A stack of functions: its innermost function, and the path of the functions further outside. */
struct path {
	uint32_t function; /* index in view->function */
	uint32_t caller;   /* index in view->path, of an earlier path; STACK_NONE: outermost */
	uint32_t depth;    /* number of functions */
	/* included: a function of the path matches -I; excluded: one matches -X */
	bool included, excluded;
	/* all functions of the path, innermost first; NULL until it is first needed */
	uint32_t *functions;
};

struct view {
	const struct profile *profile;
	struct view_function *function;
	size_t function_count, function_capacity;
	/* indexed by frame of the profile: its innermost function, an index in `function` */
	uint32_t *of_frame;
	uint32_t *of_stack; /* indexed by stack of the profile: its path, an index in `path` */
	/* Indexed by wait of the profile: its kind, refined by the functions that waited;
	 * WAIT_MIXED (view_wait.c) if that differs between stacks. */
	enum wait_kind *wait_kind;
	bool *thread_wanted; /* indexed by thread of the profile: true if the filter selects it */
	/* indexed by thread of the profile: true if the filter excludes its name */
	bool *thread_excluded;
	bool *process_excluded; /* indexed by process of the profile: the filter excludes it */
	bool only_threads;      /* the filter selects threads by ids or names */
	/* indexed by thread of the profile: name of the task's first function; NULL: not known */
	const char **entry;
	/* indexed by thread of the profile: function that created the task; NULL: not known */
	const char **created;
	uint32_t *unit;     /* indexed by thread of the profile: thread that represents its unit */
	size_t *unit_green; /* indexed by unit: number of its tasks; 0 if every task is a unit */
	struct filter filter;
	struct path *path;
	size_t path_count, path_capacity;
	struct view_row *row;
	size_t row_count, row_capacity;
	int64_t total_ns[WEIGHT_COUNT], total_samples, unfiltered_ns;
	struct strings *texts; /* owns names that the view has made */
	enum view_key key;
	bool splits_runnable;
};

/* The symbols of a frame: elements [first, first + count) of naming->symbol, innermost first. */
struct names {
	size_t first, count;
};

/* Data that is needed only while a view is made. */
struct naming {
	struct view *view;
	struct symbols *symbols;
	const struct filter *filter;
	enum view_key key;
	struct symbol *symbol; /* symbols of all frames, in the order of the frames' addresses */
	size_t symbol_count, symbol_capacity;
	struct names *of_frame; /* indexed by frame of the profile: its symbols */
	uint32_t *function;     /* indexed by symbol: its function, an index in view->function */
	/* indexed by symbol: true if -I matches its name; true if -X matches its name */
	bool *included, *excluded;
	struct table paths; /* (function; caller, included and excluded) -> path */
	/* (green_id; name) -> thread of the profile; filled only if filter.created_by is set. */
	struct table by_green_id;
	/*
	 * Indexed by thread of the profile: path of the code that created the task, as
	 * creation_of() of view_green.c returns it. NULL unless filter.created_by is set.
	 */
	uint32_t *created;
	/* (address of the interned text; 0) -> function that the view has made for it */
	struct table own;
	struct source_files files; /* files of all symbols; see view_find_files() */
	struct strbuf scratch;
};

/* True if the frame is a function of an interpreted program. */
static inline bool
frame_is_script(const struct profile_frame *frame)
{
	return frame->module == MODULE_NONE && frame->origin == FRAME_SCRIPT;
}

/* --- view_names.c: frames to functions ---------------------------------------------------- */

/*
 * Resolves the frames of the profile, fills view->function, and matches -I and -X. The caller has
 * set the members view, symbols, filter and key.
 */
void naming_make(struct naming *naming);
void naming_release(struct naming *naming);
/* True if the expression, which may be NULL, matches the name. */
bool view_matches(const regex_t *regex, const char *name);

/* --- view_threads.c, view_wait.c ---------------------------------------------------------- */

/* Fills view->entry, created, unit and unit_green. To be called after naming_make. */
void view_name_threads(struct naming *naming);
/* Fills view->thread_wanted, thread_excluded, process_excluded and only_threads by view->filter. */
void view_choose_threads(struct view *view);
/*
 * True if the filter selects the thread of the sample; false for all threads if filter.green
 * selects tasks. For a sample of a task: true if the filter selects the task and the thread that
 * ran it; if no thread ran the task, true if the filter selects the task and does not select
 * threads by ids or names.
 */
bool view_wants_thread(const struct view *view, const struct profile_entry *entry);
/*
 * Fills view->wait_kind from the stacks of all samples, selected or not. To be called after
 * naming_make.
 */
void view_name_waits(struct naming *naming);

/* --- view_extend.c: paths ------------------------------------------------------------------ */

/*
 * Each function returns the path extended inwards by one symbol, function or named frame; `path` is
 * STACK_NONE for an empty path. `matched` has the values of `included` and `excluded` for the new
 * path. A function that equals the innermost function of `path` is not added by
 * view_extend_function and view_extend_own, nor by view_extend_symbol in a view by module or source
 * file.
 */
uint32_t view_extend_symbol(struct naming *naming, uint32_t path, size_t symbol);
uint32_t view_extend_function(struct naming *naming, uint32_t path, uint32_t function,
			      const struct path *matched);
uint32_t view_extend_own(struct naming *naming, uint32_t path, const char *text,
			 const struct path *matched);
/* Returns the path extended by the symbols of a frame, except the `without` innermost symbols. */
uint32_t view_extend_symbols(struct naming *naming, uint32_t path, uint32_t frame, size_t without);
/* Returns the path extended by all functions of the path `inner`. */
uint32_t view_extend_path(struct naming *naming, uint32_t path, uint32_t inner,
			  const struct path *matched);
/* Appends a function to view->function. */
void view_add_function(struct view *view, const struct view_function *function);
/* Returns the index of the named frame with this text in view->function. A new text is added. */
uint32_t view_own_function(struct naming *naming, const char *text);
/* Returns the functions of a path, innermost first, borrowed from the view. */
const uint32_t *view_path_functions(const struct view *view, uint32_t path);

/* --- view_paths.c, view_green.c, view_entry.c: which path a sample gets -------------------- */

/*
 * Fills view->of_stack. The paths do not have the frames that filter.native and
 * filter.interpreter_frames hide. To be called after naming_make.
 */
void view_make_paths(struct naming *naming);
/* Sets view_function.program of all functions. To be called after naming_make. */
void view_mark_program(struct view *view);
/*
 * Changes view->of_stack for the stacks of tasks that no thread ran: removes the innermost
 * functions that only suspend (park) a task. To be called after view_make_paths.
 */
void view_cut_parking(struct naming *naming);
/*
 * Used if filter.created_by is set. view_begin_created is to be called once, before the first call
 * of view_created_path, which returns the path `full` of a task, extended outwards by the path of
 * the code that created the task. For a thread, and for a task whose creation is not known, it
 * returns `full`.
 */
void view_begin_created(struct naming *naming);
uint32_t view_created_path(struct naming *naming, uint32_t thread, uint32_t full);
/*
 * To be called only if view_key_is_of_sample(naming->key). Returns a path of a named frame that is
 * made from the thread, state, wait or GIL state of the entry; for a gap (view_is_gap()) the named
 * frames of the gap are further outside. `full` is the path of the entry's functions, or
 * STACK_NONE; the result has the same values of `included` and `excluded`.
 */
uint32_t view_entry_path(struct naming *naming, const struct profile_entry *entry, uint32_t full);
/*
 * Returns the path of a lock holder: outermost a named frame for the lock, further inside the
 * functions of the holder, whose path is `full` (STACK_NONE: only the named frame).
 */
uint32_t view_blame_path(struct naming *naming, uint32_t wait, uint32_t full);

#endif
