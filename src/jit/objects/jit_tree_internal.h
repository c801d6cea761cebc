/* SPDX-License-Identifier: MIT */
/*
 * jit_tree_internal.h - object files that a runtime keeps of the code it has generated.
 *
 * Julia does so, to name the code in backtraces, and tells no debugger. In 1.5, which was tried,
 * its listener to LLVM's compiler has a std::map from the start of code to the object file that
 * was loaded (debuginfo.cpp: ObjectInfo). A static variable of libjulia points to the listener. It
 * has no symbol in stripped files and is found by its contents: nothing else points to a tree of
 * ELF files. The structures are those of libstdc++ and LLVM; the files are of the kind that
 * debuggers are given.
 */
#ifndef WALLSAMPLE_JIT_OBJECTS_JIT_TREE_INTERNAL_H
#define WALLSAMPLE_JIT_OBJECTS_JIT_TREE_INTERNAL_H

#include "jit/objects/jit_list_internal.h"
#include "wallsample/process/maps.h"

/* The state of the search for the variable. */
struct jit_tree {
	uint64_t generation; /* of the maps when its module was checked */
	uint32_t module;     /* the variable's module, or the one being searched */
	uint64_t variable;   /* its address in the target; 0: not found (yet) */
	uint64_t bias;       /* of the module, then */
	bool begun;          /* `module`, `bias` and the next two are set */
	uint64_t at, end;    /* the rest of the module's variables, [at, end) */
	uint64_t not_before_ns;
	unsigned rounds;     /* searches of all files that found nothing */
};

void jit_tree_init(struct jit_tree *tree);

/*
 * Continues the search, at a bounded cost per call. After a round without a result it restarts,
 * at growing intervals: the runtime may not have generated code yet. Returns true when the
 * variable was found, or its module was unmapped.
 */
bool jit_tree_update(struct jit_tree *tree, const struct maps *maps, struct jit_reader *reader,
		     uint64_t now_ns);
/* Whether the first round is not finished. */
bool jit_tree_searching(const struct jit_tree *tree);

/* Reads the number of objects and the root, which tell that the tree has changed. False: there is
 * no tree. */
bool jit_tree_read(struct jit_reader *reader, uint64_t variable,
		   struct jit_descriptor *descriptor);
/* As jit_list_walk. */
enum jit_walk jit_tree_walk(struct jit_reader *reader, uint64_t variable,
			    const struct jit_descriptor *before, size_t most,
			    struct jit_listed **listed, size_t *capacity, size_t *count);

#endif
