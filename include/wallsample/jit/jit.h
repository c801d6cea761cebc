/* SPDX-License-Identifier: MIT */
/*
 * jit.h - names of code that is generated at run time, from files that JIT compilers write for
 * profilers.
 *
 * There are two kinds of file: the perf map /tmp/perf-PID.map below the target's root directory,
 * where PID is the pid in the target's pid namespace, and jitdump files that the target has mapped.
 * While sampling, new files are searched for once a second, and known files are read as they grow.
 * All files are read once more for a report.
 *
 * Code moves, and other code replaces it. When a read of the files finds that code has replaced
 * other code, a new epoch begins. Epochs are numbered from 0 on, those of all processes together
 * (struct jit_epochs). A sample stores the number of an
 * epoch in which the name of its code can be found (jit_epoch_at).
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

/* The numbers of the epochs of several processes. An epoch belongs to one process: by it, a name is
 * found in the table of the right process. */
struct jit_epochs;
struct jit_epochs *jit_epochs_create(void);
/* Accepts NULL. To be called after jit_free() for all tables. */
void jit_epochs_free(struct jit_epochs *epochs);
/* Returns the table of the process that the epoch belongs to; NULL: there is none any more. */
const struct jit *jit_epochs_find(const struct jit_epochs *epochs, uint32_t epoch);

/* Makes an empty table of the names of a process's generated code; opens no file with names yet.
 * The arguments are borrowed until jit_free(). One warning for each file that is incomplete or not
 * accepted is written to `log`. `epochs` numbers the epochs; NULL: there is only one process. The
 * result must be freed with jit_free(), which accepts NULL. */
struct jit *jit_create(const struct process *process, struct maps *maps, const struct log *log,
		       struct jit_epochs *epochs);
void jit_free(struct jit *jit);

/* Searches for files and reads them, for at most 50 ms of CPU time for each kind of file. Must be
 * called once before the first tick. `now_ns` is the time as clock_now_ns() returns it. */
void jit_begin(struct jit *jit, uint64_t now_ns);
/* Searches for new files if the last search was at least a second ago (less for the first
 * searches), and reads known files if the last read was at least 10 ms ago, at a bounded cost. Must
 * be called once per tick. `outstanding`: threads of the target are stopped or asked to stop; a
 * search is then put off, by up to 100 ms. */
void jit_tick(struct jit *jit, uint64_t now_ns, bool outstanding);
/* Reads all entries that were added to the files. Must be called before a report, and may be called
 * after the target has exited. Takes at most 5 seconds of CPU time for each kind of file; when that
 * is not enough, a warning says that names are missing. */
void jit_refresh(struct jit *jit);

/* Returns the current epoch. The number grows when code replaces other code. */
uint32_t jit_epoch(const struct jit *jit);

/* Returns the epoch in which the entry of the current code at the address was read from its file;
 * the first epoch of the process when no code is known there. jit_find() finds the same name in
 * this epoch as in jit_epoch(). Samples store this epoch, because it does not change when code at
 * other addresses is replaced. */
uint32_t jit_epoch_at(const struct jit *jit, uint64_t address);

struct jit_symbol {
	const char *name; /* as the compiler wrote it, for example "JS:*render /app/x.js:10:3" */
	const char *file; /* source file; NULL: not known */
	uint32_t line;    /* line number in the source file; 0: not known */
	uint64_t start, size; /* address and size in bytes of the code */
};

/*
 * Finds the code at the address in the epoch; returns false when no code is known there. Entries of
 * jitdump files are preferred to entries of a perf map, because they may have source lines. Of
 * several entries for the address, the last one that was read before the end of the epoch is
 * chosen; if there is none, the first one that was read later, because a compiler may write late.
 * The texts in *out are valid until jit_free().
 */
bool jit_find(const struct jit *jit, uint64_t address, uint32_t epoch, struct jit_symbol *out);

/* Returns the number of entries that were read from all files. */
size_t jit_count(const struct jit *jit);

/*
 * --- functions that V8 interprets (v8.c) ---
 *
 * V8 (Node, Chromium) interprets functions until they are hot. For such a function the perf map has
 * the address of its bytecode, at which no program counter ever is. But a frame of the interpreter
 * contains the address of the object that includes the bytecode: the bytecode array.
 */

/*
 * Sets *range to an array of the address ranges of V8's interpreter code, ascending, and returns
 * their number, which only grows, up to JIT_INTERPRETERS_MAX. There may be several: from Node 22 on
 * each worker thread has its own copy, and with --interpreted-frames-native-stack each function.
 * *range is valid until the next call of jit_tick() or jit_refresh().
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
 * Like jit_find() and jit_epoch_at(), for the function with this bytecode. Since its entry was
 * written, the bytecode array may have moved, or another array may be at its address. Therefore an
 * entry is considered only if it begins at most 96 bytes after the start of the array (the header
 * is not longer) and before the place where the bytecode of a next array may begin, has the size of
 * the bytecode, and is that of an interpreted function.
 */
bool jit_find_bytecode(const struct jit *jit, const struct jit_bytecode *bytecode, uint32_t epoch,
		       struct jit_symbol *out);
uint32_t jit_epoch_of_bytecode(const struct jit *jit, const struct jit_bytecode *bytecode);

#endif
