/* SPDX-License-Identifier: MIT */
/*
 * python_structures.h - structures that are called as those of CPython, of no version that there
 * ever was: their DWARF is in this program, and the compiler knows where the members are.
 */
#ifndef TEST_PYTHON_STRUCTURES_H
#define TEST_PYTHON_STRUCTURES_H

#include "runtime/python/python_find_internal.h"

/* As in 3.11, with references traced; `version` is that. */
void python_structures_old(struct python_layout *expected);
/* As in 3.14, without a global lock. */
void python_structures_new(struct python_layout *expected);

#endif
