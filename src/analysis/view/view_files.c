/* SPDX-License-Identifier: MIT */
/*
 * view_files.c - short names of source files, and functions that only the path of their file
 * distinguishes.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/view/view_internal.h"
#include "wallsample/runtime/language.h"

/* Kinds of keys of source_files.known. */
enum { KEY_FILE, KEY_PATH };

/* --- paths ----------------------------------------------------------------------------------- */

/* False for a text such as "<string>", and for the path of a directory. */
static bool
is_file_path(const char *text)
{
	return text[0] != '\0' && text[0] != '<' && text[strlen(text) - 1] != '/';
}

/*
 * Adds a path without empty parts, "." and "..": "./nptl/../csu/start.c" is "csu/start.c". A text
 * that is no path is added unchanged.
 */
static void
add_normal_path(struct strbuf *out, const char *path)
{
	const size_t root = path[0] == '/';
	size_t kept = 0; /* parts in `out` that ".." can remove */

	if (!is_file_path(path)) {
		strbuf_add_text(out, path);
		return;
	}
	strbuf_add(out, path, root);
	while (*(path += strspn(path, "/")) != '\0') {
		const size_t length = strcspn(path, "/");
		const bool up = length == 2 && memcmp(path, "..", 2) == 0;

		if (up && kept > 0) {
			while (out->length > root && out->data[--out->length] != '/')
				;
			out->data[out->length] = '\0';
			kept--;
		} else if (length != 1 || path[0] != '.') {
			strbuf_add_text(out, out->length > root ? "/" : "");
			strbuf_add(out, path, length);
			kept += !up;
		}
		path += length;
	}
}

/* True if a part of the path, such as the name of a directory, begins at this offset. */
static bool
begins_part(const char *path, size_t at)
{
	return at == 0 || path[at - 1] == '/';
}

/* Returns the length in bytes of the longest end, of whole parts, that both paths have. */
static size_t
common_end(const char *a, const char *b)
{
	const size_t length_a = strlen(a), length_b = strlen(b);
	size_t common = 0;

	for (size_t n = 1; n <= length_a && n <= length_b; n++) {
		if (a[length_a - n] != b[length_b - n])
			break;
		if (begins_part(a, length_a - n) && begins_part(b, length_b - n))
			common = n;
	}
	return common;
}

/* Returns the offset of the end of the path that has one part more than its last `length` bytes. */
static size_t
extend_end(const char *path, size_t length)
{
	size_t at = strlen(path) - length;

	at -= length > 0 && at > 0; /* the '/' before these bytes */
	while (!begins_part(path, at))
		at--;
	return at;
}

/* --- short names ------------------------------------------------------------------------------ */

/* Orders paths by their parts, the last one first: paths with equal ends are adjacent. */
static int
compare_ends(const void *left, const void *right)
{
	const char *a = (*(struct source_file *const *)left)->path;
	const char *b = (*(struct source_file *const *)right)->path;
	size_t at_a = strlen(a), at_b = strlen(b);

	while (at_a > 0 && at_b > 0 && a[at_a - 1] == b[at_b - 1]) {
		at_a--;
		at_b--;
	}
	if (at_a == 0 || at_b == 0)
		return (at_a > 0) - (at_b > 0);
	/* A part that ends is less than one that continues. */
	if (a[at_a - 1] == '/' || b[at_b - 1] == '/')
		return a[at_a - 1] == '/' ? -1 : 1;
	return a[at_a - 1] < b[at_b - 1] ? -1 : 1;
}

/* Sets the short name, which has more than the `common` last bytes that another path has, too. */
static void
shorten(struct naming *naming, struct source_file *file, size_t common)
{
	const char *path = file->path;
	size_t at = is_file_path(path) ? extend_end(path, common) : 0;

	/* Many programs have files of these names: the directory is a part of the name. */
	if (at > 1 && language_file_is_common(path + at))
		at = extend_end(path, strlen(path + at));
	file->name = strings_text(naming->view->texts,
				  strings_intern(naming->view->texts, path + at));
}

static void
shorten_all(struct naming *naming)
{
	struct source_files *files = &naming->files;
	struct source_file **sorted = xcalloc(files->count + 1, sizeof(struct source_file *));

	for (size_t i = 0; i < files->count; i++)
		sorted[i] = &files->file[i];
	if (files->count > 1)
		qsort(sorted, files->count, sizeof(struct source_file *), compare_ends);
	for (size_t i = 0; i < files->count; i++) {
		const size_t before = i == 0 ? 0 : common_end(sorted[i - 1]->path, sorted[i]->path);
		const size_t after = i + 1 == files->count ?
					     0 :
					     common_end(sorted[i]->path, sorted[i + 1]->path);

		shorten(naming, sorted[i], before > after ? before : after);
	}
	free(sorted);
}

/* Adds the file of a symbol to naming->files. Equal paths are one file. */
static void
note_file(struct naming *naming, const char *text)
{
	struct source_files *files = &naming->files;
	struct strings *texts = naming->view->texts;
	bool added;
	const char *path;
	uint32_t number;

	if (table_find(&files->known, (uintptr_t)text, KEY_FILE, &number))
		return;
	strbuf_clear(&naming->scratch);
	strbuf_add_text(&naming->scratch, "");
	add_normal_path(&naming->scratch, text);
	path = strings_text(texts, strings_intern(texts, naming->scratch.data));
	number = *table_insert(&files->known, (uintptr_t)path, KEY_PATH, (uint32_t)files->count,
			       &added);
	if (added) {
		files->file = xgrow(files->file, &files->capacity, files->count + 1,
				    sizeof(*files->file));
		files->file[files->count++] = (struct source_file){ .path = path };
	}
	table_insert(&files->known, (uintptr_t)text, KEY_FILE, number, NULL);
}

const struct source_file *
view_file(const struct naming *naming, const char *file)
{
	uint32_t number = 0;

	table_find(&naming->files.known, (uintptr_t)file, KEY_FILE, &number);
	return &naming->files.file[number];
}

/* --- functions of the same name --------------------------------------------------------------- */

static const char *
base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

bool
view_is_homonym(const struct naming *naming, const struct symbol *symbol)
{
	uint32_t number;

	return symbol->file != NULL &&
	       table_find(&naming->files.group, (uintptr_t)symbol->function,
			  (uintptr_t)symbol->module, &number) &&
	       naming->files.split[number];
}

/*
 * Finds the names in a module that stand for several functions: their code is in two files with the
 * same base name. Code in files with different base names may be of one function, such as that of a
 * parser generator or with an included file.
 */
static void
find_homonyms(struct naming *naming)
{
	struct source_files *files = &naming->files;
	struct table first = { 0 }; /* (group; base name) -> file of the first symbol */

	files->split = xcalloc(naming->symbol_count + 1, sizeof(*files->split));
	for (size_t i = 0; i < naming->symbol_count; i++) {
		const struct symbol *symbol = &naming->symbol[i];
		const struct source_file *file;
		uint32_t group, number, base;

		if (symbol->file == NULL)
			continue;
		file = view_file(naming, symbol->file);
		number = (uint32_t)(file - files->file);
		group = *table_insert(&files->group, (uintptr_t)symbol->function,
				      (uintptr_t)symbol->module, (uint32_t)files->group.count,
				      NULL);
		base = strings_intern(naming->view->texts, base_of(file->path));
		files->split[group] |= *table_insert(&first, group, base, number, NULL) != number;
	}
	table_release(&first);
}

void
view_find_files(struct naming *naming)
{
	for (size_t i = 0; i < naming->symbol_count; i++)
		if (naming->symbol[i].file != NULL)
			note_file(naming, naming->symbol[i].file);
	shorten_all(naming);
	find_homonyms(naming);
}

/* --- labels ----------------------------------------------------------------------------------- */

static bool
has_file_place(const struct view_function *function)
{
	return function->place[0] != '\0' &&
	       (function->script || function->place != function->module);
}

void
view_make_labels(struct naming *naming)
{
	struct view *view = naming->view;
	struct table place = { 0 }, many = { 0 }; /* (name; 0) -> first function; (name; 0) -> 0 */

	for (uint32_t i = 0; i < view->function_count; i++) {
		const struct view_function *function = &view->function[i];
		const uint32_t first = *table_insert(&place, (uintptr_t)function->name, 0, i, NULL);

		if (view->function[first].place != function->place)
			table_insert(&many, (uintptr_t)function->name, 0, 0, NULL);
	}
	for (size_t i = 0; i < view->function_count; i++) {
		struct view_function *function = &view->function[i];
		uint32_t unused;

		if (!has_file_place(function) ||
		    !table_find(&many, (uintptr_t)function->name, 0, &unused))
			continue;
		strbuf_clear(&naming->scratch);
		strbuf_add_format(&naming->scratch, "%s (%s)", function->name, function->place);
		function->label = strings_text(view->texts,
					       strings_intern(view->texts, naming->scratch.data));
	}
	table_release(&place);
	table_release(&many);
}

void
view_release_files(struct source_files *files)
{
	table_release(&files->known);
	table_release(&files->group);
	free(files->file);
	free(files->split);
}
