/* SPDX-License-Identifier: MIT */
/*
 * python_find_internal.h - looks for CPython in the modules of a process.
 *
 * Symbols of .dynsym, else .symtab, else the section .PyRuntime (3.11 and later) say where
 * _PyRuntime is. A module is searched once, a piece of it at a time.
 */
#ifndef WALLSAMPLE_RUNTIME_PYTHON_PYTHON_FIND_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PYTHON_PYTHON_FIND_INTERNAL_H

#include "runtime/finder_internal.h"
#include "runtime/python/python_layout_internal.h"

/* Parts of the function that executes bytecode: cold parts and clones are others. */
#define PYTHON_EVAL_MOST 8

/* One CPython in the process. */
struct python_place {
	uint32_t module;
	uint64_t runtime;        /* address of _PyRuntime in the target */
	struct python_layout layout;
	/*
	 * Where _PyEval_EvalFrameDefault is, first what its symbol says, then its parts, whether
	 * they have symbols or not. None: not known, as without any symbol.
	 */
	struct address_range eval[PYTHON_EVAL_MOST];
	size_t eval_count;
};

extern const struct finder_kind python_finder; /* its place: a struct python_place */

#endif
