/* SPDX-License-Identifier: MIT */
/*
 * symbol_names_internal.h - a bound for the output of a demangler.
 */
#ifndef WALLSAMPLE_ELF_SYMBOL_NAMES_INTERNAL_H
#define WALLSAMPLE_ELF_SYMBOL_NAMES_INTERNAL_H

#include <stddef.h>

/*
 * Upper bound of the bytes of a demangled D name; SIZE_MAX when it exceeds a size_t. It may be
 * too large for names with many back references.
 */
size_t d_name_size(const char *name);

#endif
