/* SPDX-License-Identifier: MIT */
/*
 * julia_find_internal.h - looks for Julia in the modules of a process: where the array of its
 * threads is, and the layout of what it points to, checked against what is in memory.
 *
 * The array's address is the value of jl_all_tls_states, which has a symbol in files that are
 * not stripped. In others it is looked for among the variables: what points to so many pointers
 * to structures of threads that know their number, their tasks and their pthread_t.
 */
#ifndef WALLSAMPLE_RUNTIME_JULIA_JULIA_FIND_INTERNAL_H
#define WALLSAMPLE_RUNTIME_JULIA_JULIA_FIND_INTERNAL_H

#include "runtime/finder_internal.h"
#include "runtime/julia/julia_layout_internal.h"

/* More threads are not looked at. */
#define JULIA_THREADS_MOST 1024

/* The Julia of the process, there is one at most. All addresses are the target's. */
struct julia_place {
	struct julia_layout layout;
	uint64_t threads; /* of the variable that has the array's address */
	uint64_t count;   /* of the int that says how many */
	uint64_t nothing; /* the object that stands for none; 0: not known */
	uint64_t base;    /* of the variable that has the module Base; 0: not known */
	uint64_t tag;     /* what is in front of each task, without its lowest four bits */
	uint64_t runnable; /* the state of a task that has not ended */
};

extern const struct finder_kind julia_finder; /* its place: a struct julia_place */

/* "1.10.4" */
void julia_version_text(uint32_t version, char *text, size_t size);

/* How many threads it has now, JULIA_THREADS_MOST at most, and where their structures are. */
size_t julia_place_threads(const struct julia_place *place, const struct memory *memory,
			   uint64_t *thread);

/* The state of a task, of which the bytes are from its address on. */
uint64_t julia_place_state(const struct julia_place *place, const uint8_t *task);

/* The tag of an object, from the word in front of it: the garbage collector has the lowest bits. */
#define JULIA_TAG(word) ((word) & ~UINT64_C(15))

#endif
