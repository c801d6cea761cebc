/* SPDX-License-Identifier: MIT */
/*
 * symbol_names.h - from the name in a symbol table to the one people wrote.
 */
#ifndef WALLSAMPLE_ELF_SYMBOL_NAMES_H
#define WALLSAMPLE_ELF_SYMBOL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "wallsample/base/base.h"

/* Longer names are taken for damage: neither read nor made by the demangler. */
#define SYMBOL_NAME_MAX 65536

/* Length of a raw name without its version, 6 for "memcpy@@GLIBC_2.14", and without the ';' that
 * some compilers append in debug information: 5 for "take!;". */
size_t symbol_name_length(const char *raw);

/*
 * Adds the readable form of a raw name: no version; if `demangle`, C++ and Rust without
 * parameters and hashes, D as in its own messages; what the compiler put behind kept
 * (".cold", ".part.0"). A name that is not mangled, or badly so, is added as it is, cut at
 * SYMBOL_NAME_MAX.
 *
 * Names are foreign text: what is added may hold control characters and bytes that are no
 * UTF-8, as the file does. strbuf_add_foreign makes them harmless where they are written.
 */
void symbol_name_add_readable(struct strbuf *out, const char *raw, bool demangle);

/* Is it a name that only a demangler can read: C++, Rust, D? */
bool symbol_name_is_mangled(const char *raw);

#endif
