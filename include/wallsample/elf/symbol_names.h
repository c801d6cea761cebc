/* SPDX-License-Identifier: MIT */
/* symbol_names.h - converts names in symbol tables to the names in the source code. */
#ifndef WALLSAMPLE_ELF_SYMBOL_NAMES_H
#define WALLSAMPLE_ELF_SYMBOL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "wallsample/base/base.h"

/* Limit in bytes of raw and of demangled names. Only damaged files have longer names. */
#define SYMBOL_NAME_MAX 65536

/* Returns the length of a raw name without its symbol version, 6 for "memcpy@@GLIBC_2.14", and
 * without the ';' that some compilers append in debug information: 5 for "take!;". */
size_t symbol_name_length(const char *raw);

/*
 * Adds the readable form of a raw name: without its version and, if `demangle`, demangled: C++ and
 * Rust names without parameters and hashes, D names as messages of the D compiler show them.
 * Suffixes of the compiler (".cold", ".part.0") are kept. A name that is not mangled, or is
 * malformed, is added unchanged, cut at SYMBOL_NAME_MAX.
 *
 * The added text is foreign: it may contain control characters and bytes that are not UTF-8.
 * Writers escape it with strbuf_add_escaped().
 */
void symbol_name_add_readable(struct strbuf *out, const char *raw, bool demangle);

/* Returns whether the name is mangled (C++, Rust, D). */
bool symbol_name_is_mangled(const char *raw);

#endif
