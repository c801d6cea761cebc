/* SPDX-License-Identifier: MIT */
/* symbol_names.h - converts names in symbol tables to the names in the source code. */
#ifndef WALLSAMPLE_ELF_SYMBOL_NAMES_H
#define WALLSAMPLE_ELF_SYMBOL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "wallsample/base/base.h"

/* Limit in bytes of raw and of demangled names. Undamaged files hardly ever have longer names. */
#define SYMBOL_NAME_MAX 65536

/* Largest sizes in bytes of a symbol table and of its names that are read; larger ones are in
 * damaged or sparse files. The largest browsers have 60 MB of symbols and 300 MB of names. */
#define SYMBOL_TABLE_SIZE_MAX (UINT64_C(256) << 20)
#define SYMBOL_NAMES_SIZE_MAX (UINT64_C(1) << 30)

/*
 * Returns the length of a name from a symbol table or from debug information, without the symbol
 * version (6 for "memcpy@@GLIBC_2.14") and without the ';' that some compilers append in debug
 * information (5 for "take!;").
 */
size_t symbol_name_length(const char *raw);

/*
 * Adds the readable form of a name: without its symbol version and, if `demangle`, demangled. C++
 * and Rust names are shown without parameters and hashes, D names as the D compiler's messages show
 * them. Suffixes of the compiler (".cold", ".part.0") are kept, except for ".llvm." and a hash. A
 * name that is not mangled, is malformed, or is too long to be demangled is added without its
 * version, cut at SYMBOL_NAME_MAX.
 *
 * The added text may contain control characters and bytes that are not UTF-8. Code that writes it
 * escapes it with strbuf_add_escaped().
 */
void symbol_name_add_readable(struct strbuf *out, const char *raw, bool demangle);

/* Returns whether the name is mangled (C++, Rust, D). */
bool symbol_name_is_mangled(const char *raw);

#endif
