/* SPDX-License-Identifier: MIT */
/*
 * jit.h - names of code that is generated at run time, from files that JIT compilers write for
 * profilers.
 *
 * There are two kinds of file: /tmp/perf-PID.map of the target's root directory, where PID is the
 * pid in the target's pid namespace, and jitdump files that the target has mapped. While sampling,
 * new files are searched for once a second, and known files are read as they grow. All files are
 * read once more for a report.
 *
 * Code moves, and other code replaces it. An epoch is the time between two such replacements; a
 * sample stores the epoch in which it was taken.
 */
#ifndef WALLSAMPLE_JIT_JIT_H
#define WALLSAMPLE_JIT_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/base.h"
#include "wallsample/process/maps.h"
#include "wallsample/process/process.h"

struct jit;

/* Creates the names of a process; opens no file yet. The arguments are borrowed until jit_free().
 * One warning for each incomplete file is written to `log`. The result must be freed with
 * jit_free(), which accepts NULL. */
struct jit *jit_create(const struct process *process, struct maps *maps, const struct log *log);
void jit_free(struct jit *jit);

/* Searches for files and reads them, for some tens of milliseconds at most. Must be called once
 * before the first tick. `now_ns` is the time as clock_now_ns() returns it. */
void jit_begin(struct jit *jit, uint64_t now_ns);
/* Searches for files and reads them when their intervals have passed, at a bounded cost. Must be
 * called once per tick. */
void jit_tick(struct jit *jit, uint64_t now_ns);
/*
 * Reads all new entries. Must be called before a report, and may be called after the target has
 * exited. Takes some seconds at most for each kind of file; when that is not enough, a warning says
 * that names are missing.
 */
void jit_refresh(struct jit *jit);

/* Returns the current epoch. The first epoch is 0; the number grows when code replaces other
 * code. */
uint32_t jit_epoch(const struct jit *jit);

/*
 * Returns the epoch in which the current code at the address was written; 0 when no code is known
 * there. jit_find() finds the same name in this epoch as in jit_epoch(). Samples store this epoch,
 * because it does not change when code at other addresses is replaced.
 */
uint32_t jit_epoch_at(const struct jit *jit, uint64_t address);

struct jit_symbol {
	const char *name; /* as the compiler wrote it, for example "JS:*render /app/x.js:10:3" */
	const char *file; /* source file; NULL: not known */
	uint32_t line;    /* line number in the source file; 0: not known */
	uint64_t start, size; /* address and size in bytes of the code */
};

/*
 * Finds the code at the address in the epoch; returns false when no code is known there. Of several
 * entries for the address, the last one that was written before the end of the epoch is chosen; if
 * there is none, the first one that was written later, because a compiler may write late. The texts
 * in *out are valid until jit_free().
 */
bool jit_find(const struct jit *jit, uint64_t address, uint32_t epoch, struct jit_symbol *out);

/* Returns the number of entries that were read from all files. */
size_t jit_count(const struct jit *jit);

/*
 * --- functions that V8 interprets (v8.c) ---
 *
 * V8 (Node, Chromium) interprets functions until they are hot. For such a function the perf map has
 * the address of its bytecode, which is never a program counter. A frame of the interpreter
 * contains the address of the object (the bytecode array) that includes the bytecode.
 */

/*
 * Stores the code of V8's interpreters in *range, in ascending order, and returns the number of
 * ranges, which only grows, up to JIT_INTERPRETERS_MAX. From Node 22 on each worker thread has an
 * interpreter. *range is valid until the next call of jit_tick() or jit_refresh().
 */
#define JIT_INTERPRETERS_MAX 1024
size_t jit_interpreters(const struct jit *jit, const struct address_range **range);

/* The bytecode of a function. */
struct jit_bytecode {
	uint64_t object; /* address of the bytecode array; 0: no bytecode */
	uint32_t size;   /* size in bytes of the bytecode */
};

/* Returns true when a word of an interpreter's frame may be a reference to a bytecode array, whose
 * address is then stored in *address. */
bool jit_bytecode_refer(uint64_t word, uint64_t *address);
/* Sets *bytecode from the first JIT_HEADER_SIZE bytes of the bytecode array at the address. Returns
 * false when they are not plausible. */
#define JIT_HEADER_SIZE 16
bool jit_bytecode_set(struct jit_bytecode *bytecode, uint64_t address,
		      const uint8_t header[JIT_HEADER_SIZE]);

/*
 * Like jit_find() and jit_epoch_at(), for bytecode. Since an entry was written, the bytecode array
 * may have moved, or another one may have replaced it. This is why an entry is considered only if
 * it begins one header size behind the start of the array and has the size of the bytecode.
 */
bool jit_find_bytecode(const struct jit *jit, const struct jit_bytecode *bytecode, uint32_t epoch,
		       struct jit_symbol *out);
uint32_t jit_epoch_of_bytecode(const struct jit *jit, const struct jit_bytecode *bytecode);

#endif
