/* SPDX-License-Identifier: MIT */
/* python_greenlet_internal.h - ends the native call chain of a thread where a greenlet begins. */
#ifndef WALLSAMPLE_RUNTIME_PYTHON_PYTHON_GREENLET_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PYTHON_PYTHON_GREENLET_INTERNAL_H

struct chain;
struct cpython;

/* Where the native call chain of a thread ends. */
enum python_greenlet {
	PYTHON_GREENLET_NONE,   /* where the unwinder has ended */
	PYTHON_GREENLET_RUNS,   /* at the function that has started the greenlet */
	PYTHON_GREENLET_SWITCH, /* at the function that is switching from one greenlet to another */
};

/* Sets cpython->greenlet, the code of the extension module, from the present mappings. */
void python_greenlet_find(struct cpython *cpython);
/* Implements `trim` of struct runtime_kind: sets the end of the chain, and `greenlet` of
 * `captured`, which is a struct python_captured. */
void python_greenlet_trim(void *captured, struct chain *chain);

#endif
