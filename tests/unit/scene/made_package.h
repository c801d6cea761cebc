/* SPDX-License-Identifier: MIT */
/*
 * made_package.h - packs .dwo files into a package (.dwp). The tools for that, dwp of binutils 2.40
 * and llvm-dwp of LLVM 14 to 19, fail with the DWARF 5 of gcc 12.
 */
#ifndef WALLSAMPLE_MADE_PACKAGE_H
#define WALLSAMPLE_MADE_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>

#define MADE_PACKAGE_UNITS 64

/* Writes a package. Returns false when a file cannot be read or written, or when a .dwo file does
 * not have one unit, or its unit has another version than the first. */
bool made_package_write(const char *path, const char *const *dwo, size_t count);

#endif
