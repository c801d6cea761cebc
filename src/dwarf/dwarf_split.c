/* SPDX-License-Identifier: MIT */
/*
 * dwarf_split.c - split DWARF: libdw opens the .dwo file, and is kept from what is not a file.
 */
#include "wallsample/dwarf/dwarf_entries.h"

#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* libdw opens any kind of file with the name, and would wait forever for the writer of a FIFO. */
static bool
is_no_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

static const char *
text_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr(die, name, &attribute));
}

static bool
may_open(Dwarf_Die *top)
{
	const char *name = text_of(top, DW_AT_dwo_name);
	const char *directory = text_of(top, DW_AT_comp_dir);
	char path[PATH_MAX];
	int length;

	if (name == NULL)
		name = text_of(top, DW_AT_GNU_dwo_name);
	if (name == NULL)
		return false;
	if (name[0] == '/' || directory == NULL)
		return !is_no_file(name);
	length = snprintf(path, sizeof(path), "%s/%s", directory, name);
	return length > 0 && (size_t)length < sizeof(path) && !is_no_file(path);
}

bool
dwarf_split_find(const Dwarf_Die *top, Dwarf_Die *split)
{
	Dwarf_Die die = *top;
	uint8_t type;

	memset(split, 0, sizeof(*split));
	if (dwarf_cu_info(top->cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) != 0 ||
	    type != DW_UT_skeleton || !may_open(&die))
		return false;
	return dwarf_cu_info(top->cu, NULL, NULL, NULL, split, NULL, NULL, NULL) == 0 &&
	       split->addr != NULL;
}
