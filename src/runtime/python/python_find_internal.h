/* SPDX-License-Identifier: MIT */
/*
 * python_find_internal.h - looks for CPython in the modules of a process.
 *
 * Symbols of .dynsym, else .symtab, else the section .PyRuntime (3.11 and later) say where
 * _PyRuntime is. A module is searched once, a piece of it at a time.
 */
#ifndef WALLSAMPLE_RUNTIME_PYTHON_PYTHON_FIND_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PYTHON_PYTHON_FIND_INTERNAL_H

#include "runtime/python/python_layout_internal.h"
#include "wallsample/process/maps.h"
#include "wallsample/tracer/memory.h"

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

struct python_finder;

/* All borrowed. `memory` is the target's. */
struct python_finder *python_finder_create(struct maps *maps, const struct memory *memory);
void python_finder_free(struct python_finder *finder);

/*
 * Searches modules that were not known at the last call; to be called when maps_generation has
 * changed, and as long as it says that it has not finished (*busy): because it reads a bounded
 * amount (PYTHON_FIND_BUDGET bytes of files, 2 ms from the page cache) a call, or because a CPython
 * has not been set up yet, which is waited for in 2,000 calls. Returns how many there are; *place
 * is valid until the next call. What was found is checked again in each call. A CPython whose
 * layout nobody knows is none of them: then python_finder_why has a sentence.
 *
 * DWARF, when nothing else tells the layout, takes up to a fifth of a second, once.
 */
#define PYTHON_FIND_BUDGET (UINT64_C(4) << 20)
size_t python_finder_look(struct python_finder *finder, const struct python_place **place,
			  bool *busy);
/* Why a CPython that is there cannot be read; told once, then NULL. */
const char *python_finder_why(struct python_finder *finder);

#endif
