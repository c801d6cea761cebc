/* SPDX-License-Identifier: MIT */
/*
 * jit_objects.h - code that JIT compilers register for debuggers (the GDB JIT interface).
 *
 * A participating program has a variable __jit_debug_descriptor, the head of a list of ELF files
 * in its memory, one for each piece of generated code: symbols, unwind tables, often DWARF.
 * LLVM's JITs (PostgreSQL) and LuaJIT use it. GDB sets a breakpoint to notice changes; here the
 * list is read while the target runs, so that code that exists for less than a tick is missed. A
 * runtime without the interface that keeps such files in a tree is read there
 * (jit_watch_internal.h).
 *
 * Each file becomes a module of kind JIT, whose mappings cover the memory of its code
 * (maps_set_objects); it serves unwinding and names as a library does. When the target removes
 * the file, its mappings are removed; the module stays, because samples refer to it.
 */
#ifndef WALLSAMPLE_JIT_JIT_OBJECTS_H
#define WALLSAMPLE_JIT_JIT_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/base.h"
#include "wallsample/process/maps.h"
#include "wallsample/process/process.h"

/* Limits in bytes: of one file, and of all files together. */
#define JIT_OBJECT_MAX_SIZE (UINT64_C(64) << 20)
#define JIT_OBJECTS_MAX_SIZE (UINT64_C(256) << 20)
/* Limit of the files known at one time, and of the modules made in total. */
#define JIT_OBJECTS_MAX 8192

struct jit_objects;

/* The arguments are borrowed until jit_objects_free; `log` gets one warning for unusable files. */
struct jit_objects *jit_objects_create(const struct process *process, struct maps *maps,
				       const struct log *log);
void jit_objects_free(struct jit_objects *objects);

/*
 * Must be called once per tick, after maps_tick. Takes some microseconds when nothing has changed,
 * one comparison in processes without such code, and seldom more than 2 ms: the rest of the work
 * (a large file, thousands of new ones) is left to the next call.
 */
void jit_objects_tick(struct jit_objects *objects, uint64_t now_ns);

/* The number of usable files at present, for -v. */
size_t jit_objects_count(const struct jit_objects *objects);

/* Is work left? Before sampling starts, jit_objects_tick may be repeated until this is false. */
bool jit_objects_busy(const struct jit_objects *objects);

#endif
