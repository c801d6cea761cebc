/* SPDX-License-Identifier: MIT */
/*
 * symbol_names_internal.h - a bound on the size of a demangled D name.
 */
#ifndef WALLSAMPLE_ELF_SYMBOL_NAMES_INTERNAL_H
#define WALLSAMPLE_ELF_SYMBOL_NAMES_INTERNAL_H

#include <stddef.h>

/*
 * Returns an upper bound of the size in bytes of a D name after demangling; SIZE_MAX when the bound
 * does not fit into a size_t. For names with many back references the bound may be far above the
 * real size.
 */
size_t d_name_size(const char *name);

#endif
