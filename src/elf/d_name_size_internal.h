/* SPDX-License-Identifier: MIT */
/*
 * d_name_size_internal.h - how long the readable form of a D name can be at most.
 */
#ifndef WALLSAMPLE_ELF_D_NAME_SIZE_INTERNAL_H
#define WALLSAMPLE_ELF_D_NAME_SIZE_INTERNAL_H

#include <stddef.h>

/*
 * Bytes that a demangler may have to write for the mangled name; SIZE_MAX when they are more
 * than can be said. Never too few; too many for names with very many back references.
 */
size_t d_name_size(const char *name);

#endif
