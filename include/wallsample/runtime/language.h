/* SPDX-License-Identifier: MIT */
/*
 * language.h - what wallsample knows about each language whose runtime it can read.
 *
 * Everything outside of src/runtime/LANGUAGE/ that depends on a language reads it from languages[]:
 * the sampler through runtime.h; reports, analysis, exporters and --runtime through the functions
 * below. A language is one directory with one struct runtime_language, and one row in LANGUAGES
 * (src/runtime/languages_internal.h).
 *
 * A pattern is a function's name as symbol tables have it; a '*' at its end stands for any text. In
 * this header "task" means a green task (green_task.h).
 */
#ifndef WALLSAMPLE_RUNTIME_LANGUAGE_H
#define WALLSAMPLE_RUNTIME_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/base.h"

struct runtime_kind;

/*
 * The role of a native function in a call chain of an interpreted program. The function is between
 * two functions of the program, or is a caller of the program's outermost function. It is plumbing
 * if it does nothing but lead from one function of the program to the next, or to the outermost
 * one.
 */
enum plumbing {
	/* no plumbing: the function does work of its own. It belongs to the C library, to an
	 * extension, or to the interpreter, such as a sort or a sleep that the program calls */
	PLUMBING_NONE,
	PLUMBING_CALL, /* evaluates code, or calls a function that does */
	PLUMBING_ROOT, /* the interpreter's outermost function of a process or thread */
	/*
	 * may be a caller of a PLUMBING_ROOT: "_start", "main", "clone". It counts as plumbing only
	 * if all functions from the outermost one to the root are PLUMBING_START or PLUMBING_ROOT
	 */
	PLUMBING_START,
};

struct plumbing_function {
	const char *name; /* a pattern; suffixes ".cold", ".isra.0" and "@plt" are ignored */
	enum plumbing plumbing;
	/* functions of other programs have this name, too: it counts only in the module of an
	 * interpreter */
	bool is_common;
};

/* Distinguishes functions of a compiled program from those of the language, by their names. */
struct language_program {
	/*
	 * Returns true for a function of the language's runtime. A module that contains such a
	 * function is a program of this language.
	 */
	bool (*is_runtime)(const char *function);
	/*
	 * Returns true for a function that the compiler wraps around the first function of a task.
	 */
	bool (*is_wrapper)(const char *function);
	/* Returns the length of the part of a function's name that is its package. */
	size_t (*package)(const char *function);
	/* Returns true for a function that belongs neither to the runtime nor to the standard
	 * library. */
	bool (*is_own)(const char *function);
	/* Given the source file of a function of the runtime, returns the length of the part that
	 * is the directory of the standard library's sources; 0: not known. */
	size_t (*library)(const char *file);
};

struct runtime_language {
	const char *name;  /* word for --runtime: "python" */
	const char *title; /* name in reports: "Python" */
	/* first word of its descriptions in run_stats.runtimes ("CPython 3.11.7"): "CPython" */
	const char *engine;
	const char *lock; /* word for its interpreter lock: "GIL"; NULL: it has no such lock */
	/*
	 * beginning of the texts that its runtime puts in place of frames that could not be read
	 * (markers): "[python: "; NULL: it has none
	 */
	const char *marker;
	/* text of the outermost frame of threads that schedule tasks, and of tasks of the runtime
	 * itself, such as "[Go runtime]"; NULL: it has none */
	const char *root;

	/* Names that many source files have ("__init__.py"), ended by NULL. NULL: it has none. */
	const char *const *common_files;
	/* parts of the paths of source files that belong to the standard library of an interpreted
	 * language, and to installed packages, each ended by NULL; NULL: not known. A file with a
	 * part of both is of a package. */
	const char *const *library_files, *const *package_files;
	/* Returns true for a function of a script that only starts an installed package. May be
	 * NULL. */
	bool (*is_launcher)(const char *function, const char *file);

	/* Native functions of the interpreter that only call other functions. */
	const struct plumbing_function *plumbing;
	size_t plumbing_count;
	/* Returns true for generated code that only calls a function. May be NULL. */
	bool (*is_trampoline)(const char *function);

	/*
	 * Return true for native functions that only suspend a task which has to wait. only_parks
	 * gets the name of the function, module_only_parks the module of a function without a name.
	 * Both may be NULL.
	 */
	bool (*only_parks)(const char *function);
	bool (*module_only_parks)(const char *module);

	/*
	 * Lists of patterns, each ended by NULL; a list may be NULL. lock_functions: native
	 * functions of the language that take a lock and then return. wait_functions: native
	 * functions of the language that may be between a function of the program and the system
	 * call in which the thread waits.
	 */
	const char *const *lock_functions;
	const char *const *wait_functions;
	/* Functions of the language that wait for a connection to be accepted, and to be made, in a
	 * poller of its runtime; as the lists above. */
	const char *const *accept_functions, *const *connect_functions;

	/* NULL: functions of the program and of the language are not distinguished */
	const struct language_program *program;
	const struct runtime_kind *kind; /* finds and captures its runtimes */
};

/* The rows of all languages, ended by NULL. Bit n of runtimes_config.wanted stands for row n. */
extern const struct runtime_language *const languages[];
/* Most rows: each needs a bit of runtimes_config.wanted. */
#define LANGUAGES_MAX 31

/* language_name_matches returns true when the first `length` bytes of the name match the pattern;
 * language_names_match, when the name matches one of the patterns, which NULL ends. */
bool language_name_matches(const char *pattern, const char *name, size_t length);
bool language_names_match(const char *const *patterns, const char *name);

/* Returns the number of the row of languages[] with this name; -1: there is none. */
int language_by_name(const char *name);
/* Adds the names of all languages in alphabetical order, separated by ", ". */
void language_add_names(struct strbuf *to);
/* Adds the titles, separated by " and ", of the interpreted languages in `runtimes`, which are the
 * descriptions in struct run_stats; adds "an interpreted language" if there is none. */
void language_add_titles(struct strbuf *to, const char *runtimes);
/* Returns the word for the interpreter lock of a language: of the first row of languages[] that has
 * a lock and is in `runtimes`, the descriptions in struct run_stats; if there is none, of the first
 * row that has a lock ("GIL"). */
const char *language_lock(const char *runtimes);
/* Returns true when the text of a frame begins with the marker of a language: it stands for frames
 * that could not be read. */
bool language_is_marker(const char *text);
/* Returns true for the `root` of a language. */
bool language_is_root(const char *text);
/* Returns true for a file name, without directory, that many source files of a language have. */
bool language_file_is_common(const char *name);
/* Returns true for the name of an interpreter's file, or of an extension for it: a name with the
 * name of an interpreted language, as in "libpython3.11.so.1.0". */
bool language_is_interpreter_file(const char *module);
/* What a function of an interpreted program belongs to. */
enum language_file { LANGUAGE_FILE_PROGRAM, LANGUAGE_FILE_PACKAGE, LANGUAGE_FILE_LIBRARY };
/* Returns what a function of the source file with this path belongs to, by the tables of all
 * languages. */
enum language_file language_file_kind(const char *function, const char *path);

/*
 * Returns the role of the native function according to the first language that knows it;
 * PLUMBING_NONE if none does. `interpreter`: the function is in a module of an interpreter, where
 * names with is_common count, too.
 */
enum plumbing language_plumbing(const char *function, bool interpreter);
/* Returns true when the function only suspends a task. `function` is NULL if it has no name; then
 * `module`, its module's name, decides. */
bool language_only_parks(const char *function, const char *module);
/* Returns true for the lock_functions of all languages: they take a lock and then return. */
bool language_takes_lock(const char *function);
/* Returns true for the wait_functions of all languages: they lead to a system call that waits. */
bool language_waits(const char *function);
/* Return true for the accept_functions, and for the connect_functions, of all languages. */
bool language_accepts(const char *function);
bool language_connects(const char *function);
/* Returns the number of the row of the compiled language whose runtime has the function; -1: there
 * is none. */
int language_of_runtime(const char *function);
/* Returns the length of the part of a function's name that is its package; 0 for a function of a
 * language's runtime. To be called for functions of tasks. */
size_t language_package(const char *function);
/* Returns true for a function that a compiler wraps around the first function of a task. */
bool language_is_wrapper(const char *function);

#endif
