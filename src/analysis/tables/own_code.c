/* SPDX-License-Identifier: MIT */
/* own_code.c - distinguishes the program's own functions from those of libraries. */
#include "wallsample/analysis/own_code.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/process/c_library.h"
#include "wallsample/base/table.h"
#include "wallsample/runtime/language.h"

static bool
begins_with_one_of(const char *text, const char *const *beginning)
{
	for (; *beginning != NULL; beginning++)
		if (strncmp(text, *beginning, strlen(*beginning)) == 0)
			return true;
	return false;
}

bool
own_is_system_file(const char *name)
{
	static const char *const files[] = { "libc.so", "libc-", "libpthread", "ld-linux",
					     "ld-musl", "ld-2",  "[vdso]",     NULL };

	return begins_with_one_of(name, files);
}

/*
 * True for a shared library that the distribution installs. A library elsewhere is taken for a
 * part of the program. `path` is NULL if it is not known.
 */
static bool
is_library_file(const char *name, const char *path)
{
	static const char *const directories[] = { "/lib",       "/usr/lib",   "/usr/local/lib",
						   "/nix/store", "/gnu/store", NULL };

	return strstr(name, ".so") != NULL &&
	       (path == NULL || begins_with_one_of(path, directories));
}

/*
 * True for functions that are in the program's file but not the program's own: the first function
 * of a program or thread, calls through the procedure linkage table, and functions of the standard
 * library of C++ or Rust.
 */
static bool
is_library_name(const char *name)
{
	static const char *const beginnings[] = {
		"std::",    "core::",      "alloc::",      "<std::",          "<core::",
		"<alloc::", "__gnu_cxx::", "operator new", "operator delete", NULL,
	};
	static const char *const names[] = { "_start", "start_thread", "clone", "clone3" };
	const size_t length = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return begins_with_one_of(name, beginnings) || language_waits(name) ||
	       language_takes_lock(name) || (length > 4 && strcmp(name + length - 4, "@plt") == 0);
}

bool
own_is_c_library_name(const char *name)
{
	static const char *const names[] = {
		"__", "pthread_", "futex", "sem_", "mtx_", "cnd_", NULL
	};

	return begins_with_one_of(name, names) || c_library_only_calls(name);
}

/* True for code that a virtual machine has made at run time for itself, by the names that V8 and
 * HotSpot give it. */
static bool
is_stub_name(const char *name)
{
	static const char *const names[] = {
		"Builtin:", "BytecodeHandler:", "Stub:",  "RegExp:", "Interpreter",
		"I2C/C2I",  "StubRoutines",     "vtable", "itable",  NULL,
	};

	return begins_with_one_of(name, names);
}

/* What all functions of a view have in common. */
struct ranking {
	const struct modules *modules;
	struct table languages_of; /* set of modules with a compiled language's program */
	bool is_static;            /* no function is of a C library of its own file */
	bool has_scripts;          /* functions of an interpreter's program are known */
};

static enum own_rank
rank_of_script(const struct view_function *function)
{
	switch (function->file != NULL ? language_file_kind(function->name, function->file) :
					 LANGUAGE_FILE_PROGRAM) {
	case LANGUAGE_FILE_LIBRARY:
		return OWN_SCRIPT_LIBRARY;
	case LANGUAGE_FILE_PACKAGE:
		return OWN_FILE;
	default:
		return OWN_PROGRAM;
	}
}

static enum own_rank
rank_of(const struct view_function *function, const struct ranking *ranking)
{
	const struct module *module = ranking->modules != NULL ?
					      modules_get(ranking->modules, function->module_id) :
					      NULL;
	uint32_t unused;

	if (function->script)
		return rank_of_script(function);
	if (function->program)
		return OWN_PROGRAM;
	if (function->module[0] == '\0' || own_is_system_file(function->module))
		return OWN_SYSTEM;
	/* In a file with functions of a compiled language's program, `program` has all of them. */
	if (table_find(&ranking->languages_of, function->module_id, 0, &unused))
		return language_of_runtime(function->name) >= 0 ||
				       language_is_wrapper(function->name) ?
			       OWN_LIBRARY :
			       OWN_STANDARD;
	if (strcmp(function->module, "[anon]") == 0)
		return function->known && !is_stub_name(function->name) ? OWN_PROGRAM : OWN_LIBRARY;
	if (is_library_file(function->module, module != NULL ? module->path : NULL) ||
	    (ranking->has_scripts && language_is_interpreter_file(function->module)))
		return OWN_LIBRARY;
	if (!function->known)
		return OWN_UNNAMED;
	return is_library_name(function->name) ||
			       (ranking->is_static && own_is_c_library_name(function->name)) ?
		       OWN_LIBRARY :
		       OWN_FILE;
}

void
own_make(const struct view *view, const struct modules *modules, struct own *out)
{
	const size_t count = view_function_count(view);
	struct ranking ranking = { .modules = modules, .is_static = true };

	out->rank = xcalloc(count + 1, sizeof(*out->rank));
	for (uint32_t f = 0; f < count; f++) {
		const struct view_function *function = view_function(view, f);

		if (function->program && !function->script)
			table_insert(&ranking.languages_of, function->module_id, 0, 0, NULL);
		if (own_is_system_file(function->module))
			ranking.is_static = false;
		ranking.has_scripts |= function->script;
	}
	for (uint32_t f = 0; f < count; f++)
		out->rank[f] = (unsigned char)rank_of(view_function(view, f), &ranking);
	table_release(&ranking.languages_of);
}

void
own_release(struct own *own)
{
	free(own->rank);
	own->rank = NULL;
}

size_t
own_place(const struct own *own, const uint32_t *function, size_t depth)
{
	size_t best = 0;

	for (size_t i = 1; i < depth; i++) {
		const unsigned char rank = own->rank[function[i]], most = own->rank[function[best]];

		if (rank > most || (rank == most && rank == OWN_STANDARD))
			best = i;
	}
	return best;
}

bool
own_is_generated(const struct view_function *function)
{
	return !function->known && strcmp(function->module, "[anon]") == 0;
}

bool
own_is_in(const struct own *own, const struct view *view, const uint32_t *function, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		if (own->rank[function[i]] >= OWN_STANDARD ||
		    own_is_generated(view_function(view, function[i])))
			return true;
	return false;
}
