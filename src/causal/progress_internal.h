/* SPDX-License-Identifier: MIT */
/* progress_internal.h - progress points of a target, as the files progress_*.c share them. */
#ifndef WALLSAMPLE_CAUSAL_PROGRESS_INTERNAL_H
#define WALLSAMPLE_CAUSAL_PROGRESS_INTERNAL_H

#include "wallsample/base/error.h"
#include "wallsample/causal/progress.h"
#include "wallsample/causal/progress_coz.h"
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
	X(SYSCALLS, "syscalls") /* parsed into IO */                                               \
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

extern const struct progress_io_words {
	const char *word, *text;
} progress_io_fields[PROGRESS_IO_FIELD_COUNT];

/* A counter as it was specified. All pointers are owned. */
struct progress_source {
	enum progress_source_kind kind; /* never SYSCALLS */
	char *text;                     /* the spec: "var:hits+8/4" */
	char *module;                   /* VAR, FUNC: module or source file; NULL: not given */
	char *name;      /* symbol (NULL for an address), point of coz.h, or source file */
	uint64_t number; /* VAR: offset or address; LINE: line; IO: enum progress_io_field */
	unsigned size;   /* VAR: bytes; 0: not given */
};

/* A point as it was specified. All pointers are owned. */
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
/* True when the caller counts the executions of the source's code, by breakpoints. */
bool progress_source_is_counted(const struct progress_source *source);

/* --- progress_place.c: addresses in the target ------------------------------------------- */

/* The images that the target has mapped. */
struct progress_images {
	struct progress_image {
		const struct module *module;
		uint64_t bias;
		bool own; /* the program itself, not a library */
	} * image;        /* the program first */
	size_t count, capacity;
	struct symbols *symbols; /* symbols of the images, borrowed */
};

/* Lists all files that are mapped as code. The arguments are borrowed. */
void progress_images_init(struct progress_images *images, const struct maps *maps,
			  struct symbols *symbols);
void progress_images_release(struct progress_images *images);

struct progress_place {
	uint64_t address;
	unsigned size;      /* bytes of a variable; 0 for code */
	const char *module; /* base name, "" for an address; borrowed from the modules */
	char *note;         /* remark for the user, owned; NULL: there is nothing to remark */
};

/* Finds a VAR, FUNC or LINE. The error names what was not found, and similar names. */
int progress_place_find(const struct progress_images *images, const struct progress_source *source,
			struct progress_place *out, struct error *err);
/* progress_line.c. Finds a LINE. */
int progress_line_find(const struct progress_images *images, const struct progress_source *source,
		       struct progress_place *out, struct error *err);

/* --- progress_coz.c: the points of coz.h that the target has executed ------------------------ */

/* Counters of one name: threads that execute a point for the first time at once make one each. */
#define PROGRESS_COZ_PLACES_MOST 4
struct progress_coz_places {
	uint64_t address[PROGRESS_COZ_PLACES_MOST];
	size_t count;
};

struct progress_coz {
	uint64_t table; /* address in the target; 0: the library is not loaded */
	struct progress_coz_seen {
		char name[PROGRESS_COZ_NAME_MOST];
		enum progress_coz_type type;
		uint64_t address; /* of its counter in the target */
	} * seen;                 /* the complete points, in the order of the table */
	size_t count;
	uint32_t used; /* number of points in the table when it was read */
	bool waiting;  /* a point in the table was not complete */
};

/* Parses a table. False: its head is not that of a table. Incomplete points are left out. */
bool progress_coz_parse(struct progress_coz *coz, const struct progress_coz_table *table);
void progress_coz_release(struct progress_coz *coz);
/* Stores all counters of this name and type; false: there is none. */
bool progress_coz_find(const struct progress_coz *coz, const char *name,
		       enum progress_coz_type type, struct progress_coz_places *out);
/* progress_coz_file.c. True when the file contains the name of coz.h's function. */
bool progress_coz_is_in_file(int fd);

/* --- counters and points in the target ------------------------------------------------------ */

struct progress_counter {
	const struct progress_source *source;
	struct progress_place place;    /* VAR, FUNC, LINE */
	struct progress_coz_places coz; /* COZ: addresses known so far */
	unsigned size;                  /* in bytes: differences are modulo 2^(8 * size) */
	bool known;                     /* `now` is valid */
	uint64_t now;                   /* value at the last reading */
	uint64_t total;                 /* events since progress_open */
	uint64_t back;                  /* number of times that it was set back */
};

struct progress_entry {
	struct progress_words words;
	struct progress_counter counter[2]; /* LATENCY: begin, end */
	bool exact;                         /* LATENCY: begin - end is the number in progress */
	int64_t least; /* LATENCY, not exact: minimum of begin - end since progress_open */
};

struct progress {
	const struct process *process;
	pid_t reader; /* a living thread of the process, for process_vm_readv(2) */
	int io_fd;    /* /proc/PID/io; -1: no point needs it */
	struct progress_coz coz;
	struct progress_entry entry[CAUSAL_POINTS_MOST];
	size_t count;
	size_t left_out; /* number of points of coz.h beyond CAUSAL_POINTS_MOST */
	/* The code that the caller counts: with counter and total, arrays of counted_count. */
	struct progress_counted counted[PROGRESS_COUNTED_MOST];
	struct progress_counter *counted_counter[PROGRESS_COUNTED_MOST];
	uint64_t counted_total[PROGRESS_COUNTED_MOST];
	size_t counted_count;
};

/* progress_read.c. Adds the events between the last reading and `now` to the total. A counter of 4
 * or 8 bytes that jumps by more than half of its range was set back: nothing is added. */
void progress_counter_step(struct progress_counter *counter, uint64_t now);
/* Reads pieces of the target's memory by memory_read_pieces; another thread becomes the reader if
 * the reader has ended. False: a piece is not readable; errno is that of process_vm_readv(2). */
bool progress_read_memory(struct progress *progress, const struct memory_piece *piece, size_t count,
			  void *to);
/* Reads all counters; false: the target has ended, or its memory is no longer readable. */
bool progress_read_counters(struct progress *progress);
/* To be called once, after the first reading of all counters. */
void progress_entry_start(struct progress_entry *entry);
/* Returns the value of a point by the last reading. */
struct progress_value progress_entry_value(struct progress_entry *entry);
/* Parses the number after "FIELD: " in the text of /proc/PID/io. */
bool progress_io_parse(const char *text, enum progress_io_field field, uint64_t *value);
/* Opens /proc/PID/io; ERROR_NOT_PERMITTED gives the likely reason. */
int progress_io_open(const struct process *process, int *fd, struct error *err);

/* progress_coz.c. Finds a counter of coz.h. A point that the program has not executed yet is no
 * error: each reading searches again. */
int progress_coz_open(struct progress *progress, const struct progress_images *images,
		      struct progress_counter *counter, struct error *err);
/* Makes an entry of each point of coz.h, up to CAUSAL_POINTS_MOST. */
int progress_coz_open_all(struct progress *progress, const struct progress_images *images,
			  struct error *err);
/* Reads the table again and finds its new points. False: the table is not readable or not valid. */
bool progress_coz_update(struct progress *progress);

#endif
