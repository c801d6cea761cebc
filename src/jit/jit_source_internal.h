/* SPDX-License-Identifier: MIT */
/*
 * jit_source_internal.h - shared by the sources of JIT names: the book of code by address and
 * epoch, access to the target's files, and the record that defines a source.
 */
#ifndef WALLSAMPLE_JIT_JIT_SOURCE_INTERNAL_H
#define WALLSAMPLE_JIT_JIT_SOURCE_INTERNAL_H

#include <sys/types.h>

#include "wallsample/jit/jit.h"
#include "wallsample/base/table.h"

#define JIT_NONE UINT32_MAX

/* --- the book (jit_book.c) ------------------------------------------------------- */

/*
 * Entries in the order in which they were written; of those that overlap, the later one is the
 * current code. Each source has its own book, because entries of two sources for the same code do
 * not replace each other.
 */
struct jit_book;

/* Names are interned in `strings`; *epoch is incremented when code replaces other code. Both are
 * borrowed. */
struct jit_book *jit_book_create(struct strings *strings, uint32_t *epoch);
void jit_book_free(struct jit_book *book);

/*
 * Starts a pass, which reads the entries written since the previous one and may take several
 * ticks. When a pass replaces entries of earlier ones, one epoch begins; replacements within the
 * first pass count as history.
 */
void jit_book_begin_pass(struct jit_book *book);

/*
 * Adds code of this name at [start, start + size). Returns the number of the entry; that of an
 * old one if it is equal and nothing has replaced its start (files that are written again repeat
 * all entries); JIT_NONE when the range cannot be code, or the book is full. `lines` are from
 * jit_book_add_line.
 */
struct jit_lines {
	uint32_t first, count;
};
uint32_t jit_book_add(struct jit_book *book, uint64_t start, uint64_t size, const char *name,
		      struct jit_lines lines);
/* Adds the code of an entry, with its name and lines, at another address. */
uint32_t jit_book_move(struct jit_book *book, uint32_t entry, uint64_t start, uint64_t size);

/*
 * Adds a line: code from `offset` bytes behind an entry's start on belongs to it. The lines of one
 * entry must be added together, in ascending order of the offset. Returns the line's number, or
 * JIT_NONE when there are too many.
 */
uint32_t jit_book_add_line(struct jit_book *book, uint32_t offset, const char *file, uint32_t line);

size_t jit_book_count(const struct jit_book *book);
bool jit_book_is_full(const struct jit_book *book);
/* See jit_find and jit_epoch_at. */
bool jit_book_find(const struct jit_book *book, uint64_t address, uint32_t epoch,
		   struct jit_symbol *out);
bool jit_book_epoch_at(const struct jit_book *book, uint64_t address, uint32_t *epoch);

/* An entry by its number, below the count. */
struct jit_entry {
	uint32_t name, epoch; /* name: its number in the strings */
	struct address_range range;
};
struct jit_entry jit_book_entry(const struct jit_book *book, uint32_t entry);

/* The entry that jit_find would choose among those that begin in (after, after + reach], have this
 * size, and whose name `fits` accepts; or JIT_NONE. */
struct jit_starts {
	uint64_t after, reach, size;
	bool (*fits)(const char *name);
};
uint32_t jit_book_find_start(const struct jit_book *book, const struct jit_starts *starts,
			     uint32_t epoch);
/* Stores the name and line of the entry's first address. */
void jit_book_tell(const struct jit_book *book, uint32_t entry, struct jit_symbol *out);

/* --- files of the target (jit_file.c) ---------------------------------------------- */

/* Facts about the target, filled in by jit.c. */
struct jit_target {
	const struct process *process;
	struct maps *maps;
	const struct log *log;
	int root;        /* its root directory, open until after the process has exited; or -1 */
	uint32_t ns_pid; /* its pid in the innermost pid namespace */
	uid_t uid;       /* the effective one */
};

/* Reads the facts again; known ones are kept when the process has exited. */
void jit_target_look(struct jit_target *target);

/*
 * Opens `path`, in the target's root, for reading. Accepts only a regular file of the target's
 * user, root or wallsample's user, and no link to one. Returns a descriptor, which the caller
 * closes, or -1 with *why (NULL: there is no such file).
 */
int jit_file_open(const struct jit_target *target, const char *path, const char **why);
/* The same for a mapped file, by the kernel's link to it if that is permitted. */
int jit_file_open_mapped(const struct jit_target *target, const struct mapping *mapping,
			 const char **why);

/* pread(2) that continues after a signal and reads until the end of the file. */
size_t jit_file_read(int fd, uint64_t offset, void *to, size_t size);

/* --- a source ----------------------------------------------------------------------- */

struct jit_source {
	const char *name;
	/* Both borrowed. */
	void *(*create)(const struct jit_target *target, struct jit_book *book);
	void (*free)(void *state);
	/* Searches new files, and files that have replaced others. */
	void (*search)(void *state);
	/* Reads about `budget` bytes at most. True when there is nothing left to read. */
	bool (*read)(void *state, size_t budget);
	/* Warns of incomplete files, each once. `slow`: there was no time for the rest. */
	void (*warn)(void *state, bool slow);
};

extern const struct jit_source jit_by_perf_map;
extern const struct jit_source jit_by_jitdump;

/* --- V8's interpreter (v8.c): one of the pieces of code that its compiler lists ------------- */

struct v8 {
	uint32_t plain, profiling;   /* numbers of the names it has */
	struct address_range *range; /* ascending */
	size_t count, capacity;
};

/* `strings` are those of the books. */
void v8_init(struct v8 *v8, struct strings *strings);
void v8_release(struct v8 *v8);
/* Searches the entries of the book from number *seen on, and updates *seen; at first 0. */
void v8_look(struct v8 *v8, const struct jit_book *book, uint32_t *seen);
/* The number of the entry that names the bytecode in the epoch, or JIT_NONE. */
uint32_t v8_find(const struct jit_book *book, const struct jit_bytecode *bytecode, uint32_t epoch);

#endif
