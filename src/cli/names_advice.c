/* SPDX-License-Identifier: MIT */
/* names_advice.c - says how to get names that a report lacks. */
#include "cli/names_advice_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "wallsample/analysis/result.h"
#include "wallsample/dwarf/distribution.h"
#include "wallsample/jit/jit_advice.h"

/* Maximum number of debug packages that are named. */
#define PACKAGES_MOST 5

/* Adds where the names of functions in files are: debug packages, or a debuginfod server. */
static void
add_files_advice(struct strbuf *hint, const struct strbuf *packages, enum debuginfod_state servers)
{
	strbuf_add_format(hint, "Names come with the debug packages of these files (%s)",
			  packages->length > 0 ? packages->data : "-dbgsym, -debuginfo");
	switch (servers) {
	case DEBUGINFOD_NOT_BUILT:
		strbuf_add_text(hint, ".");
		return;
	case DEBUGINFOD_NOT_WANTED:
		strbuf_add_format(hint, ", or with DEBUGINFOD_URLS=%s and --debuginfod=net.",
				  distribution_debuginfod());
		return;
	case DEBUGINFOD_NO_ADDRESS:
		strbuf_add_format(hint, ", or with DEBUGINFOD_URLS=%s, which is not set now.",
				  distribution_debuginfod());
		return;
	case DEBUGINFOD_UNUSABLE:
		strbuf_add_text(hint, "; no server was asked: libdebuginfod cannot be used here.");
		return;
	case DEBUGINFOD_GIVEN_UP:
		strbuf_add_text(hint, "; the servers of $DEBUGINFOD_URLS were not asked further: a "
				      "request failed or took too long.");
		return;
	case DEBUGINFOD_IN_USE:
		strbuf_add_text(hint, "; the files on the servers of $DEBUGINFOD_URLS do not name "
				      "these frames.");
		return;
	}
}

/* --- the advice -------------------------------------------------------------------------- */

static bool
is_generated(const struct export_input *input, const struct unnamed_row *row)
{
	const struct module *module = modules_get(input->modules, row->module_id);

	return module != NULL && module->kind == MODULE_ANONYMOUS;
}

/* Returns the row of the module with the most time in nameless innermost functions. The table is
 * not empty. */
static const struct unnamed_row *
main_row(const struct unnamed_table *unnamed)
{
	const struct unnamed_row *most = NULL;

	for (size_t i = 0; i < unnamed->count; i++)
		if (most == NULL || unnamed->row[i].flat[WEIGHT_WALL] > most->flat[WEIGHT_WALL])
			most = &unnamed->row[i];
	return most;
}

/* True if the file that the process has mapped is the one at its path here, and not one of a
 * container. */
static bool
is_file_here(const struct module *module)
{
	struct stat info;

	return module != NULL && module->kind == MODULE_FILE && module->path[0] == '/' &&
	       lstat(module->path, &info) == 0 && S_ISREG(info.st_mode) &&
	       info.st_dev == (dev_t)module->dev && info.st_ino == (ino_t)module->inode;
}

/* The debug packages of modules with nameless functions. */
struct packages {
	const struct unnamed_row *row[PACKAGES_MOST];
	const char *path[PACKAGES_MOST];
	char *name[PACKAGES_MOST]; /* NULL: the file belongs to no package */
	size_t count;
};

static void
add_path(const struct export_input *input, const struct unnamed_row *row, struct packages *to)
{
	const struct module *module = modules_get(input->modules, row->module_id);

	if (to->count == PACKAGES_MOST || !is_file_here(module))
		return;
	to->row[to->count] = row;
	to->path[to->count++] = module->path;
}

/* Finds the package of the module of `most`, and of others in the order of the table. */
static void
find_packages(const struct export_input *input, const struct unnamed_table *unnamed,
	      const struct unnamed_row *most, struct packages *out)
{
	add_path(input, most, out);
	for (size_t i = 0; i < unnamed->count; i++)
		if (&unnamed->row[i] != most)
			add_path(input, &unnamed->row[i], out);
	if (out->count > 0)
		distribution_find_debug_packages(out->path, out->count, out->name);
}

/* Adds each package once. */
static void
list_packages(const struct packages *packages, struct strbuf *out)
{
	for (size_t i = 0; i < packages->count; i++) {
		bool known = packages->name[i] == NULL;

		for (size_t j = 0; j < i && !known; j++)
			known = packages->name[j] != NULL &&
				strcmp(packages->name[i], packages->name[j]) == 0;
		if (!known)
			strbuf_add_format(out, "%s%s", out->length > 0 ? ", " : "",
					  packages->name[i]);
	}
}

/* Adds part of a sentence about the module with the most time; nothing if there is no advice. */
static void
add_brief(const struct unnamed_row *most, const struct packages *packages, struct strbuf *out)
{
	for (size_t i = 0; i < packages->count; i++)
		if (packages->row[i] == most && packages->name[i] != NULL)
			strbuf_add_format(out, "names are in %s", packages->name[i]);
}

/* Takes the text of `sb`; NULL if it is empty. */
static char *
take(struct strbuf *sb)
{
	char *text = sb->length > 0 ? sb->data : NULL;

	if (text == NULL)
		strbuf_release(sb);
	return text;
}

void
names_advice_make(const struct export_input *input, enum debuginfod_state servers, bool looks,
		  struct names_advice *out)
{
	struct strbuf list = STRBUF_INIT, files = STRBUF_INIT, generated = STRBUF_INIT,
		      brief = STRBUF_INIT;
	struct packages packages = { .count = 0 };
	struct unnamed_table unnamed;
	const struct unnamed_row *most;
	bool any = false;

	*out = (struct names_advice){ .files = NULL };
	if (!looks || input->modules == NULL)
		return;
	unnamed_table_make(input->view, &unnamed);
	if (unnamed.count == 0)
		return;
	most = main_row(&unnamed);
	for (size_t i = 0; i < unnamed.count; i++)
		any |= is_generated(input, &unnamed.row[i]);
	if (any)
		(void)jit_add_advice(input->modules,
				     export_is_live(input) ? input->process->pid : 0, &generated);
	/* A recording may be of another machine. */
	if (input->note == NULL)
		find_packages(input, &unnamed, most, &packages);
	list_packages(&packages, &list);
	add_files_advice(&files, &list, servers);
	if (is_generated(input, most) && generated.length > 0)
		strbuf_add_text(&brief, generated.data);
	else
		add_brief(most, &packages, &brief);
	for (size_t i = 0; i < packages.count; i++)
		free(packages.name[i]);
	strbuf_release(&list);
	free(unnamed.row);
	out->files = take(&files);
	out->generated = take(&generated);
	out->brief = take(&brief);
}

void
names_advice_release(struct names_advice *advice)
{
	free(advice->files);
	free(advice->generated);
	free(advice->brief);
}
