/* SPDX-License-Identifier: MIT */
/*
 * filter.h - which samples of a profile are selected, and which of their frames are shown.
 *
 * src/README, "A filter option", has the steps that add one. In this header "task" means a green
 * task (green_task.h).
 */
#ifndef WALLSAMPLE_ANALYSIS_FILTER_H
#define WALLSAMPLE_ANALYSIS_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * X(NAME, text): which frames of a stack are shown. A native frame is a frame of machine code.
 * MERGED: in a stack with functions of an interpreted program, these functions, and all native
 * frames except the interpreter's own; other stacks are shown as they are.
 * ONLY: native frames only.
 * NONE: functions of an interpreted program only; the native frames of a stack without any of them
 * become one frame, "[native]".
 * All three show named frames (profile_frame.h), but ONLY hides those that stand for functions of
 * an interpreted program that could not be read.
 */
#define VIEW_NATIVES(X)                                                                            \
	X(MERGED, "merged")                                                                        \
	X(ONLY, "only")                                                                            \
	X(NONE, "none")

enum view_native {
#define X(name, text) NATIVE_##name,
	VIEW_NATIVES(X)
#undef X
};

/* An array of ids, which the list owns. NULL if empty. */
struct id_list {
	uint64_t *id;
	size_t count;
};

/* A NULL-terminated array, which the list owns, of borrowed texts. NULL if empty. */
struct text_list {
	const char **text;
	size_t count;
};

/* Which samples are selected. A zeroed filter selects all. */
struct filter {
	struct id_list tids;             /* ids of selected threads; tids.id NULL: all */
	const char *thread_name;         /* fnmatch(3) pattern of selected names; NULL: all */
	struct text_list exclude_thread; /* comma-separated fnmatch(3) patterns of excluded names */
	/*
	 * Selected processes: process ids, and fnmatch(3) patterns of names (filter_process()),
	 * separated by commas; text NULL: all. The members above must select the thread, too.
	 */
	struct text_list process;
	struct text_list exclude_process; /* patterns of the names of excluded processes */
	/*
	 * Ids of selected green tasks. green.id NULL: samples of all tasks, and of threads that ran
	 * no task, are selected; else only samples of these tasks. In both cases the members above
	 * must select the thread that ran the task; if no thread ran it, the sample is selected
	 * only if filter_selects_threads() is false.
	 */
	struct id_list green;
	/*
	 * the stack of a task is extended outwards by the function that created the task, then by
	 * the function that created its creator, and so on
	 */
	bool created_by;
	unsigned states; /* a bit 1 << enum run_state for each selected state; 0: all */
	/* a bit 1 << enum gil for each selected relation to a GIL (gil.h); 0: all */
	unsigned gils;
	regex_t *include; /* stacks in which at least one function matches; NULL: all */
	regex_t *exclude; /* stacks in which no function matches; NULL: all */
	enum view_native native;
	/*
	 * False: two kinds of functions are removed from the stacks before `include` and `exclude`
	 * are matched: with NATIVE_MERGED, functions of the interpreter that only evaluate code
	 * (enum plumbing in language.h); and, at the leaf of a task that no thread runs, functions
	 * of the runtime that only suspend the task. True: both stay in the stacks.
	 */
	bool interpreter_frames;
	/*
	 * True: rows are lock holders instead of samples. A row is the stack of a holder, weighted
	 * by the time that other threads waited for its lock. The outermost frame of the stack
	 * names the lock. The only weight is WEIGHT_WALL.
	 */
	bool blame;
};

/* True if tids, thread_name and exclude_thread select a thread with this id and name. */
bool filter_thread(const struct filter *filter, pid_t tid, const char *name);
/* True if `green` selects a task with this id. An unknown id, 0, is not in a list of ids. */
bool filter_green(const struct filter *filter, uint64_t id);
/* True if tids or thread_name is set. */
bool filter_selects_threads(const struct filter *filter);
/* True if exclude_thread excludes threads with this name. */
bool filter_excludes_thread(const struct filter *filter, const char *name);
/*
 * True if `process` and `exclude_process` select a process with this id, command name and title
 * (process_title.h). A pattern matches the name, the title, or the first word of the title; of each
 * the first 255 bytes, as in process_set.h.
 */
bool filter_process(const struct filter *filter, pid_t pid, const char *name, const char *title);
/* True if exclude_process excludes a process with this name and title. */
bool filter_excludes_process(const struct filter *filter, const char *name, const char *title);
/* True if `process` or exclude_process is set. */
bool filter_selects_processes(const struct filter *filter);

#endif
