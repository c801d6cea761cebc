/* SPDX-License-Identifier: MIT */
/*
 * progress_words_internal.h - what a progress point is asked for with, taken apart: progress.h
 * has the grammar.
 */
#ifndef WALLSAMPLE_CAUSAL_PROGRESS_WORDS_INTERNAL_H
#define WALLSAMPLE_CAUSAL_PROGRESS_WORDS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/causal/causal.h"
#include "wallsample/base/error.h"

/* X(NAME, what stands before the colon) */
#define PROGRESS_SOURCES(X)                                                    \
	X(VAR, "var")                                                          \
	X(COZ, "coz")                                                          \
	X(IO, "io")                                                            \
	X(SYSCALLS, "syscalls") /* read as IO */                               \
	X(FUNC, "func")                                                        \
	X(LINE, "line")

enum progress_source_kind {
#define X(name, word) PROGRESS_##name,
	PROGRESS_SOURCES(X)
#undef X
};

/* X(NAME, as in /proc/PID/io, what it counts) */
#define PROGRESS_IO_FIELDS(X)                                                  \
	X(RCHAR, "rchar", "bytes handed out by read(2) and its kin")           \
	X(WCHAR, "wchar", "bytes taken by write(2) and its kin")               \
	X(SYSCR, "syscr", "calls of read(2) and its kin")                      \
	X(SYSCW, "syscw", "calls of write(2) and its kin")                     \
	X(READ_BYTES, "read_bytes", "bytes fetched from storage")              \
	X(WRITE_BYTES, "write_bytes", "bytes sent to storage")

enum progress_io_field {
#define X(name, word, text) PROGRESS_##name,
	PROGRESS_IO_FIELDS(X)
#undef X
	PROGRESS_IO_FIELD_COUNT
};

const char *progress_io_word(enum progress_io_field field);
const char *progress_io_text(enum progress_io_field field);

/* One thing that counts. All owned. */
struct progress_source {
	enum progress_source_kind kind; /* never SYSCALLS */
	char *text;      /* "var:hits+8/4", as it was given */
	char *module;    /* VAR, FUNC: or source file; NULL: not said */
	char *name;      /* VAR, FUNC: symbol, NULL if an address was given; COZ: of the point;
			  * LINE: source file; IO: NULL */
	uint64_t number; /* VAR: what is added, or the address; LINE: the line; IO: the field */
	unsigned size;   /* VAR: 0: not said */
};

struct progress_words {
	char *name;      /* its spec if it was given none */
	char *spec;
	enum causal_point_kind kind;
	struct progress_source source[2]; /* LATENCY: begin, end */
	size_t source_count;
};

/* ERROR_USAGE says what is wrong and gives an example; then nothing is to be released. */
int progress_words_read(const char *text, struct progress_words *out, struct error *err);
void progress_words_release(struct progress_words *words);

/* Has it to be counted by somebody else, by breakpoints? */
bool progress_source_is_counted(const struct progress_source *source);

#endif
