/* SPDX-License-Identifier: MIT */
/*
 * view.h - the selected samples of a profile with symbol names: the input of all tables and
 * exporters. In this header "task" means a green task (green_task.h).
 */
#ifndef WALLSAMPLE_ANALYSIS_VIEW_H
#define WALLSAMPLE_ANALYSIS_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/analysis/filter.h"
#include "wallsample/analysis/process_title.h"
#include "wallsample/base/base.h"
#include "wallsample/profile/profile.h"
#include "wallsample/profile/run_stats.h"
#include "wallsample/symbol/symbol.h"

/* X(NAME, word): the keys by which frames are distinguished */
#define VIEW_KEYS(X)                                                                               \
	X(FUNCTION, "function")                                                                    \
	X(LINE, "line")       /* a function and a line: "render (page.c:123)" */                   \
	X(MODULE, "module")   /* adjacent frames of one module become one frame */                 \
	X(SOURCE, "source")   /* adjacent frames of one source file become one frame */            \
	X(THREAD, "thread")   /* each sample has one frame, its thread: "name-tid" */              \
	X(PROCESS, "process") /* each sample has one frame, its process: "title (pid)" */          \
	X(STATE, "state")     /* each sample has one frame, its state: "[sleeping in futex]" */    \
	X(LOCK, "lock")       /* each sample has one frame, its wait: "[mutex table_lock]" */      \
	X(GIL, "gil")         /* each sample has one frame, its relation to a GIL: "[has GIL]" */

enum view_key {
#define X(name, text) VIEW_BY_##name,
	VIEW_KEYS(X)
#undef X
		VIEW_BY_ADDRESS, /* frames with different addresses differ; for exporters */
};

/* Returns the word of VIEW_KEYS: "function". The key must not be VIEW_BY_ADDRESS. */
const char *view_key_word(enum view_key key);
/* True if, with this key, each sample has a single frame that is not code, such as its thread. */
bool view_key_is_of_sample(enum view_key key);
/* True if, with this key, each frame is a function, or a line of one. */
bool view_key_is_of_function(enum view_key key);

/*
 * What a frame stands for, by the view's key: a function, which is one name in one module; or a
 * line, a module, a file, a thread, a state, and so on. Below, "function" means any of these. A
 * named frame has a text of wallsample instead of code: see NAMED_FRAMES in profile_frame.h.
 */
struct view_function {
	/* for a named frame its text; else, by the key, symbol.function, symbol.function with the
	 * line, the module or the source file */
	const char *name;
	const char *module; /* "" for a named frame */
	/* Shown beside the name if needs_module: the module; for a compiled function that only the
	 * path of its file distinguishes from another one of its module, the file's short name. */
	const char *place;
	/* The name; if other functions have it, too, with a `place` that is a file: "f (a/b.c)". */
	const char *label;
	/* The function has a symbol, so that the name is not an address or "[anon]". For a module
	 * or a source file: all its functions have symbols. */
	bool known;
	bool needs_module; /* reports show `place` beside the name */
	/* The function is of an interpreted program. `module` is then the short name of its file:
	 * the shortest end of its path that no other file in the profile has, with the directory if
	 * language_file_is_common; "" if the file is not known. */
	bool script;
	/* Either `script` is true, or it is a compiled program's own function (struct
	 * language_program). */
	bool program;
	uint32_t module_id;     /* MODULE_NONE for a named frame and a script's function */
	enum named_frame named; /* NAMED_NONE if the function is no named frame */
	/* The members below are those of the function's first frame; with VIEW_BY_ADDRESS all its
	 * frames have the same values. */
	const char *file; /* source file, which distinguishes script functions; NULL: not known */
	uint32_t line;    /* 0: not known */
	/* inlined into the next outer function of its stacks, which has the same frame */
	bool inlined;
	/* id of the frame in the profile; FRAME_NONE: the view has made the function */
	uint32_t frame;
};

/* The sum of the selected samples with the same thread, state, system call, GIL state and stack. */
struct view_row {
	uint32_t thread; /* id of a thread or task in the profile */
	enum run_state state;
	int32_t syscall;
	enum gil gil;
	/* Ids for view_function(), innermost first; rows with the same stack share the array. */
	const uint32_t *function;
	size_t depth;
	int64_t samples;
	int64_t ns[WEIGHT_COUNT]; /* weights: at least one is above 0, none is negative */
};

/* True if the function is a named frame, such as "[failed: …]". */
bool view_is_named(const struct view_function *function);

struct view;

/*
 * Creates a view: resolves the frames of the profile, expands inlined functions to frames of their
 * own, applies the filter (its expressions match functions, whatever the key) and merges rows that
 * became equal. Then sums that are negative (see profile_add()) become 0, and rows without a
 * positive sum are left out. The caller frees the view with view_free(). The profile and the
 * symbols must outlive it.
 * Texts and arrays that the functions below return are borrowed from the view.
 */
struct view *view_create(const struct profile *profile, struct symbols *symbols,
			 const struct filter *filter, enum view_key key);
void view_free(struct view *view);

const struct profile *view_profile(const struct view *view);

/*
 * Adds the label of a thread of the profile to `out`: "name-tid"; for a task its runtime's word for
 * a task, its id and its entry function, such as "task 17 main.taker"; for an id that stands for
 * several tasks such as "tasks main.taker". Bytes of names are not escaped.
 */
void view_add_thread(const struct view *view, uint32_t thread, struct strbuf *out);
/* Adds the id of a task: "17", or in hexadecimal if it is an address: "0x7f20a4c0". */
void view_add_green_id(uint64_t id, struct strbuf *out);
/* Return the entry function of a task, and the function that created it; NULL: not known. */
const char *view_green_entry(const struct view *view, uint32_t thread);
const char *view_green_creator(const struct view *view, uint32_t thread);
/*
 * Returns the unit of a thread or task: the id of the thread or task that represents the unit. Each
 * thread is a unit. If the profile has at most 100 tasks, each task is a unit. Otherwise tasks of
 * the same runtime with the same entry function form a unit, but tasks that belong to the runtime
 * itself are never in one unit with other tasks.
 */
uint32_t view_unit(const struct view *view, uint32_t thread);
/*
 * Adds the label of a unit: for several tasks such as "tasks main.taker", else that of
 * view_add_thread().
 */
void view_add_unit(const struct view *view, uint32_t unit, struct strbuf *out);
/* Adds the name of a thread without its tid; for a task as view_add_thread() does. */
void view_add_name(const struct view *view, uint32_t thread, struct strbuf *out);
/* Returns the tid (0 if several threads share the id); for a task a number that no thread has. */
int64_t view_thread_number(const struct view *view, uint32_t thread);

enum view_key view_key(const struct view *view);
size_t view_row_count(const struct view *view);
const struct view_row *view_row(const struct view *view, size_t index);
size_t view_function_count(const struct view *view);
const struct view_function *view_function(const struct view *view, uint32_t id);
/*
 * True if samples of running threads are separated from samples of threads that waited for a CPU:
 * the filter selects only one of the two states, or the key gives them different frames. CPU
 * divided by Latency is then not the parallelism.
 */
bool view_splits_runnable(const struct view *view);
/* Return the kind of a wait, and the name of the awaited object ("" if it has none). `function` is
 * the stack of the waiter, innermost first; the kind of some waits depends on it. */
enum wait_kind view_wait_kind(const struct view *view, uint32_t wait, const uint32_t *function,
			      size_t depth);
const char *view_wait_object(const struct view *view, uint32_t wait);
/* The frame of that name; FRAME_NONE: none, as for a database lock that only the stack shows. */
uint32_t view_wait_frame(const struct view *view, uint32_t wait, enum wait_kind kind);
/* Adds the kind and the name of the awaited object: "mutex table_lock". */
void view_add_wait(const struct view *view, uint32_t wait, const uint32_t *function, size_t depth,
		   struct strbuf *out);
/*
 * True if the outermost function of a stack is PROFILE_GAP: the stack is then that of a time in
 * which no thread was runnable. Its other functions are the wait whose end ended this time.
 */
bool view_is_gap(const struct view_function *outermost);
/* True if the rows are lock holders, because of filter.blame. */
bool view_is_blame(const struct view *view);
/* Returns the sum of this weight over all rows. */
int64_t view_total_ns(const struct view *view, enum weight weight);
int64_t view_total_samples(const struct view *view);
/*
 * Returns the number of threads that filter.exclude_thread excludes, and in cpu_ns the CPU time of
 * the samples of these threads. The other members are 0.
 */
struct run_excluded view_excluded(const struct view *view);
int64_t view_unfiltered_ns(const struct view *view); /* wall time of all samples, selected or not */

/*
 * Returns the value of view_row.syscall for a sample: SYSCALL_GREEN for a sleeping task that no
 * thread runs, SYSCALL_NONE for a runnable thread, else the system call of the sample.
 */
int32_t view_syscall(const struct view *view, const struct profile_entry *sample);
/*
 * Returns true if the filter selects the sample by its thread, carrier (see struct profile_entry),
 * state, GIL state and stack. Only then sets *function and *depth, as view_stack() does, even if
 * the key is not code. For callers that go through the samples of a recording one by one.
 */
bool view_sample(const struct view *view, const struct profile_entry *sample,
		 const uint32_t **function, size_t *depth);
/*
 * Sets *function, innermost first, and *depth to the functions of a stack of the profile, selected
 * or not. STACK_NONE gives NULL and 0.
 */
void view_stack(const struct view *view, uint32_t stack, const uint32_t **function, size_t *depth);

#endif
