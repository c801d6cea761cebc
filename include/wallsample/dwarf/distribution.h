/* SPDX-License-Identifier: MIT */
/* distribution.h - where this system's distribution provides the symbols of its programs. */
#ifndef WALLSAMPLE_DWARF_DISTRIBUTION_H
#define WALLSAMPLE_DWARF_DISTRIBUTION_H

#include <stddef.h>

#include "wallsample/base/base.h"

/* Returns the URL of the distribution's debuginfod server. If none is known, it is the URL of the
 * elfutils server, which serves many distributions. */
const char *distribution_debuginfod(void);

/*
 * Stores in package[i] the debug package of the file path[i], "nginx-dbgsym", which the caller
 * frees; NULL if the file belongs to no package, or the distribution does not use dpkg(1). Reads
 * the lists of files of all packages: 10 ms for 1,100 packages.
 */
void distribution_find_debug_packages(const char *const *path, size_t count, char **package);

#endif
