/* SPDX-License-Identifier: MIT */
/*
 * jit_list_internal.h - reads the list of the GDB JIT interface out of a target that runs.
 *
 * The structures are those of the GDB manual, "JIT Compilation Interface", as a 64-bit
 * program has them. The target changes the list while it is read: what was read counts only
 * when the descriptor is the same before and after.
 */
#ifndef WALLSAMPLE_JIT_OBJECTS_JIT_LIST_INTERNAL_H
#define WALLSAMPLE_JIT_OBJECTS_JIT_LIST_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/process/process.h"

struct jit_descriptor {
	uint32_t version, action;
	uint64_t relevant, first;
};

struct jit_entry {
	uint64_t next, prev;
	uint64_t address, size; /* of the file in the target's memory */
};

struct jit_listed {
	uint64_t entry; /* where it lies */
	uint64_t address, size;
	uint64_t start, end;   /* unwind tables alone: of the code that they are of; else 0 */
};

/* Reads memory of the target; `tid` is that of a thread that lives. */
struct jit_reader {
	const struct process *process;
	int tid;
};

/* All bytes or false; stays right when the first thread has ended before others. */
bool jit_read(struct jit_reader *reader, uint64_t address, void *to, size_t size);

bool jit_list_read(struct jit_reader *reader, uint64_t address,
		   struct jit_descriptor *descriptor);

enum jit_walk {
	JIT_WALK_WHOLE,
	JIT_WALK_CUT,     /* longer than `most`, or a ring: what it lists is good */
	JIT_WALK_CHANGED, /* while it was read: good for nothing */
};

/*
 * Follows the list of the descriptor at `address`, whose contents were `before`. The entries go
 * to *listed, an array from xgrow with *capacity elements, and their number to *count.
 */
enum jit_walk jit_list_walk(struct jit_reader *reader, uint64_t address,
			    const struct jit_descriptor *before, size_t most,
			    struct jit_listed **listed, size_t *capacity, size_t *count);

#endif
