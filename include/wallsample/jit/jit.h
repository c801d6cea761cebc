/* SPDX-License-Identifier: MIT */
/*
 * jit.h - names of code that the target made at run time, as its compilers tell profilers.
 *
 * Sources, one file and one registry row each (src/jit/): perf-PID.map of the target's pid
 * namespace in the target's /tmp, and jitdump files that the target has mapped.
 * Files are looked for once a second while sampling, read as they grow, and once more
 * for a report.
 *
 * Code moves, and its place is taken by other code. An epoch is the time between two
 * such replacements: a sample remembers the epoch in which it was taken.
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

/* All borrowed for the life of it; `log` gets one warning for each file that is not whole. */
struct jit *jit_create(const struct process *process, struct maps *maps,
			const struct log *log);
void jit_free(struct jit *jit);

/* Before the first tick: takes in what is there, as far as that takes no longer than some tens
 * of milliseconds. */
void jit_begin(struct jit *jit, uint64_t now_ns);
/* To be called once a tick: looks for changes now and then, at a bounded cost. */
void jit_tick(struct jit *jit, uint64_t now_ns);
/*
 * Reads everything that has come since: before a report, and when the target has gone. Takes
 * some seconds at most for each source: who writes more gets a warning, and fewer names.
 */
void jit_refresh(struct jit *jit);

/* Now. Begins at 0, and grows only when code took the place of other code. */
uint32_t jit_epoch(const struct jit *jit);

/*
 * The earliest epoch since which the address has had the code that it has now, 0 where nothing
 * is known: finds the same as jit_epoch() does, and does not change when code elsewhere is
 * replaced, so that samples that remember it stay few.
 */
uint32_t jit_epoch_at(const struct jit *jit, uint64_t address);

struct jit_symbol {
	const char *name;  /* as the compiler wrote it: "JS:*render /app/x.js:10:3" */
	const char *file;  /* NULL: not known */
	uint32_t line;     /* 0: not known */
	uint64_t start, size;
};

/*
 * What lay at the address in that epoch; of entries that only later overlap, the one that came
 * last before the epoch ended, else the first after it (a compiler may write late). The
 * texts are valid until jit_free.
 */
bool jit_find(const struct jit *jit, uint64_t address, uint32_t epoch, struct jit_symbol *out);

/* How many entries there are, for -v. */
size_t jit_count(const struct jit *jit);

/*
 * --- what V8 interprets (v8.c) ---
 *
 * V8 (Node, Chromium) interprets functions that are not hot yet. Its compiler writes where the
 * bytecode of each lies, which no program counter ever points to; a frame of the
 * interpreter holds the address of the object that the bytecode is part of.
 */

/*
 * Where interpreters lie, as the compilers tell, by address: from Node 22 on each worker thread
 * has one. They only grow more, up to a limit; valid until the next call of jit_tick or
 * jit_refresh.
 */
#define JIT_INTERPRETERS_MAX 1024
size_t jit_interpreters(const struct jit *jit, const struct address_range **range);

/* What an interpreter executes: the object, and how long the bytecode in it is. */
struct jit_bytecode {
	uint64_t object; /* 0: none */
	uint32_t size;
};

/*
 * Does the word, of an interpreter's frame, refer to an object in whose place there can be one?
 * Then *address is where its header lies, of which the first JIT_HEADER_SIZE bytes tell the
 * size: jit_bytecode_set. False when they make no sense.
 */
#define JIT_HEADER_SIZE 16
bool jit_bytecode_refer(uint64_t word, uint64_t *address);
bool jit_bytecode_set(struct jit_bytecode *bytecode, uint64_t address,
		      const uint8_t header[JIT_HEADER_SIZE]);

/*
 * As jit_find and jit_epoch_at. The object may have been moved since the compiler told of it, or
 * another be in its place: an entry counts only if it begins as far behind the object as
 * headers are long, and is as long as the object says.
 */
bool jit_find_bytecode(const struct jit *jit, const struct jit_bytecode *bytecode,
		       uint32_t epoch, struct jit_symbol *out);
uint32_t jit_epoch_of_bytecode(const struct jit *jit, const struct jit_bytecode *bytecode);

#endif
