/* SPDX-License-Identifier: MIT */
/*
 * dwarf_paths.h - source files of a unit with the directory it was compiled in before them.
 */
#ifndef WALLSAMPLE_DWARF_DWARF_PATHS_H
#define WALLSAMPLE_DWARF_DWARF_PATHS_H

#include <elfutils/libdw.h>

struct dwarf_paths;

/* For the unit with this top entry. */
struct dwarf_paths *dwarf_paths_create(Dwarf_Die *top);
void dwarf_paths_free(struct dwarf_paths *paths);
/*
 * A file's name as libdw gives it, the same pointer for the same file: joined when it is
 * relative. NULL when it is not known. Valid until dwarf_paths_free.
 */
const char *dwarf_paths_join(struct dwarf_paths *paths, const char *name);

#endif
