/* SPDX-License-Identifier: MIT */
/*
 * python_structures.h - structures with the names of those of CPython, in layouts of no real
 * version. Their DWARF is in the test program; offsetof() gives the offsets to compare with.
 */
#ifndef TEST_PYTHON_STRUCTURES_H
#define TEST_PYTHON_STRUCTURES_H

#include "runtime/python/python_find_internal.h"

/* Sets the layout of structures like those of 3.11 with traced references, and the version 3.11. */
void python_structures_old(struct python_layout *expected);
/* Sets the layout of structures like those of 3.14 without a global lock. */
void python_structures_new(struct python_layout *expected);

#endif
