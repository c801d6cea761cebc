/* SPDX-License-Identifier: MIT */
/*
 * filter.h - which samples of a profile are selected, and which of their frames are shown.
 *
 * A filter option of the command line is a field here, a row of src/cli/option_table.c that stores
 * into it, and a test in filter.c or view.c.
 */
#ifndef WALLSAMPLE_ANALYSIS_FILTER_H
#define WALLSAMPLE_ANALYSIS_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* X(NAME, text): the frames shown of a stack with functions of an interpreted program */
#define VIEW_NATIVES(X)                                                                            \
	X(MERGED, "merged") /* program functions instead of the interpreter's frames */            \
	X(ONLY, "only")     /* native frames only */                                               \
	X(NONE, "none")     /* program functions only; a stack without any is "[native]" */

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
	struct id_list tids;             /* thread ids; id == NULL: all */
	const char *thread_name;         /* fnmatch(3) pattern, NULL: all */
	struct text_list exclude_thread; /* comma-separated fnmatch(3) patterns: no thread with such
					  * a name */
	struct id_list tasks;            /* ids of green tasks: tasks only; id == NULL: all */
	bool created_by;  /* extend stacks of tasks by the stack that created the task */
	unsigned states;  /* bit 1 << enum run_state, 0: all */
	unsigned gils;    /* bit 1 << enum gil, 0: all */
	regex_t *include; /* at least one function of the stack matches; NULL: all */
	regex_t *exclude; /* no function of the stack matches; NULL: all */
	enum view_native native;
	/* With NATIVE_MERGED, in stacks with functions of an interpreted program: keep the
	 * interpreter's own functions between two functions of the program (language.h), and the
	 * runtime's functions that park a task. If false, they are removed before `include` and
	 * `exclude` are matched. */
	bool interpreter_frames;
	/* Show lock holders instead of samples: the stack of the holder below a frame that names
	 * the lock, weighted by the time others waited. The only weight is WEIGHT_WALL. */
	bool blame;
};

/* True if a thread with this id and name is selected. */
bool filter_thread(const struct filter *filter, pid_t tid, const char *name);
/* True if a task with this id (0: unknown) is selected. */
bool filter_task(const struct filter *filter, uint64_t id);
/* True if threads are selected by their ids or names. */
bool filter_selects_threads(const struct filter *filter);
/* True if threads with this name are excluded. */
bool filter_excludes_thread(const struct filter *filter, const char *name);

#endif
