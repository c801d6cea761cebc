/* SPDX-License-Identifier: MIT */
/*
 * jit.h - names of code generated at run time, from the files of JIT compilers for profilers.
 *
 * Sources, one file and one registry row each (src/jit/): perf-PID.map of the target's pid
 * namespace in the target's /tmp, and jitdump files that the target has mapped.
 * Files are searched once a second while sampling, read as they grow, and read once more for a
 * report.
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

/* The arguments are borrowed until jit_free; `log` gets one warning for each incomplete file. */
struct jit *jit_create(const struct process *process, struct maps *maps, const struct log *log);
void jit_free(struct jit *jit);

/* Must be called before the first tick: reads what exists, for some tens of milliseconds at
 * most. */
void jit_begin(struct jit *jit, uint64_t now_ns);
/* Must be called once per tick: checks for changes at intervals, at a bounded cost. */
void jit_tick(struct jit *jit, uint64_t now_ns);
/*
 * Reads all new entries: before a report, and after the target has exited. Takes some seconds at
 * most for each source; a source with more entries gets a warning and loses names.
 */
void jit_refresh(struct jit *jit);

/* The current epoch. Begins at 0, and grows only when code replaces other code. */
uint32_t jit_epoch(const struct jit *jit);

/*
 * The earliest epoch since which the address has had its current code; 0 when nothing is known.
 * jit_find() gives the same name for it as for jit_epoch(), but it does not change when code
 * elsewhere is replaced, so that fewer samples differ.
 */
uint32_t jit_epoch_at(const struct jit *jit, uint64_t address);

struct jit_symbol {
	const char *name; /* as the compiler wrote it: "JS:*render /app/x.js:10:3" */
	const char *file; /* NULL: not known */
	uint32_t line;    /* 0: not known */
	uint64_t start, size;
};

/*
 * Finds the code at the address in that epoch; false when none is known. Of entries that overlap,
 * the last one written before the end of the epoch counts, else the first one after it (a
 * compiler may write late). The texts are valid until jit_free.
 */
bool jit_find(const struct jit *jit, uint64_t address, uint32_t epoch, struct jit_symbol *out);

/* The number of entries, for -v. */
size_t jit_count(const struct jit *jit);

/*
 * --- functions that V8 interprets (v8.c) ---
 *
 * V8 (Node, Chromium) interprets functions that are not hot yet. Its compiler writes the address
 * of each one's bytecode, to which no program counter ever points; a frame of the interpreter
 * contains the address of the object that includes the bytecode.
 */

/*
 * The address ranges of interpreters, ascending; returns their number, which only grows, up to the
 * limit. From Node 22 on each worker thread has one. *range is valid until the next call of
 * jit_tick or jit_refresh.
 */
#define JIT_INTERPRETERS_MAX 1024
size_t jit_interpreters(const struct jit *jit, const struct address_range **range);

/* The bytecode that an interpreter executes: its object, and its size in bytes. */
struct jit_bytecode {
	uint64_t object; /* 0: none */
	uint32_t size;
};

/*
 * jit_bytecode_refer(): can the word of an interpreter's frame be a reference to a bytecode
 * object? Then *address is the address of its header. jit_bytecode_set() sets `bytecode` from the
 * first JIT_HEADER_SIZE bytes of that header; false when they are implausible.
 */
#define JIT_HEADER_SIZE 16
bool jit_bytecode_refer(uint64_t word, uint64_t *address);
bool jit_bytecode_set(struct jit_bytecode *bytecode, uint64_t address,
		      const uint8_t header[JIT_HEADER_SIZE]);

/*
 * As jit_find and jit_epoch_at. The object may have moved since the compiler wrote its entry, or
 * been replaced: an entry counts only if it begins one header size behind the start of the object
 * and has the size that the object gives.
 */
bool jit_find_bytecode(const struct jit *jit, const struct jit_bytecode *bytecode, uint32_t epoch,
		       struct jit_symbol *out);
uint32_t jit_epoch_of_bytecode(const struct jit *jit, const struct jit_bytecode *bytecode);

#endif
