/* SPDX-License-Identifier: MIT */
/*
 * dwarf_name.h - the name of a function's entry, through what it refers to.
 */
#ifndef WALLSAMPLE_DWARF_DWARF_NAME_H
#define WALLSAMPLE_DWARF_DWARF_NAME_H

#include <elfutils/libdw.h>

/* The linkage name if it is mangled, else the name as in the source; NULL: it has none. */
const char *dwarf_name_function(const Dwarf_Die *die);

#endif
