/* SPDX-License-Identifier: MIT */
/*
 * jit_objects.h - code that compilers in the target tell debuggers of (the GDB JIT interface).
 *
 * A program that takes part has a variable __jit_debug_descriptor, which leads to a list of
 * ELF files in its memory, one for each piece of code it made: symbols, unwind
 * tables, often DWARF. LLVM's JITs (PostgreSQL) and LuaJIT do so. GDB sets a breakpoint to
 * learn of changes; here the list is read while the target runs, so that code that lives for less
 * than a tick is missed. A runtime that tells no debugger, but keeps such files in a tree of its
 * own, is read there (jit_tree_internal.h).
 *
 * Each file becomes a module of kind JIT, whose mappings lie over the memory of its code
 * (maps_set_objects), and serves unwinding and names as a library does. When the target takes
 * it back its mappings go and the module stays, since samples name frames by it.
 */
#ifndef WALLSAMPLE_JIT_JIT_OBJECTS_H
#define WALLSAMPLE_JIT_JIT_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/base.h"
#include "wallsample/process/maps.h"
#include "wallsample/process/process.h"

/* Larger files are refused, and all together. */
#define JIT_OBJECT_MAX_SIZE (UINT64_C(64) << 20)
#define JIT_OBJECTS_MAX_SIZE (UINT64_C(256) << 20)
/* As many are known at once, and as many modules are made in all. */
#define JIT_OBJECTS_MAX 8192

struct jit_objects;

/* All borrowed for the life of it; `log` gets one warning for what cannot be used. */
struct jit_objects *jit_objects_create(const struct process *process, struct maps *maps,
				       const struct log *log);
void jit_objects_free(struct jit_objects *objects);

/*
 * To be called once a tick, after maps_tick. Costs some microseconds where nothing has changed, a
 * comparison in processes without such code, and seldom more than 2 ms: what is left
 * then (a large file, thousands of new ones) waits for the next call.
 */
void jit_objects_tick(struct jit_objects *objects, uint64_t now_ns);

/* How many there are now that could be used, for -v. */
size_t jit_objects_count(const struct jit_objects *objects);

/* Does anything wait for the next call? Before time begins it may be called until not. */
bool jit_objects_busy(const struct jit_objects *objects);

#endif
