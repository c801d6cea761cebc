/* SPDX-License-Identifier: MIT */
/*
 * python_structures.h - structures with the names of those of CPython, in layouts of no real
 * version. The DWARF of the test program describes them; offsetof() gives the offsets that are
 * expected.
 */
#ifndef TEST_PYTHON_STRUCTURES_H
#define TEST_PYTHON_STRUCTURES_H

#include "runtime/python/python_find_internal.h"

/* Sets *expected to the layout of the structures that are like those of 3.11 with traced
 * references, and its version to 3.11. */
void python_structures_old(struct python_layout *expected);
/* Sets *expected to the layout of the structures that are like those of 3.14 without a global
 * lock. */
void python_structures_new(struct python_layout *expected);

#endif
