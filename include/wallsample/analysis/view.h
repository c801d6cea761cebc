/* SPDX-License-Identifier: MIT */
/*
 * view.h - the selected samples of a profile with symbol names: the input of all tables and
 * exporters.
 */
#ifndef WALLSAMPLE_ANALYSIS_VIEW_H
#define WALLSAMPLE_ANALYSIS_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/analysis/filter.h"
#include "wallsample/base/base.h"
#include "wallsample/profile/profile.h"
#include "wallsample/profile/run_stats.h"
#include "wallsample/symbol/symbol.h"

/* X(name, text): the key by which frames are distinguished */
#define VIEW_KEYS(X)                                                                               \
	X(FUNCTION, "function")                                                                    \
	X(LINE, "line")     /* "render (page.c:123)" */                                            \
	X(MODULE, "module") /* adjacent frames of one module are one */                            \
	X(SOURCE, "source") /* the same by source file */                                          \
	X(THREAD, "thread") /* a sample's thread is its only frame: "name-tid" */                  \
	X(STATE, "state")   /* the same by state: "[sleeping in futex]" */                         \
	X(LOCK, "lock")     /* the same by awaited object: "[mutex table_lock]" */                 \
	X(GIL, "gil")       /* the same by relation to an interpreter's lock: "[has GIL]" */

enum view_key {
#define X(name, text) VIEW_BY_##name,
	VIEW_KEYS(X)
#undef X
		VIEW_BY_ADDRESS, /* only frames of the same address are equal: for exporters */
};

const char *view_key_word(enum view_key key); /* "function"; VIEW_BY_ADDRESS has none */
/* True if a sample has one frame by this key, which is not code: thread, state, lock or GIL. */
bool view_key_is_of_sample(enum view_key key);

/* A function: one name in one module. By other keys: a line, module, file, thread or state. */
struct view_function {
	const char *name;   /* as in struct symbol, with the line by VIEW_BY_LINE; or "[idle]" */
	const char *module; /* "" for a named frame */
	bool known;         /* it has a symbol: the name is not an address or "[anon]"; for a module
			     * or a source file: all its functions have one */
	bool needs_module;  /* the name alone is ambiguous without the module */
	bool script;        /* of an interpreted program: the module is its file's short name,
			     * "app.py" or "json/__init__.py"; "" if the file is not known */
	bool program; /* a script's, or the compiled program's own: see struct language_program */
	uint32_t module_id;     /* MODULE_NONE for a named frame and a script's function */
	enum named_frame named; /* NAMED_NONE of a function */
	/* The rest describes its first frame: valid for all its frames only by address. */
	const char *file; /* NULL: not known; distinguishes a script's functions of one name */
	uint32_t line;    /* 0: not known */
	bool inlined;     /* into the next outer function of its stacks: they share a frame */
	uint32_t frame;   /* of the profile; FRAME_NONE: added by the view */
};

struct view_row {
	uint32_t thread; /* index in the profile */
	enum run_state state;
	int32_t syscall;
	enum gil gil;
	const uint32_t *function; /* indices of view_function, innermost first; rows with
				     * the same stack share the array */
	size_t depth;
	int64_t samples;
	int64_t ns[WEIGHT_COUNT]; /* at least one is > 0, none is negative */
};

/* True if the frame is a named one, such as "[failed: …]", not a function. */
bool view_is_named(const struct view_function *function);

struct view;

/*
 * Creates a view: resolves the frames of the profile, expands inlined functions to frames of their
 * own, applies the filter (its expressions match functions, whatever the key) and merges rows that
 * became equal. Rows whose sum is not positive are left out. The profile and the symbols must
 * outlive the view, which the caller frees with view_free(). Texts and arrays that the functions
 * below return are borrowed from the view.
 */
struct view *view_create(const struct profile *profile, struct symbols *symbols,
			 const struct filter *filter, enum view_key key);
void view_free(struct view *view);

const struct profile *view_profile(const struct view *view);

/*
 * Adds the label of a thread of the profile, "name-tid"; for a task "NOUN 17 main.taker", with its
 * entry function, and for merged tasks "NOUNs main.taker". Foreign bytes are not escaped.
 */
void view_add_thread(const struct view *view, uint32_t thread, struct strbuf *out);
/* Adds "17"; an id that is an address is hexadecimal: "0x7f20a4c0". */
void view_add_task_id(uint64_t id, struct strbuf *out);
/* Return the entry function of a task, and the function that created it; NULL: not known. */
const char *view_task_entry(const struct view *view, uint32_t thread);
const char *view_task_creator(const struct view *view, uint32_t thread);
/*
 * Returns the unit of a thread, as the number of the thread that represents it. Each thread is a
 * unit. Each task is one, too, if there are at most 100; of more, the tasks with the same entry
 * function are one unit.
 */
uint32_t view_unit(const struct view *view, uint32_t thread);
/* As view_add_thread(); "NOUNs main.taker" for a unit of several tasks. */
void view_add_unit(const struct view *view, uint32_t unit, struct strbuf *out);
/* Adds a thread's name without the id; for a task as view_add_thread(). */
void view_add_name(const struct view *view, uint32_t thread, struct strbuf *out);
/* Returns the tid; for a task a number that no thread of the profile has. */
int64_t view_thread_number(const struct view *view, uint32_t thread);

enum view_key view_key(const struct view *view);
size_t view_row_count(const struct view *view);
const struct view_row *view_row(const struct view *view, size_t index);
size_t view_function_count(const struct view *view);
const struct view_function *view_function(const struct view *view, uint32_t id);
/* True if running samples and those that waited for a CPU are separated, by the filter or as
 * different frames. Overhead divided by time is not the parallelism then. */
bool view_splits_runnable(const struct view *view);
/*
 * Return the kind of a wait, and the name of the awaited object ("": none). `function` is the
 * stack of the waiter, innermost first: the kind of some waits follows only from its functions.
 */
enum wait_kind view_wait_kind(const struct view *view, uint32_t wait, const uint32_t *function,
			      size_t depth);
const char *view_wait_object(const struct view *view, uint32_t wait);
/* Adds both: "mutex table_lock". */
void view_add_wait(const struct view *view, uint32_t wait, const uint32_t *function, size_t depth,
		   struct strbuf *out);
/* True if the frame is PROFILE_GAP: the inner frames of its stack are the wait that ended it. */
bool view_is_gap(const struct view_function *outermost);
/* True if the rows are lock holders: filter.blame. */
bool view_is_blame(const struct view *view);
int64_t view_total_ns(const struct view *view, enum weight weight); /* of the rows */
int64_t view_total_samples(const struct view *view);
/* Returns the threads that the filter excludes by name; cpu_ns is the CPU time of their samples. */
struct run_excluded view_excluded(const struct view *view);
int64_t view_unfiltered_ns(const struct view *view); /* wall time of all samples */

/* Returns the sample's system call as rows have it: SYSCALL_TASK for a task without a thread. */
int32_t view_syscall(const struct view *view, const struct profile_entry *sample);
/*
 * True if the filter selects a sample with the thread, carrier, state, GIL and stack (of the
 * profile, or STACK_NONE) of `sample`; its other members are ignored. Then sets the functions as in
 * a row, borrowed from the view; by keys such as thread and state, the functions of its code. For
 * readers that iterate over the samples of a recording in the order of time.
 */
bool view_sample(const struct view *view, const struct profile_entry *sample,
		 const uint32_t **function, size_t *depth);
/* Sets the functions of a stack of the profile, or of STACK_NONE, selected or not. */
void view_stack(const struct view *view, uint32_t stack, const uint32_t **function, size_t *depth);

#endif
