/* SPDX-License-Identifier: MIT */
/*
 * jit_objects.h - code that JIT compilers register for debuggers (the GDB JIT interface).
 *
 * A target that uses the interface has a variable __jit_debug_descriptor, the head of a list of ELF
 * files in its memory, one for each piece of generated code. Such a file has symbols, unwind tables
 * and often DWARF. LLVM's JITs (PostgreSQL) and LuaJIT use the interface. GDB sets a breakpoint to
 * notice changes of the list; here the list is read while the target runs: code that exists for
 * less than a tick may be missed. Two other kinds of list are read in the same way: the tree of
 * object files that one runtime, built on LLVM, keeps instead (jit_tree.c), and libunwind's list of
 * generated code (jit_watch_internal.h).
 *
 * Each file becomes a module of kind JIT, whose mappings cover the memory of the code
 * (maps_set_objects). The module is used for unwinding and for names, as a library is. When the
 * target removes the file from the list, the mappings are removed; the module is kept, because
 * samples refer to it.
 */
#ifndef WALLSAMPLE_JIT_JIT_OBJECTS_H
#define WALLSAMPLE_JIT_JIT_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/base.h"
#include "wallsample/process/maps.h"
#include "wallsample/process/process.h"

/* Limits in bytes: the size of one file, and of all files together. */
#define JIT_OBJECT_MAX_SIZE (UINT64_C(64) << 20)
#define JIT_OBJECTS_MAX_SIZE (UINT64_C(256) << 20)
/* Largest number of files in all lists at one time, and of modules that are made during the run. */
#define JIT_OBJECTS_MAX 8192

struct jit_objects;

/* Makes an empty list of a process's registered code. The arguments are borrowed until
 * jit_objects_free(), which frees the result and accepts NULL. The first warning about a file that
 * cannot be used is written to `log`; further ones are logged as debug messages. */
struct jit_objects *jit_objects_create(const struct process *process, struct maps *maps,
				       const struct log *log);
void jit_objects_free(struct jit_objects *objects);

/*
 * Reads the lists when they have changed, and once a second, and updates modules and mappings. Must
 * be called once per tick, after maps_tick(). Takes some microseconds when nothing has changed,
 * less in a process that registers no code, and seldom more than 2 ms: what remains (pieces of a
 * large file, or some of thousands of new files) is read in the next call.
 */
void jit_objects_tick(struct jit_objects *objects, uint64_t now_ns);

/* Returns the number of files in the lists that have been read and can be used. */
size_t jit_objects_count(const struct jit_objects *objects);

/* Returns true when files are still to be read, or modules to be searched for lists. Before
 * sampling starts, jit_objects_tick() may be called until this is false. */
bool jit_objects_busy(const struct jit_objects *objects);

#endif
