/* SPDX-License-Identifier: MIT */
/*
 * debug_file_package_internal.h - the package with a module's split units (.dwp), and units out
 * of it.
 */
#ifndef WALLSAMPLE_DWARF_DEBUG_FILE_PACKAGE_INTERNAL_H
#define WALLSAMPLE_DWARF_DEBUG_FILE_PACKAGE_INTERNAL_H

#include "dwarf/debug_file_internal.h"

struct debug_package;

/*
 * The package of split units (.dwp) of a module: beside the debug file `separate` (NULL: there
 * is none), beside the module's file, or in a directory of debug files. NULL when there is none.
 */
struct debug_package *debug_package_find(struct debug_files *files, const struct module *module,
					 const char *separate);
void debug_package_close(struct debug_package *package);
const char *debug_package_path(const struct debug_package *package);

/*
 * A .dwo file in memory with the unit of that id, its descriptor to be closed; -1 when it is not
 * there (*why is NULL) or is damaged. What is in it nobody vouches for.
 */
int debug_package_unit(const struct debug_package *package, uint64_t id, const char **why);

#endif
