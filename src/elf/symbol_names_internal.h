/* SPDX-License-Identifier: MIT */
/*
 * symbol_names_internal.h - a bound for the output of a demangler.
 */
#ifndef WALLSAMPLE_ELF_SYMBOL_NAMES_INTERNAL_H
#define WALLSAMPLE_ELF_SYMBOL_NAMES_INTERNAL_H

#include <stddef.h>

/*
 * Returns an upper bound of the bytes of a D name when it is demangled; SIZE_MAX when the bound
 * exceeds a size_t. For names with many back references the bound may be far above the real size.
 */
size_t d_name_size(const char *name);

#endif
