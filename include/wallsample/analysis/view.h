/* SPDX-License-Identifier: MIT */
/*
 * view.h - the samples that were selected, with names: what every table and every
 * exporter is made from.
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

/* X(name, text): what makes two frames different */
#define VIEW_KEYS(X)                                                           \
	X(FUNCTION, "function")                                                \
	X(LINE, "line")     /* "render (page.c:123)" */                        \
	X(MODULE, "module") /* frames of one that call one another are one */  \
	X(SOURCE, "source") /* the same for source files */                   \
	X(THREAD, "thread") /* a sample's thread is its only frame: "name-tid" */ \
	X(STATE, "state")   /* the same for its state: "[sleeping in futex]" */      \
	X(LOCK, "lock")     /* the same for what it waits for: "[mutex table_lock]" */ \
	X(GIL, "gil")       /* the same for its part in an interpreter's lock: "[has GIL]" */

enum view_key {
#define X(name, text) VIEW_BY_##name,
	VIEW_KEYS(X)
#undef X
	VIEW_BY_ADDRESS, /* nothing is one but frames of the same address: for exporters */
};

const char *view_key_word(enum view_key key); /* "function"; VIEW_BY_ADDRESS has none */
/* A sample has one frame of this key, which is not code: its thread, state, lock or GIL. */
bool view_key_is_of_sample(enum view_key key);

/* A function: one name in one module; by other keys, a line, module, file, thread or state. */
struct view_function {
	const char *name;   /* as struct symbol, a line behind it; a named frame has its own text */
	const char *module; /* "" for a named frame */
	bool known;         /* has a name of its own: not an address, not "[anon]"; of a module
			     * or a source file: all functions of it have */
	bool needs_module;  /* the name alone does not say of which module it is */
	bool script;        /* of an interpreted program: the module is its file's short name, as
			     * "app.py" and "json/__init__.py", "" if the file is not known */
	bool program; /* a script's, or a compiled program's own: see struct language_program */
	uint32_t module_id; /* MODULE_NONE for a named frame and a script's function */
	enum named_frame named; /* NAMED_NONE of a function */
	/* The rest is of the first of its frames, so of all only by address. */
	const char *file;   /* NULL: not known; a script's functions of one name differ by it */
	uint32_t line;      /* 0: not known */
	bool inlined;       /* into the next, outer one of its stacks: they share a frame */
	uint32_t frame;     /* of the profile; FRAME_NONE: the view has made it */
};

struct view_row {
	uint32_t thread;            /* index in the profile */
	enum run_state state;
	int32_t syscall;
	enum gil gil;
	const uint32_t *function;   /* indices of view_function, innermost first; rows with
				     * the same stack share the array */
	size_t depth;
	int64_t samples;
	int64_t ns[WEIGHT_COUNT];   /* at least one is > 0, none below */
};

/* The frame is a named one, "[failed: …]", not a function. */
bool view_is_named(const struct view_function *function);

struct view;

/*
 * Names what the profile holds, inlined functions as frames of their own, applies the
 * filter (whose expressions are for functions, whatever the key) and merges rows that have
 * become the same. Rows whose sum is not positive are left out. The profile and the
 * symbols must outlive the view.
 */
struct view *view_create(const struct profile *profile, struct symbols *symbols,
			 const struct filter *filter, enum view_key key);
void view_free(struct view *view);

const struct profile *view_profile(const struct view *view);

/*
 * Adds what a thread of the profile is called, "name-tid"; of a task it is "NOUN 17
 * main.taker", the function being the one that it began with, and of many that are not told apart
 * "NOUNs main.taker". Foreign bytes as they are.
 */
void view_add_thread(const struct view *view, uint32_t thread, struct strbuf *out);
/* "17"; one so large that it is an address: "0x7f20a4c0". */
void view_add_task_id(uint64_t id, struct strbuf *out);
/* The function that a task began with, and the one that made it; NULL: not known. */
const char *view_task_entry(const struct view *view, uint32_t thread);
const char *view_task_creator(const struct view *view, uint32_t thread);
/*
 * Units are the threads, and of a hundred tasks at most these; of more than that, all that began
 * with the same function. A unit is told by one of its threads.
 */
uint32_t view_unit(const struct view *view, uint32_t thread);
/* As view_add_thread; "NOUNs main.taker" of those that are many. */
void view_add_unit(const struct view *view, uint32_t unit, struct strbuf *out);
/* A thread's name alone, for where the id stands beside it; of a task as view_add_thread. */
void view_add_name(const struct view *view, uint32_t thread, struct strbuf *out);
/* The tid, or of a task a number that no thread of the profile has. */
int64_t view_thread_number(const struct view *view, uint32_t thread);

enum view_key view_key(const struct view *view);
size_t view_row_count(const struct view *view);
const struct view_row *view_row(const struct view *view, size_t index);
size_t view_function_count(const struct view *view);
const struct view_function *view_function(const struct view *view, uint32_t id);
/* Running samples and those that waited for a CPU are separated, by the filter or as different
 * frames. Overhead over time is not the parallelism then. */
bool view_splits_runnable(const struct view *view);
/*
 * What a wait is for, as its kind and as the object's name ("": none), by who waits: the kind of
 * some is told by functions alone, innermost first.
 */
enum wait_kind view_wait_kind(const struct view *view, uint32_t wait, const uint32_t *function,
			      size_t depth);
const char *view_wait_object(const struct view *view, uint32_t wait);
/* Adds both: "mutex table_lock". */
void view_add_wait(const struct view *view, uint32_t wait, const uint32_t *function, size_t depth,
		   struct strbuf *out);
/* The outermost frame is PROFILE_GAP: the other frames of the stack are the wait that ended it. */
bool view_is_gap(const struct view_function *outermost);
/* The rows are lock holders: filter.blame. */
bool view_is_blame(const struct view *view);
int64_t view_total_ns(const struct view *view, enum weight weight); /* of the rows */
int64_t view_total_samples(const struct view *view);
/* Threads of the profile that the filter excludes by their names; cpu_ns: of their samples. */
struct run_excluded view_excluded(const struct view *view);
int64_t view_unfiltered_ns(const struct view *view); /* wall time of all samples */

/* The sample's system call; SYSCALL_TASK for a task that waits without a thread, as in rows. */
int32_t view_syscall(const struct view *view, const struct profile_entry *sample);
/*
 * For whoever goes through samples of the profile once more, in the order of time: is one that has
 * this thread, carrier, state, GIL and stack (of the profile, or STACK_NONE) selected? Then its
 * functions as in a row, which are the view's; by thread and state, those of its code. The rest
 * of the entry is not looked at.
 */
bool view_sample(const struct view *view, const struct profile_entry *sample,
		 const uint32_t **function, size_t *depth);
/* The functions of a stack of the profile, or STACK_NONE, whether it is selected or not. */
void view_stack(const struct view *view, uint32_t stack, const uint32_t **function, size_t *depth);

#endif
