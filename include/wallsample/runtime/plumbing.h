/* SPDX-License-Identifier: MIT */
/*
 * plumbing.h - which functions of an interpreter only carry calls from one function of its program
 * to the next, so that a stack reads better without them.
 */
#ifndef WALLSAMPLE_RUNTIME_PLUMBING_H
#define WALLSAMPLE_RUNTIME_PLUMBING_H

#include <stdbool.h>

enum plumbing {
	PLUMBING_NONE,  /* it does something: what the C library and extensions have, and what a
			 * program asked for, as list_sort and time_sleep */
	PLUMBING_CALL,  /* it evaluates code, or calls what does */
	PLUMBING_ROOT,  /* the interpreter's first function of a process or thread, or near it */
	PLUMBING_START, /* what may stand outside of such a first one: "_start", "main", "clone".
			 * Where something else comes between, it is that one's */
};

/*
 * By the name as it is in symbol tables, with what a compiler or "@plt" puts behind it.
 * `interpreter`: it is code of the interpreter's module, where names count that are too common
 * elsewhere ("call_function").
 */
enum plumbing plumbing_of(const char *function, bool interpreter);

#endif
