/* SPDX-License-Identifier: MIT */
/*
 * debug_info.c - opens the DWARF of one module, and all that belongs to it.
 */
#include "wallsample/dwarf/debug_file.h"

#include <stdlib.h>

struct debug_info {
	struct debug_files *files;
	struct debug_file file;
	Dwarf *dwarf;
};

struct debug_info *
debug_info_open(const struct module *module, const struct debug_files_config *config)
{
	struct debug_info *info = xcalloc(1, sizeof(*info));

	info->files = debug_files_create(config);
	debug_file_open(info->files, module, &info->file);
	info->dwarf = debug_file_dwarf(info->files, &info->file);
	if (info->dwarf != NULL)
		return info;
	debug_info_close(info);
	return NULL;
}

Dwarf *
debug_info_dwarf(const struct debug_info *info)
{
	return info->dwarf;
}

void
debug_info_close(struct debug_info *info)
{
	if (info == NULL)
		return;
	if (info->dwarf != NULL)
		debug_file_dwarf_end(info->files, &info->file, info->dwarf);
	debug_file_close(&info->file);
	debug_files_free(info->files);
	free(info);
}
