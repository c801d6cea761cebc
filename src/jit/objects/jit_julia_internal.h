/* SPDX-License-Identifier: MIT */
/*
 * jit_julia_internal.h - object files that Julia keeps of the code it has made, to name it in
 * backtraces.
 *
 * In 1.5, which was tried, its listener to LLVM's compiler has a std::map from where code
 * begins to the object file that was loaded (debuginfo.cpp of Julia: ObjectInfo), whatever GDB
 * is told. A static variable of libjulia points to the listener; it has no symbol in stripped
 * files, and is looked for: nothing else points to a tree of ELF files. The structures are
 * those of libstdc++ and LLVM, and the files are of the shape that debuggers are given.
 */
#ifndef WALLSAMPLE_JIT_OBJECTS_JIT_JULIA_INTERNAL_H
#define WALLSAMPLE_JIT_OBJECTS_JIT_JULIA_INTERNAL_H

#include "jit/objects/jit_list_internal.h"
#include "wallsample/process/maps.h"

/* Where the variable is looked for. */
struct jit_julia {
	uint64_t generation; /* of the maps when its module was */
	uint32_t module;     /* its module, or that which is looked through */
	uint64_t variable;   /* its address in the target; 0: not found (yet) */
	uint64_t bias;       /* of the module, then */
	bool begun;          /* `module`, `bias` and the next two are set */
	uint64_t at, end;    /* of the variables that are left */
	uint64_t not_before_ns;
	unsigned rounds;     /* through all files, in vain */
};

void jit_julia_init(struct jit_julia *julia);

/*
 * Goes on with the search, at a bounded cost a call; it begins anew when all was looked through
 * in vain, less and less often: Julia may not have made code yet. True when the variable has
 * been found, or has gone.
 */
bool jit_julia_update(struct jit_julia *julia, const struct maps *maps, struct jit_reader *reader,
		      uint64_t now_ns);
/* Is it in the midst of its first round? */
bool jit_julia_searching(const struct jit_julia *julia);

/* As of a descriptor: what tells that the tree has changed. False: there is none. */
bool jit_julia_read(struct jit_reader *reader, uint64_t variable,
		    struct jit_descriptor *descriptor);
/* As jit_list_walk. */
enum jit_walk jit_julia_walk(struct jit_reader *reader, uint64_t variable,
			     const struct jit_descriptor *before, size_t most,
			     struct jit_listed **listed, size_t *capacity, size_t *count);

#endif
