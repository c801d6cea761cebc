/* SPDX-License-Identifier: MIT */
/*
 * view_internal.h - what the files that make a view share.
 */
#ifndef WALLSAMPLE_ANALYSIS_VIEW_VIEW_INTERNAL_H
#define WALLSAMPLE_ANALYSIS_VIEW_VIEW_INTERNAL_H

#include "wallsample/base/base.h"
#include "wallsample/unwind/chain.h"
#include "wallsample/process/module.h"
#include "wallsample/base/table.h"
#include "wallsample/analysis/view.h"

/* A stack of functions, made of its innermost one and the caller's stack. */
struct path {
	uint32_t function;
	uint32_t caller; /* index of a path, or STACK_NONE; always below its own */
	uint32_t depth;
	bool included, excluded; /* a function of it matches -I, -X */
	uint32_t *functions; /* innermost first; NULL until a row needs it */
};

struct view {
	const struct profile *profile;
	struct view_function *function;
	size_t function_count, function_capacity;
	uint32_t *of_frame;  /* of the profile: its innermost function */
	uint32_t *of_stack;  /* of the profile: its path */
	enum wait_kind *wait_kind; /* by wait of the profile: as functions tell it */
	bool *thread_wanted; /* of the profile; of a task, whether its id is */
	bool only_threads, only_tasks; /* there are wishes as to the ones, the others */
	const char **entry;  /* by thread of the profile: the name of a task's first function */
	const char **created; /* the same: of the function that made it */
	uint32_t *unit;      /* by thread: the one that stands for it */
	size_t *unit_tasks;  /* by unit: how many tasks are one with it; 0 or 1: it is alone */
	unsigned states, gils; /* of the filter */
	bool include;        /* it has an expression for functions that are wanted */
	struct path *path;
	size_t path_count, path_capacity;
	struct view_row *row;
	size_t row_count, row_capacity;
	int64_t total_ns[WEIGHT_COUNT], total_samples, unfiltered_ns;
	struct strings *texts; /* of lines */
	enum view_key key;
	bool halved, blame;
};

/* What a frame stands for: symbol[first] is the innermost of `count`. */
struct names {
	size_t first, count;
};

struct naming {
	struct view *view;
	struct symbols *symbols;
	const struct filter *filter;
	enum view_key key;
	struct symbol *symbol;   /* of all frames, in the order of their addresses */
	size_t symbol_count, symbol_capacity;
	struct names *of_frame;  /* by frame: its symbols */
	uint32_t *function;      /* by symbol, as are */
	bool *included, *excluded; /* whether -I and -X match */
	struct table paths;      /* (function, caller and matches) */
	struct table tasks;      /* (task_id, name) -> thread of the profile: with created_by */
	uint32_t *created;       /* by thread: the path of where it was made; or NULL */
	struct table own;        /* by text: frames of ours that no stack of the profile has */
	struct strbuf scratch;
};

/* Is it a function of an interpreted program? */
static inline bool
frame_is_script(const struct profile_frame *frame)
{
	return frame->module == MODULE_NONE && frame->origin == FRAME_SCRIPT;
}

/*
 * Names the frames of naming->view's profile, numbers the functions that view_function() tells,
 * and matches them. The rest of the view, and what is asked for, is set before.
 */
void naming_make(struct naming *naming);
void naming_release(struct naming *naming);

/* Entries and units, once names are made; which threads and tasks are wanted, at any time. */
void view_name_threads(struct naming *naming);
void view_choose_threads(struct view *view, const struct filter *filter);
/* Is the sample's task wanted, and the thread that ran it? */
bool view_wants_thread(const struct view *view, const struct profile_entry *entry);

/*
 * What each wait is by the functions that wait, shown or not: the same in every view. Once names
 * are made.
 */
void view_name_waits(struct naming *naming);

/* The path of each stack of the profile, without what is not to be shown; once names are made. */
void view_make_paths(struct naming *naming);
/* The path with a frame's symbols, but for so many of the innermost. */
uint32_t view_extend_symbols(struct naming *naming, uint32_t path, uint32_t frame, size_t without);

/* Functions of the program: once they have numbers. */
void view_mark_program(struct view *view);
/* Takes what only parks tasks off the paths of their stacks, once these are made. */
void view_cut_parking(struct naming *naming);
/* With created_by: the path on top of where the task was made; the same of a thread. */
void view_begin_created(struct naming *naming);
uint32_t view_created_path(struct naming *naming, uint32_t thread, uint32_t full);

/* The functions of a path, innermost first; borrowed. */
const uint32_t *view_path_functions(const struct view *view, uint32_t path);
/* The number of this path, which is added if it is a new one. */
uint32_t view_add_path(struct view *view, struct table *paths, const struct path *fresh);

/* The path with a frame of ours that has this text, and matches as `matched` does; the same path
 * if that is its innermost already. */
uint32_t view_extend_own(struct naming *naming, uint32_t caller, const char *text,
			 const struct path *matched);

/*
 * The path that stands for the entry by thread, state, wait or GIL, `full` being that of its
 * functions, which the expressions have been matched with.
 */
uint32_t view_entry_path(struct naming *naming, const struct profile_entry *entry, uint32_t full);
/* The path of a holder's functions, below a frame that says what it had. */
uint32_t view_blame_path(struct naming *naming, uint32_t wait, uint32_t full);

#endif
