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
			 * function is between the two it belongs to that function */
};

struct plumbing_function {
	const char *name; /* a pattern; ".cold", ".isra.0" and "@plt" behind it are ignored */
	enum plumbing plumbing;
	bool is_common; /* other programs use the name, too: it counts in the interpreter's module
			   * alone */
};

/* How to tell a compiled program's functions from those of the language. Stateless predicates. */
struct language_program {
	/* A function of the runtime itself: a module that has one is a program of the language. */
	bool (*is_runtime)(const char *function);
	/* A function that the compiler wraps around the one that a task begins with. */
	bool (*is_wrapper)(const char *function);
	/* By its name neither the runtime's nor the standard library's. */
	bool (*is_own)(const char *function);
	/* Length of the path of the library's sources, by the source file of a runtime's function;
	 * 0: not known. */
	size_t (*library)(const char *file);
};

struct runtime_language {
	const char *name;   /* the word for --runtime: "python" */
	const char *title;  /* in reports: "Python" */
	const char *engine; /* how descriptions of its runtimes begin: "CPython" */
	const char *lock;   /* the word for its interpreter lock: "GIL"; NULL: it has none */
	const char *marker; /* how the named frames of its runtime begin: "[python: "; NULL: none */

	/* Native functions that only carry calls. */
	const struct plumbing_function *plumbing;
	size_t plumbing_count;
	bool (*is_trampoline)(const char *function); /* generated code that only calls; or NULL */

	/* Native functions that only put a waiting task aside; both may be NULL. The second is for
	 * functions without a name, by their module. */
	bool (*only_parks)(const char *function);
	bool (*module_only_parks)(const char *module);

	/* Patterns that NULL ends; or NULL: native functions that return when a lock is taken, and
	 * native functions between the program's code and the system call of a wait. */
	const char *const *lock_functions;
	const char *const *wait_functions;

	const struct language_program *program; /* NULL: not compiled, or not told apart */
	const struct runtime_kind *kind;        /* how its runtimes are found and captured */
};

/* The registry, which NULL ends: bit n of runtimes_config.wanted is its row n. */
extern const struct runtime_language *const languages[];
#define LANGUAGES_MAX 31

/* Whether the name, of which `length` bytes count, matches one of the patterns. */
bool language_name_matches(const char *pattern, const char *name, size_t length);
bool language_names_match(const char *const *patterns, const char *name);

/* The row of this name; -1: there is none. */
int language_by_name(const char *name);
/* Adds the names of all languages in alphabetical order, ", " between. */
void language_add_names(struct strbuf *to);
/* Adds the titles of the languages that `runtimes` names (struct run_stats) and whose functions are
 * interpreted, " and " between; "an interpreted language" if there is none. */
void language_add_titles(struct strbuf *to, const char *runtimes);
/* The word for the lock of the first language that `runtimes` names and that has one: "GIL" if it
 * is not known. */
const char *language_lock(const char *runtimes);
/* Whether the text of a named frame is a marker of some runtime. */
bool language_is_marker(const char *text);

/*
 * What the native function does, in any language. `interpreter`: its module is an interpreter's,
 * in which common names count, too.
 */
enum plumbing language_plumbing(const char *function, bool interpreter);
/* Whether the function only parks a task; of a nameless function `function` is NULL. */
bool language_only_parks(const char *function, const char *module);
/* Whether the function returns when a lock of a runtime is taken. */
bool language_takes_lock(const char *function);
/* Whether the function belongs to a runtime's way into a system call that waits. */
bool language_waits(const char *function);
/* The row of the compiled language whose runtime has the function; -1: none. */
int language_of_runtime(const char *function);
/* Whether a compiler of some language wraps the first function of a task into this one. */
bool language_is_wrapper(const char *function);

#endif
