/* SPDX-License-Identifier: MIT */
/*
 * unread.c - runtimes that are not read: the list of messages about them, and the interpreters of
 * languages of which wallsample reads nothing.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/runtime_kind_internal.h"
#include "wallsample/process/module.h"

/* Most messages of one list. */
#define UNREAD_MOST 16

/* --- messages ---------------------------------------------------------------------------- */

void
unread_add(struct unread_list *list, const struct log *log, const char *fmt, ...)
{
	char text[768];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->text[i], text) == 0)
			return;
	if (list->count == UNREAD_MOST)
		return;
	list->text = xgrow(list->text, &list->capacity, list->count + 1, sizeof(*list->text));
	list->text[list->count++] = xstrdup(text);
	log_say(log, LOG_NORMAL, "%s", text);
}

const char *
unread_text(const struct unread_list *list, size_t index)
{
	return index < list->count ? list->text[index] : NULL;
}

void
unread_release(struct unread_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->text[i]);
	free(list->text);
	*list = (struct unread_list){ .text = NULL };
}

/* --- interpreters of other languages ------------------------------------------------------ */

/*
 * `functions`: what is not shown. `file`: the name of the interpreter's file, of a library and of a
 * program, up to its version and the suffix ".so". Of rows with the same first word of `functions`
 * the first that is found is reported: Eclipse OpenJ9 has a libjvm.so, too.
 */
static const struct {
	const char *functions, *interpreter, *file;
} interpreters[] = {
	{ "Ruby functions", "Ruby", "libruby" },
	{ "Ruby functions", "Ruby", "ruby" },
	{ "Perl functions", "Perl", "libperl" },
	{ "Perl functions", "Perl", "perl" },
	{ "PHP functions", "PHP", "libphp" },
	{ "PHP functions", "PHP", "php" },
	{ "PHP functions", "PHP", "php-fpm" },
	{ "PHP functions", "PHP", "php-cgi" },
	{ "Java methods", "OpenJ9", "libj9vm" },
	{ "Java methods that are interpreted", "HotSpot", "libjvm" },
	{ "Lua functions", "LuaJIT", "libluajit" },
	{ "Lua functions", "LuaJIT", "luajit" },
	{ "Lua functions", "Lua", "liblua" },
	{ "Lua functions", "Lua", "lua" },
	{ "Erlang functions", "BEAM", "beam.smp" },
	{ "R functions", "R", "libR" },
};

/* Returns true when `file` is followed by at most a version and the suffix ".so", as in
 * "libruby-3.1.so.3.1". */
static bool
is_file_of(const char *name, const char *file)
{
	const size_t length = strlen(file);
	const char *rest = name + length;

	if (strncmp(name, file, length) != 0)
		return false;
	rest += strspn(rest, "-.0123456789");
	if (rest[-1] == '.' && strncmp(rest, "so", 2) == 0)
		rest += 2 + strspn(rest + 2, ".0123456789");
	return *rest == '\0';
}

/* Returns the name of a mapped module that is the interpreter's file; NULL: there is none. */
static const char *
find_file(const struct maps *maps, const char *file)
{
	for (size_t i = 0; i < maps_count(maps); i++) {
		const struct module *module = modules_at(maps_modules(maps),
							 maps_at(maps, i)->module);

		if ((module->kind == MODULE_FILE || module->kind == MODULE_OTHER) &&
		    is_file_of(module->name, file))
			return module->name;
	}
	return NULL;
}

static bool
is_same_language(const char *functions, const char *other)
{
	const size_t length = strcspn(functions, " ");

	return strcspn(other, " ") == length && memcmp(functions, other, length) == 0;
}

void
unread_find_interpreters(struct unread_list *list, const struct runtimes_config *config)
{
	const char *done = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(interpreters); i++) {
		const char *functions = interpreters[i].functions;
		const char *name = find_file(config->maps, interpreters[i].file);

		if (name == NULL || (done != NULL && is_same_language(done, functions)))
			continue;
		done = functions;
		unread_add(list, config->log, "%s are not shown: wallsample does not read %s (%s)",
			   functions, interpreters[i].interpreter, name);
	}
}
