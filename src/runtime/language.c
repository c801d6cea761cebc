/* SPDX-License-Identifier: MIT */
/* language.c - answers questions about functions and runtimes from all rows of languages[]. */
#include "wallsample/runtime/language.h"

#include <string.h>

#include "runtime/runtime_kind_internal.h"

#define FOR_EACH_LANGUAGE(language)                                                                \
	for (const struct runtime_language *const *row = languages, *language;                     \
	     (language = *row) != NULL; row++)

/* Patterns (language.h) of the functions that are PLUMBING_START: main, and functions of glibc and
 * musl that begin a process or a thread. */
/* clang-format off */
static const char *const start_functions[] = {
	"main", "_start", "_start_c", "__libc_start_main*", "__libc_start_call_main",
	"generic_start_main", "libc_start_main_stage2", "start_thread", "start", "clone",
	"__clone", "clone3", "__clone3", "__GI___clone*",
};
/* clang-format on */

int
language_by_name(const char *name)
{
	for (int i = 0; languages[i] != NULL; i++)
		if (strcmp(languages[i]->name, name) == 0)
			return i;
	return -1;
}

/* Returns the name of the language that follows the name `last` in alphabetical order, or NULL if
 * `last` is the last one. */
static const char *
language_name_after(const char *last)
{
	const char *next = NULL;

	FOR_EACH_LANGUAGE(language)
	if (strcmp(language->name, last) > 0 && (next == NULL || strcmp(language->name, next) < 0))
		next = language->name;
	return next;
}

void
language_add_names(struct strbuf *to)
{
	const char *name = "";

	for (size_t i = 0; (name = language_name_after(name)) != NULL; i++)
		strbuf_add_format(to, "%s%s", i > 0 ? ", " : "", name);
}

/* Returns true when one of the descriptions in `runtimes`, which are separated by "; ", begins with
 * the word language->engine. */
static bool
language_is_described(const struct runtime_language *language, const char *runtimes)
{
	const size_t length = strlen(language->engine);

	for (const char *at = runtimes; at != NULL; at = strchr(at, ';')) {
		at += strspn(at, "; ");
		if (strncmp(at, language->engine, length) == 0)
			return true;
	}
	return false;
}

void
language_add_titles(struct strbuf *to, const char *runtimes)
{
	size_t count = 0;

	FOR_EACH_LANGUAGE(language)
	if (language->kind->merge != NULL && language_is_described(language, runtimes))
		strbuf_add_format(to, "%s%s", count++ > 0 ? " and " : "", language->title);
	if (count == 0)
		strbuf_add_text(to, "an interpreted language");
}

const char *
language_lock(const char *runtimes)
{
	const char *first = NULL;

	FOR_EACH_LANGUAGE(language)
	{
		if (language->lock == NULL)
			continue;
		if (language_is_described(language, runtimes))
			return language->lock;
		first = first == NULL ? language->lock : first;
	}
	return first;
}

bool
language_is_marker(const char *text)
{
	FOR_EACH_LANGUAGE(language)
	if (language->marker != NULL &&
	    strncmp(text, language->marker, strlen(language->marker)) == 0)
		return true;
	return false;
}

bool
language_is_root(const char *text)
{
	FOR_EACH_LANGUAGE(language)
	if (language->root != NULL && strcmp(language->root, text) == 0)
		return true;
	return false;
}

bool
language_file_is_common(const char *name)
{
	FOR_EACH_LANGUAGE(language)
	if (language->common_files != NULL && language_names_match(language->common_files, name))
		return true;
	return false;
}

bool
language_is_interpreter_file(const char *module)
{
	FOR_EACH_LANGUAGE(language)
	if (language->plumbing_count > 0 && strstr(module, language->name) != NULL)
		return true;
	return false;
}

static bool
has_part(const char *path, const char *const *parts)
{
	for (; parts != NULL && *parts != NULL; parts++)
		if (strstr(path, *parts) != NULL)
			return true;
	return false;
}

enum language_file
language_file_kind(const char *function, const char *path)
{
	FOR_EACH_LANGUAGE(language)
	if (has_part(path, language->package_files) ||
	    (language->is_launcher != NULL && language->is_launcher(function, path)))
		return LANGUAGE_FILE_PACKAGE;
	for (size_t i = 0; languages[i] != NULL; i++)
		if (has_part(path, languages[i]->library_files))
			return LANGUAGE_FILE_LIBRARY;
	return LANGUAGE_FILE_PROGRAM;
}

/* --- native functions -------------------------------------------------------------------- */

enum plumbing
language_plumbing(const char *function, bool interpreter)
{
	/* The part from the first '.' or '@' on is not compared: "call.isra.0", "call@plt",
	 * "clone@@GLIBC_2.2.5". */
	const size_t length = strcspn(function, ".@");

	FOR_EACH_LANGUAGE(language)
	for (size_t i = 0; i < language->plumbing_count; i++)
		if ((interpreter || !language->plumbing[i].is_common) &&
		    language_name_matches(language->plumbing[i].name, function, length))
			return language->plumbing[i].plumbing;
	for (size_t i = 0; i < ARRAY_SIZE(start_functions); i++)
		if (language_name_matches(start_functions[i], function, length))
			return PLUMBING_START;
	FOR_EACH_LANGUAGE(language)
	if (language->is_trampoline != NULL && language->is_trampoline(function))
		return PLUMBING_CALL;
	return PLUMBING_NONE;
}

bool
language_only_parks(const char *function, const char *module)
{
	FOR_EACH_LANGUAGE(language)
	if (function != NULL ?
		    language->only_parks != NULL && language->only_parks(function) :
		    language->module_only_parks != NULL && language->module_only_parks(module))
		return true;
	return false;
}

/* Returns true if a list of a language, at this offset of struct runtime_language, has the
 * function. */
static bool
lists_have(size_t offset, const char *function)
{
	const char *const *list;

	FOR_EACH_LANGUAGE(language)
	{
		memcpy(&list, (const char *)language + offset, sizeof(list));
		if (list != NULL && language_names_match(list, function))
			return true;
	}
	return false;
}

bool
language_takes_lock(const char *function)
{
	return lists_have(offsetof(struct runtime_language, lock_functions), function);
}

bool
language_waits(const char *function)
{
	return lists_have(offsetof(struct runtime_language, wait_functions), function);
}

bool
language_accepts(const char *function)
{
	return lists_have(offsetof(struct runtime_language, accept_functions), function);
}

bool
language_connects(const char *function)
{
	return lists_have(offsetof(struct runtime_language, connect_functions), function);
}

int
language_of_runtime(const char *function)
{
	for (int i = 0; languages[i] != NULL; i++)
		if (languages[i]->program != NULL && languages[i]->program->is_runtime(function))
			return i;
	return -1;
}

size_t
language_package(const char *function)
{
	if (language_of_runtime(function) >= 0)
		return 0;
	FOR_EACH_LANGUAGE(language)
	if (language->program != NULL)
		return language->program->package(function);
	return 0;
}

bool
language_is_wrapper(const char *function)
{
	FOR_EACH_LANGUAGE(language)
	if (language->program != NULL && language->program->is_wrapper(function))
		return true;
	return false;
}
