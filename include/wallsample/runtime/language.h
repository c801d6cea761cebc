/* SPDX-License-Identifier: MIT */
/*
 * language.h - what the program knows about each language that has a runtime in the target.
 *
 * Everything outside of src/runtime/LANGUAGE/ that depends on a language walks languages[]: the
 * sampler by way of runtime.h, reports, analysis, exporters and --runtime by the functions below.
 * A language is one directory with one struct runtime_language, and one row in LANGUAGES
 * (src/runtime/languages.c).
 *
 * A pattern is a function's name as symbol tables have it; a '*' at its end stands for any rest.
 */
#ifndef WALLSAMPLE_RUNTIME_LANGUAGE_H
#define WALLSAMPLE_RUNTIME_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/base.h"

struct runtime_kind;

/* What a native function does between two functions of an interpreted program. */
enum plumbing {
	PLUMBING_NONE,  /* work of its own: functions of the C library and of extensions, and what
			 * the program asked for, such as a sort or a sleep */
	PLUMBING_CALL,  /* evaluates code, or calls a function that does */
	PLUMBING_ROOT,  /* the interpreter's outermost function of a process or thread */
	PLUMBING_START, /* may be the caller of a root: "_start", "main", "clone". If another
			 * function is between the two, the start belongs to that function */
};

struct plumbing_function {
	const char *name; /* a pattern; suffixes ".cold", ".isra.0" and "@plt" are ignored */
	enum plumbing plumbing;
	bool is_common; /* other programs use the name, too: it counts only in the module of an
			   * interpreter */
};

/* Distinguishes functions of a compiled program from those of the language, by their names. */
struct language_program {
	/*
	 * True for a function of the runtime: the module that has it is a program of the language.
	 */
	bool (*is_runtime)(const char *function);
	/* True for a function that the compiler wraps around the first function of a task. */
	bool (*is_wrapper)(const char *function);
	/* True for a function that belongs neither to the runtime nor to the standard library. */
	bool (*is_own)(const char *function);
	/* Returns the length of the path of the standard library's sources, from the source file
	 * of a function of the runtime; 0: not known. */
	size_t (*library)(const char *file);
};

struct runtime_language {
	const char *name;   /* word for --runtime: "python" */
	const char *title;  /* name in reports: "Python" */
	const char *engine; /* beginning of the descriptions of its runtimes: "CPython" */
	const char *lock;   /* word for its interpreter lock: "GIL"; NULL: it has no such lock */
	const char *marker; /* beginning of its named frames: "[python: "; NULL: it has none */

	/* Native functions that only carry calls. */
	const struct plumbing_function *plumbing;
	size_t plumbing_count;
	/* True for generated code that only calls a function. May be NULL. */
	bool (*is_trampoline)(const char *function);

	/* True for native functions that only put a waiting task aside; for functions without a
	 * name by the name of their module. Both may be NULL. */
	bool (*only_parks)(const char *function);
	bool (*module_only_parks)(const char *module);

	/* Patterns, ended by NULL, of native functions that return when a lock is taken, and of
	 * those between the program's code and the system call of a wait. Both may be NULL. */
	const char *const *lock_functions;
	const char *const *wait_functions;

	const struct language_program *program; /* NULL: functions are not distinguished */
	const struct runtime_kind *kind;        /* finds and captures its runtimes */
};

/* The registry, ended by NULL. Bit n of runtimes_config.wanted stands for row n. */
extern const struct runtime_language *const languages[];
#define LANGUAGES_MAX 31

/* These return true when the name, of which `length` bytes count, matches the pattern, and when it
 * matches one of the patterns, which NULL ends. */
bool language_name_matches(const char *pattern, const char *name, size_t length);
bool language_names_match(const char *const *patterns, const char *name);

/* Returns the number of the row with this name; -1: there is none. */
int language_by_name(const char *name);
/* Adds the names of all languages in alphabetical order, separated by ", ". */
void language_add_names(struct strbuf *to);
/* Adds the titles, separated by " and ", of interpreted languages in the descriptions `runtimes`
 * (struct run_stats); "an interpreted language" if there is none. */
void language_add_titles(struct strbuf *to, const char *runtimes);
/* Returns the word for the lock of the first language in the descriptions that has a lock; "GIL"
 * when the language is not known. */
const char *language_lock(const char *runtimes);
/* Returns true when the text of a named frame is a marker of a runtime. */
bool language_is_marker(const char *text);

/*
 * Returns what the native function does in the first language that knows it. `interpreter`: its
 * module is an interpreter, in which common names count, too.
 */
enum plumbing language_plumbing(const char *function, bool interpreter);
/* Returns true when the function only parks a task. `function` is NULL without a name. */
bool language_only_parks(const char *function, const char *module);
/* Returns true when the function returns after it has taken a lock of a runtime. */
bool language_takes_lock(const char *function);
/* Returns true for functions of a runtime between the program and a system call that waits. */
bool language_waits(const char *function);
/* Returns the row of the compiled language whose runtime has the function; -1: none. */
int language_of_runtime(const char *function);
/* Returns true for a function that a compiler wraps around the first function of a task. */
bool language_is_wrapper(const char *function);

#endif
