/* SPDX-License-Identifier: MIT */
/*
 * jit_source_internal.h - what the sources of JIT names share: the book of what lay where and since
 * when, how files of the target are opened, and the record that makes a source.
 */
#ifndef WALLSAMPLE_JIT_JIT_SOURCE_INTERNAL_H
#define WALLSAMPLE_JIT_JIT_SOURCE_INTERNAL_H

#include <sys/types.h>

#include "wallsample/jit/jit.h"
#include "wallsample/base/table.h"

#define JIT_NONE UINT32_MAX

/* --- the book (jit_book.c) ------------------------------------------------------- */

/*
 * Entries in the order in which they came; of those that overlap, the later one says what
 * lies there now. One source has one book, because two sources that tell of
 * the same code do not replace each other's.
 */
struct jit_book;

/* The names go to `strings`; *epoch is counted up when code took the place of other code. */
struct jit_book *jit_book_create(struct strings *strings, uint32_t *epoch);
void jit_book_free(struct jit_book *book);

/*
 * A pass takes in what has come since the one before; it may take several ticks. What a pass
 * replaces of earlier ones begins an epoch, once; what the first pass replaces is history.
 */
void jit_book_begin_pass(struct jit_book *book);

/*
 * [start, start + size) is code of this name. Returns the number of the entry, which is an
 * old one if that says the same and nothing has come over its start (files that are written
 * anew say everything again); JIT_NONE when it is no range that code can have, or the book
 * is full. `lines` are from jit_book_add_line.
 */
struct jit_lines {
	uint32_t first, count;
};
uint32_t jit_book_add(struct jit_book *book, uint64_t start, uint64_t size, const char *name,
		      struct jit_lines lines);
/* The entry's code, name and lines, at another address. */
uint32_t jit_book_move(struct jit_book *book, uint32_t entry, uint64_t start, uint64_t size);

/*
 * Code from `offset` bytes behind an entry's start on is of this line of this file. The
 * lines of one entry follow each other in ascending order of the offset. Returns the
 * line's number, or JIT_NONE when there are too many.
 */
uint32_t jit_book_add_line(struct jit_book *book, uint32_t offset, const char *file,
			   uint32_t line);

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

/* The entry that jit_find would choose, of those that begin in (after, after + reach], have this
 * size and a name that fits; or JIT_NONE. */
struct jit_starts {
	uint64_t after, reach, size;
	bool (*fits)(const char *name);
};
uint32_t jit_book_find_start(const struct jit_book *book, const struct jit_starts *starts,
			     uint32_t epoch);
/* What the entry says of its first address. */
void jit_book_tell(const struct jit_book *book, uint32_t entry, struct jit_symbol *out);

/* --- files of the target (jit_file.c) ---------------------------------------------- */

/* What the sources know of the target; jit.c fills it in. */
struct jit_target {
	const struct process *process;
	struct maps *maps;
	const struct log *log;
	int root;        /* its root folder, held so that it outlives the process; or -1 */
	uint32_t ns_pid; /* its number in the innermost pid namespace */
	uid_t uid;       /* the effective one */
};

/* Reads what can be read now; what was known stays when the process has gone. */
void jit_target_look(struct jit_target *target);

/*
 * Opens `path` as the target sees it, for reading. Only a regular file that belongs to the
 * target's user, root or us will do, and no link to one. -1, and *why (NULL: there is
 * no such file).
 */
int jit_file_open(const struct jit_target *target, const char *path, const char **why);
/* The same of a file that is mapped, by the kernel's own link to it if we may use that. */
int jit_file_open_mapped(const struct jit_target *target, const struct mapping *mapping,
			 const char **why);

/* pread(2) that goes on after a signal and reads until the end of the file. */
size_t jit_file_read(int fd, uint64_t offset, void *to, size_t size);

/* --- a source ----------------------------------------------------------------------- */

struct jit_source {
	const char *name;
	/* Both borrowed. */
	void *(*create)(const struct jit_target *target, struct jit_book *book);
	void (*free)(void *state);
	/* Looks for files that are new, or new under an old name. */
	void (*search)(void *state);
	/* Takes in about `budget` bytes at most. True when there is nothing left to read. */
	bool (*read)(void *state, size_t budget);
	/* Warns of files that are not whole, each once. `slow`: there was no time for the end. */
	void (*warn)(void *state, bool slow);
};

extern const struct jit_source jit_by_perf_map;
extern const struct jit_source jit_by_jitdump;

/* --- V8's interpreter (v8.c): one of the pieces of code that its compiler lists ------------- */

struct v8 {
	uint32_t plain, profiling; /* numbers of the names it has */
	struct address_range *range; /* ascending */
	size_t count, capacity;
};

/* `strings` are those of the books. */
void v8_init(struct v8 *v8, struct strings *strings);
void v8_release(struct v8 *v8);
/* Looks at the entries that the book has got since; *seen, from 0, is where to go on. */
void v8_look(struct v8 *v8, const struct jit_book *book, uint32_t *seen);
/* The number of the entry that names the bytecode in the epoch, or JIT_NONE. */
uint32_t v8_find(const struct jit_book *book, const struct jit_bytecode *bytecode, uint32_t epoch);

#endif
