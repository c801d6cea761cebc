/* SPDX-License-Identifier: MIT */
/*
 * symbol_names.h - from the name in a symbol table to the one people wrote.
 */
#ifndef WALLSAMPLE_SYMBOL_NAMES_H
#define WALLSAMPLE_SYMBOL_NAMES_H

#include <stddef.h>

#include "wallsample/base.h"

/* Longer names are taken for damage: neither read nor made by the demangler. */
#define SYMBOL_NAME_MAX 65536

/* Length of a raw name without its version: 6 for "memcpy@@GLIBC_2.14". */
size_t symbol_name_length(const char *raw);

/*
 * Adds the readable form of a raw name: no version, C++ and Rust demangled
 * without parameters and hashes, what the compiler put behind kept (".cold",
 * ".part.0"). A name that is not mangled, or badly so, is added as it is.
 */
void symbol_name_add_readable(struct strbuf *out, const char *raw);

#endif
