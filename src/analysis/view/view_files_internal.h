/* SPDX-License-Identifier: MIT */
/*
 * view_files_internal.h - short names of source files, and functions that only the path of their
 * file distinguishes. `struct naming` is in view_internal.h.
 */
#ifndef WALLSAMPLE_ANALYSIS_VIEW_VIEW_FILES_INTERNAL_H
#define WALLSAMPLE_ANALYSIS_VIEW_VIEW_FILES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "wallsample/base/table.h"
#include "wallsample/symbol/symbol.h"

struct naming;

/* A source file. */
struct source_file {
	/* Path without "." and "..", interned in view->texts: equal paths have equal pointers. */
	const char *path;
	/* The shortest end of the path, of whole parts, that no other file has: "alpha/util.c".
	 * At least the directory and the base name if language_file_is_common(). */
	const char *name;
};

struct source_files {
	struct table known; /* (text of a symbol's file or of a path; which of them) -> file */
	struct source_file *file;
	size_t count, capacity;
	struct table group; /* (name of a function; module) -> number of this pair */
	bool *split;        /* indexed by this number: see view_is_homonym() */
};

/* Fills naming->files from the symbols of all frames, which must be complete. */
void view_find_files(struct naming *naming);
void view_release_files(struct source_files *files);
/* Returns the file of a symbol; `file` is the member of that symbol and not NULL. */
const struct source_file *view_file(const struct naming *naming, const char *file);
/*
 * True if the path of the symbol's file distinguishes its function from another one: symbols of its
 * name and module are in two files with the same base name, such as static functions of C.
 */
bool view_is_homonym(const struct naming *naming, const struct symbol *symbol);
/* Sets view_function.label of functions whose name another function of the view has. */
void view_make_labels(struct naming *naming);

#endif
