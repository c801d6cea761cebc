/* SPDX-License-Identifier: MIT */
/*
 * dwarf_split.h - from a skeleton unit to its split unit in a .dwo file.
 */
#ifndef WALLSAMPLE_DWARF_DWARF_SPLIT_H
#define WALLSAMPLE_DWARF_DWARF_SPLIT_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/* The top entry of the split unit; false when `top` has none, or its file cannot be had. */
bool dwarf_split_find(const Dwarf_Die *top, Dwarf_Die *split);

#endif
