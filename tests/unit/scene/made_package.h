/* SPDX-License-Identifier: MIT */
/*
 * made_package.h - puts .dwo files into a package (.dwp): dwp of binutils 2.40 and llvm-dwp
 * of LLVM 14 to 19 do not get through with what gcc 12 writes as DWARF 5.
 */
#ifndef WALLSAMPLE_MADE_PACKAGE_H
#define WALLSAMPLE_MADE_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>

#define MADE_PACKAGE_UNITS 64

/* False: a file cannot be read or written, or is none with one unit of the same version. */
bool made_package_write(const char *path, const char *const *dwo, size_t count);

#endif
