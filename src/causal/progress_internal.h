/* SPDX-License-Identifier: MIT */
/* progress_internal.h - progress points of a target, as the files progress_*.c share them. */
#ifndef WALLSAMPLE_CAUSAL_PROGRESS_INTERNAL_H
#define WALLSAMPLE_CAUSAL_PROGRESS_INTERNAL_H

#include "causal/progress_coz_points_internal.h"
#include "wallsample/base/error.h"
#include "wallsample/causal/progress.h"
#include "wallsample/process/maps.h"
#include "wallsample/process/process.h"
#include "wallsample/symbol/symbol.h"
#include "wallsample/tracer/process_memory.h"

/* --- progress_words.c: the text of a point, parsed ------------------------------------------ */

/* X(NAME, word): the word before the colon of a SPEC. */
#define PROGRESS_SOURCES(X)                                                                        \
	X(VAR, "var")                                                                              \
	X(COZ, "coz")                                                                              \
	X(IO, "io")                                                                                \
	X(SYSCALLS, "syscalls") /* read as IO */                                                   \
	X(FUNC, "func")                                                                            \
	X(LINE, "line")

enum progress_source_kind {
#define X(name, word) PROGRESS_##name,
	PROGRESS_SOURCES(X)
#undef X
};

/* X(NAME, field of /proc/PID/io, what it counts). */
#define PROGRESS_IO_FIELDS(X)                                                                      \
	X(RCHAR, "rchar", "bytes handed out by read(2) and its kin")                               \
	X(WCHAR, "wchar", "bytes taken by write(2) and its kin")                                   \
	X(SYSCR, "syscr", "calls of read(2) and its kin")                                          \
	X(SYSCW, "syscw", "calls of write(2) and its kin")                                         \
	X(READ_BYTES, "read_bytes", "bytes fetched from storage")                                  \
	X(WRITE_BYTES, "write_bytes", "bytes sent to storage")

enum progress_io_field {
#define X(name, word, text) PROGRESS_##name,
	PROGRESS_IO_FIELDS(X) PROGRESS_IO_FIELD_COUNT
#undef X
};

const char *progress_io_word(enum progress_io_field field);
const char *progress_io_text(enum progress_io_field field);

/* A counter as it was specified. All pointers are owned. */
struct progress_source {
	enum progress_source_kind kind; /* never SYSCALLS */
	char *text;                     /* "var:hits+8/4", as given */
	char *module;                   /* VAR, FUNC: module or source file; NULL: not given */
	char *name;      /* VAR, FUNC: symbol, NULL for an address; COZ: name of the point;
			  * LINE: source file; IO: NULL */
	uint64_t number; /* VAR: offset, or the address; LINE: line; IO: field */
	unsigned size;   /* VAR; 0: not given */
};

struct progress_words {
	char *name; /* the spec if no name was given */
	char *spec;
	enum causal_point_kind kind;
	struct progress_source source[2]; /* LATENCY: begin, end */
	size_t source_count;
};

/* Parses [NAME=]SPEC (progress.h). ERROR_USAGE gives an example, and `out` is empty then. */
int progress_words_read(const char *text, struct progress_words *out, struct error *err);
void progress_words_release(struct progress_words *words);

/* True when the caller has to count it, by breakpoints. */
bool progress_source_is_counted(const struct progress_source *source);

/* --- progress_place.c: addresses in the target ------------------------------------------- */

/* An image that the target has mapped. */
struct progress_image {
	const struct module *module;
	uint64_t bias;
	bool own; /* the program itself */
};

struct progress_images {
	struct progress_image *image; /* the program first */
	size_t count, capacity;
};

/* Lists all files that are mapped as code. */
void progress_images_init(struct progress_images *images, const struct maps *maps);
void progress_images_release(struct progress_images *images);

struct progress_place {
	uint64_t address;
	unsigned size;      /* of a variable; else 0 */
	const char *module; /* base name, "" for an address; borrowed from the modules */
	char *note;         /* remark for the user about the choice; or NULL; to be freed */
};

/* Finds a VAR, FUNC or LINE. The error names what was not found, and similar names. */
int progress_place_find(const struct progress_images *images, struct symbols *symbols,
			const struct progress_source *source, struct progress_place *out,
			struct error *err);

/* The same for a LINE (progress_line.c). */
int progress_line_find(const struct progress_images *images, struct symbols *symbols,
		       const struct progress_source *source, struct progress_place *out,
		       struct error *err);

/* True when the module has this name; "libssl" matches libssl.so.3. */
bool progress_module_is(const struct module *module, const char *name);

/* --- counters and points ------------------------------------------------------------------ */

/* A counter in the target. */
struct progress_counter {
	const struct progress_source *source;
	struct progress_place place;    /* VAR, FUNC, LINE */
	struct progress_coz_places coz; /* COZ: addresses known so far */
	unsigned size;                  /* in bytes: differences are modulo 2^(8 * size) */
	bool known;                     /* `now` is valid */
	uint64_t now;                   /* last reading */
	uint64_t total;                 /* events since progress_open */
	uint64_t back;                  /* number of times that it was set back */
};

struct progress_entry {
	struct progress_words words;
	struct progress_counter counter[2];
	bool exact;    /* LATENCY: begun - ended is the number in progress */
	int64_t least; /* LATENCY, not exact: minimum of begun - ended since progress_open */
};

struct progress {
	const struct process *process;
	struct maps *maps;
	struct symbols *symbols;
	pid_t reader; /* a living thread, for process_vm_readv(2) */
	int io_fd;    /* /proc/PID/io; -1: not needed */
	struct progress_coz coz;
	struct progress_entry entry[CAUSAL_POINTS_MOST];
	size_t count;
	size_t left_out; /* points of coz.h beyond CAUSAL_POINTS_MOST */
	struct progress_counted counted[PROGRESS_COUNTED_MOST];
	struct progress_counter *counted_counter[PROGRESS_COUNTED_MOST];
	uint64_t counted_total[PROGRESS_COUNTED_MOST];
	size_t counted_count;
};

/*
 * Adds the events between the last reading and `now` to the total. A counter of 4 or 8 bytes that
 * jumps by more than half of its range was set back: nothing is added.
 */
void progress_counter_step(struct progress_counter *counter, uint64_t now);

/* Reads all counters; false: the target has ended, or its memory is no longer readable. */
bool progress_read_counters(struct progress *progress);

/* To be called once, after the first reading of all counters. */
void progress_entry_start(struct progress_entry *entry);
/* The value of a point from the last reading. */
struct progress_value progress_entry_value(struct progress_entry *entry);

/* Parses the number after "FIELD: " in the text of /proc/PID/io. */
bool progress_io_parse(const char *text, enum progress_io_field field, uint64_t *value);

/*
 * Finds a counter of coz.h. It is no error when the program has not executed the point yet: each
 * reading searches again. A latency with one name is known once both its counters exist.
 */
int progress_coz_open(struct progress *progress, const struct progress_images *images,
		      struct progress_counter *counter, struct error *err);
/* Makes an entry of each point of coz.h, up to CAUSAL_POINTS_MOST. */
int progress_coz_open_all(struct progress *progress, const struct progress_images *images,
			  struct error *err);
/* Reads the table again and finds points that are new in it. */
bool progress_coz_settle(struct progress *progress);

/* Opens /proc/PID/io; ERROR_NOT_PERMITTED gives the likely reason. */
int progress_io_open(const struct process *process, int *fd, struct error *err);
/* Reads all fields; false: the process has ended, or no permission any more. */
bool progress_io_read(int fd, uint64_t value[PROGRESS_IO_FIELD_COUNT]);

#endif
