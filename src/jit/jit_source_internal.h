/* SPDX-License-Identifier: MIT */
/* jit_source_internal.h - the sources of JIT names (perf map and jitdump), the book in which each
 * source stores its names by address and epoch (jit.h), and access to files of the target. */
#ifndef WALLSAMPLE_JIT_JIT_SOURCE_INTERNAL_H
#define WALLSAMPLE_JIT_JIT_SOURCE_INTERNAL_H

#include <sys/stat.h>
#include <sys/types.h>

#include "wallsample/base/table.h"
#include "wallsample/jit/jit.h"

#define JIT_NONE UINT32_MAX /* stands for "no entry" or "no line" */

/* --- epochs (jit_epochs.c) ------------------------------------------------------- */

/* The present epoch of a process. */
struct jit_numbering {
	uint32_t epoch;
	struct jit_epochs *epochs; /* numbers the epochs; NULL: they are 0, 1, 2, ... */
	const struct jit *jit;     /* whose they are */
};

/* Begins a new epoch. */
void jit_epoch_next(struct jit_numbering *numbering);
/* jit_epochs_find returns NULL for the epochs of `jit` from now on. */
void jit_epochs_forget(struct jit_epochs *epochs, const struct jit *jit);

/* --- the book (jit_book.c) ------------------------------------------------------- */

/*
 * The entries of one source, in the order in which the source added them. An entry gives the name
 * of the code in an address range. Of entries that overlap, the later one is the current code. Each
 * source has a book of its own, because entries of two sources for the same code do not replace
 * each other.
 */
struct jit_book;

/* Creates a book. Names are interned in `strings`; a new epoch begins when code replaces other
 * code. Both are borrowed until jit_book_free. */
struct jit_book *jit_book_create(struct strings *strings, struct jit_numbering *numbering);
void jit_book_free(struct jit_book *book);

/* Begins a pass, in which the source reads the entries that were written since the previous pass; a
 * pass may take several ticks. When a pass adds an entry that overlaps another one, the epoch is
 * incremented, once per pass; in a pass that begins with an empty book it is not. */
void jit_book_begin_pass(struct jit_book *book);

/* The lines of an entry: `count` lines from number `first` on, as jit_book_add_line() numbers
 * them. */
struct jit_lines {
	uint32_t first, count;
};

/*
 * Adds an entry for the code at [start, start + size), and returns its number. If `lines` is empty,
 * and the current entry at `start` has the same range and name and no lines, returns the number of
 * that entry instead: a file that is written again repeats all entries. Returns JIT_NONE when the
 * range cannot be code, or the book is full.
 */
uint32_t jit_book_add(struct jit_book *book, uint64_t start, uint64_t size, const char *name,
		      struct jit_lines lines);
/* Adds an entry at [start, start + size) with the name and lines of entry number `entry`. Returns
 * as jit_book_add(); also JIT_NONE when there is no entry `entry`. */
uint32_t jit_book_move(struct jit_book *book, uint32_t entry, uint64_t start, uint64_t size);

/* Adds the source line of the code that begins `offset` bytes after the start of an entry. The
 * lines of one entry must be added one after the other, in ascending order of the offset. Returns
 * the number of the line, or JIT_NONE when the book has too many lines or names. */
uint32_t jit_book_add_line(struct jit_book *book, uint32_t offset, const char *file, uint32_t line);

/* Returns the number of entries. Entries have the numbers from 0 to this number - 1. */
size_t jit_book_count(const struct jit_book *book);
bool jit_book_is_full(const struct jit_book *book);

/* Returns the number of the entry for the address in the epoch: of all entries that contain the
 * address, the last one added in that epoch or before; if there is none, the first one added later.
 * Returns JIT_NONE when no entry contains the address. */
uint32_t jit_book_find(const struct jit_book *book, uint64_t address, uint32_t epoch);

/* Entries that begin in (after, after + reach], have `size` bytes, and whose name `fits` accepts.
 * jit_book_find_start() chooses among these entries as jit_book_find() does. */
struct jit_starts {
	uint64_t after, reach, size;
	bool (*fits)(const char *name);
};
uint32_t jit_book_find_start(const struct jit_book *book, const struct jit_starts *starts,
			     uint32_t epoch);

struct jit_entry {
	uint32_t name;  /* number of the name in the strings */
	uint32_t epoch; /* the epoch in which the entry was added */
	struct address_range range;
};
/* Returns an entry by its number. */
struct jit_entry jit_book_entry(const struct jit_book *book, uint32_t entry);
/* Stores in *out the name and the range of the entry, and the source line of `address`, which must
 * be in that range. */
void jit_book_describe(const struct jit_book *book, uint32_t entry, uint64_t address,
		       struct jit_symbol *out);

/* --- files of the target (jit_file.c) ---------------------------------------------- */

/* Facts about the target that locate its files. */
struct jit_target {
	const struct process *process;
	struct maps *maps;
	const struct log *log;
	int root;        /* descriptor of the target's root directory, which remains valid after the
			  * process has exited; -1: not known */
	uint32_t ns_pid; /* process id of the target in its innermost pid namespace */
	uid_t uid;       /* effective user id of the target; (uid_t)-1: not known */
};

/* Reads root, ns_pid and uid again. A value that cannot be read stays as it was; so does root if
 * the others cannot be read. */
void jit_target_update(struct jit_target *target);

/*
 * Returns why a file with these properties is not read, as a constant text, or NULL. `target`,
 * `own`: the users of the target and of wallsample. A file must belong to the target's user, or to
 * root or wallsample's user and be readable by everyone: the target's user can mount any file that
 * it finds over one of its own, in a mount namespace that it has made.
 */
const char *jit_owner_refusal(const struct stat *st, uid_t target, uid_t own);

/*
 * Opens the file at `path`, below the target's root directory, for reading. Accepts only a regular
 * file that jit_owner_refusal() accepts, and no symbolic link. Returns a descriptor,
 * which the caller closes, and stores the file's properties; or -1 with the reason in *why, a
 * constant text; NULL: there is no such file, the root directory is not known, or the kernel does
 * not permit openat2(2).
 */
int jit_file_open(const struct jit_target *target, const char *path, struct stat *st,
		  const char **why);
/* Opens the file of a mapping for reading, by /proc/PID/map_files if that is permitted, else by the
 * path of its module. Accepts files and returns a descriptor as jit_file_open(), but *why is never
 * NULL after a failure. */
int jit_file_open_mapped(const struct jit_target *target, const struct mapping *mapping,
			 struct stat *st, const char **why);

/* Returns the proxy (file_proxy.h) by which all files of the target are read; may be NULL. */
struct file_proxy *jit_target_proxy(const struct jit_target *target);

/* --- a source ----------------------------------------------------------------------- */

/* A source of names: one kind of file. `state` is what `create` has returned. */
struct jit_source {
	/* Returns the state of the source. Both arguments are borrowed until `free`. */
	void *(*create)(const struct jit_target *target, struct jit_book *book);
	void (*free)(void *state);
	/* Searches for new files, and for files that have replaced others. */
	void (*search)(void *state);
	/* Reads entries from at most about `budget` bytes of the files, and adds them to the book.
	 * Returns true when there is nothing left to read. */
	bool (*read)(void *state, size_t budget);
	/* Warns once about each file of which entries are missing. `slow`: reading was ended before
	 * the end of the files because it took too long. */
	void (*warn)(void *state, bool slow);
};

extern const struct jit_source jit_by_perf_map;
extern const struct jit_source jit_by_jitdump;

/* --- V8's interpreter (v8.c), whose code is among the entries of a book ------------------- */

struct v8 {
	/* numbers, in the strings, of the names PLAIN and PROFILING (v8.c) */
	uint32_t plain, profiling;
	struct address_range *range; /* the code of interpreters, in ascending order; the user of
				      * the struct frees it */
	size_t count, capacity;
};

/* Initialises *v8; no code of an interpreter is known yet. `strings` must be those in which the
 * books intern names. */
void v8_init(struct v8 *v8, struct strings *strings);
/* Adds to v8->range the code of interpreters among the entries of the book from number *seen on,
 * and sets *seen to the number of entries. *seen must be 0 at first. */
void v8_update(struct v8 *v8, const struct jit_book *book, uint32_t *seen);
/* For each interpreted function V8 writes an entry, the range of which is the function's bytecode.
 * Returns the number of the entry for this bytecode in the epoch; JIT_NONE when there is none. */
uint32_t v8_find(const struct jit_book *book, const struct jit_bytecode *bytecode, uint32_t epoch);

#endif
