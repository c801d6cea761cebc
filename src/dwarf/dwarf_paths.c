/* SPDX-License-Identifier: MIT */
/* dwarf_paths.c - joins each relative path once. */
#include "wallsample/dwarf/dwarf_entries.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

struct dwarf_paths {
	const char *directory; /* of the unit; NULL: not known */
	struct table known;    /* libdw's pointer -> number in `joined` */
	char **joined;
	size_t count, capacity;
};

struct dwarf_paths *
dwarf_paths_create(Dwarf_Die *top)
{
	struct dwarf_paths *paths = xcalloc(1, sizeof(*paths));
	Dwarf_Attribute attribute;

	table_init(&paths->known);
	paths->directory = dwarf_formstring(dwarf_attr(top, DW_AT_comp_dir, &attribute));
	return paths;
}

void
dwarf_paths_free(struct dwarf_paths *paths)
{
	if (paths == NULL)
		return;
	for (size_t i = 0; i < paths->count; i++)
		free(paths->joined[i]);
	free(paths->joined);
	table_release(&paths->known);
	free(paths);
}

static char *
join(const char *directory, const char *name)
{
	struct strbuf path;

	strbuf_init(&path);
	strbuf_add_text(&path, directory);
	strbuf_add_text(&path, "/");
	strbuf_add_text(&path, name);
	return path.data;
}

const char *
dwarf_paths_join(struct dwarf_paths *paths, const char *name)
{
	uint32_t *place;
	bool added;

	/* What libdw puts where there is no file. */
	if (name == NULL || strcmp(name, "???") == 0)
		return NULL;
	if (name[0] == '/' || paths->directory == NULL)
		return name;
	place = table_insert(&paths->known, (uintptr_t)name, 0, (uint32_t)paths->count, &added);
	if (added) {
		if (paths->count == paths->capacity)
			paths->joined = xgrow(paths->joined, &paths->capacity, paths->count + 1,
					      sizeof(*paths->joined));
		paths->joined[paths->count++] = join(paths->directory, name);
	}
	return paths->joined[*place];
}
