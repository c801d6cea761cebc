/* SPDX-License-Identifier: MIT */
/* progress_internal.h - progress points: declarations that the files progress_*.c share. */
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

/* Sources of counters. X(NAME, word): the word that stands before the colon of a SPEC. */
#define PROGRESS_SOURCES(X)                                                                        \
	X(VAR, "var")                                                                              \
	X(COZ, "coz")                                                                              \
	X(IO, "io")                                                                                \
	X(SYSCALLS, "syscalls") /* the parser turns it into IO */                                  \
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

/* A counter as the user specified it. All pointers are owned. */
struct progress_source {
	enum progress_source_kind kind; /* never SYSCALLS */
	char *text;                     /* the spec: "var:hits+8/4" */
	char *module;                   /* VAR, FUNC: module or source file; NULL: not given */
	char *name;      /* VAR, FUNC: symbol, NULL for an address; COZ: point; LINE: source file */
	uint64_t number; /* VAR: offset or address; LINE: line; IO: enum progress_io_field */
	unsigned size;   /* VAR: size in bytes; 0: not given */
};

/* A progress point as the user specified it. All pointers are owned. */
struct progress_words {
	char *name; /* name for the user; equal to `spec` if none was given */
	char *spec;
	enum causal_point_kind kind;
	struct progress_source source[2]; /* LATENCY: begin, end */
	size_t source_count;
};

/* Parses [NAME=]SPEC (progress.h). On ERROR_USAGE, whose text says why, *out needs no release. */
int progress_words_read(const char *text, struct progress_words *out, struct error *err);
void progress_words_release(struct progress_words *words);
/* True for FUNC and LINE, whose executions the caller of progress_read() counts by breakpoints. */
bool progress_source_is_counted(const struct progress_source *source);

/* --- progress_place.c: addresses in the target ------------------------------------------- */

/* The images that the target has mapped. */
struct progress_images {
	struct progress_image {
		const struct module *module;
		uint64_t bias; /* address in the target minus vaddr in the image */
		bool own;      /* the program itself, not a library */
	} * image;             /* the program's own image comes first */
	size_t count, capacity;
	struct symbols *symbols; /* symbols of the images, borrowed */
};

/* Lists the images of all files with executable mappings. `maps` and `symbols` are borrowed. */
void progress_images_init(struct progress_images *images, const struct maps *maps,
			  struct symbols *symbols);
void progress_images_release(struct progress_images *images);

struct progress_place {
	uint64_t address;
	unsigned size;      /* size of the variable in bytes; 0 for code */
	const char *module; /* base name of the file, "" for an address; borrowed */
	char *note;         /* remark for the user, owned; NULL if there is none */
};

/* Finds the place of a VAR, FUNC or LINE. The error names what was not found, and similar names. */
int progress_place_find(const struct progress_images *images, const struct progress_source *source,
			struct progress_place *out, struct error *err);
/* progress_line.c: progress_place_find() for a LINE. */
int progress_line_find(const struct progress_images *images, const struct progress_source *source,
		       struct progress_place *out, struct error *err);

/* --- progress_coz.c: the points of coz.h that the target has executed ------------------------ */

/* Most counters read for one name; struct progress_coz_table says why there may be several. */
#define PROGRESS_COZ_PLACES_MOST 4
struct progress_coz_places {
	uint64_t address[PROGRESS_COZ_PLACES_MOST];
	size_t count;
};

struct progress_coz {
	uint64_t table; /* address of the table in the target; 0: the library is not loaded */
	struct progress_coz_seen {
		char name[PROGRESS_COZ_NAME_MOST];
		enum progress_coz_type type;
		uint64_t address; /* address of the point's counter in the target */
	} * seen;                 /* the ready and valid points of the table, in its order */
	size_t count;
	uint32_t used; /* number of points in the table at the last reading, ready or not */
	bool waiting;  /* some point in the table was not ready at the last reading */
};

/* Parses a table; omits points that are not ready or not valid. False: invalid header. */
bool progress_coz_parse(struct progress_coz *coz, const struct progress_coz_table *table);
void progress_coz_release(struct progress_coz *coz);
/* Stores the addresses of counters of this name and type, as many as fit; false: there is none. */
bool progress_coz_find(const struct progress_coz *coz, const char *name,
		       enum progress_coz_type type, struct progress_coz_places *out);
/* progress_coz_file.c: true when the file contains PROGRESS_COZ_FUNCTION. */
bool progress_coz_is_in_file(int fd);

/* --- counters and points in the target ------------------------------------------------------ */

struct progress_counter {
	const struct progress_source *source;
	struct progress_place place;    /* VAR, FUNC, LINE */
	struct progress_coz_places coz; /* COZ: addresses of its counters that are known so far */
	unsigned size;                  /* size in bytes: differences are modulo 2^(8 * size) */
	bool known;                     /* `now` is valid */
	uint64_t now;                   /* value at the last reading */
	uint64_t total;                 /* events since progress_open */
	uint64_t back;                  /* number of times that the program set the counter back */
};

struct progress_entry {
	struct progress_words words;
	struct progress_counter counter[2]; /* LATENCY: begin, end */
	/* LATENCY: the number in progress is begin - end if `exact`, else begin - end - least. */
	bool exact;    /* both count from the program's start (VAR, COZ); begin >= end at first */
	int64_t least; /* LATENCY without `exact`: minimum of begin - end since progress_open */
};

struct progress {
	const struct process *process;
	pid_t reader; /* a living thread of the process, for process_vm_readv(2) */
	int io_fd;    /* /proc/PID/io; -1: no point needs this file */
	struct progress_coz coz;
	struct progress_entry entry[CAUSAL_POINTS_MOST];
	size_t count;
	size_t left_out; /* number of points of coz.h beyond CAUSAL_POINTS_MOST */
	/* Arrays with an element for each piece of code whose executions the caller counts. */
	struct progress_counted counted[PROGRESS_COUNTED_MOST];
	struct progress_counter *counted_counter[PROGRESS_COUNTED_MOST]; /* gets the executions */
	uint64_t counted_total[PROGRESS_COUNTED_MOST]; /* as passed to progress_set_counted() */
	size_t counted_count;
};

/* progress_read.c: stores the value `now`; adds the events since the last reading to the total. */
void progress_counter_step(struct progress_counter *counter, uint64_t now);
/* Reads memory of the target into `to`; another thread becomes the reader if the reader has ended.
 * False: a piece is not readable, and errno is that of process_vm_readv(2). */
bool progress_read_memory(struct progress *progress, const struct memory_piece *piece, size_t count,
			  void *to);
/* Reads all counters; false: the target has ended, or its memory is no longer readable. */
bool progress_read_counters(struct progress *progress);
/* Decides entry->exact from the first reading of all counters; to be called once, after it. */
void progress_entry_start(struct progress_entry *entry);
/* Returns the value of a point, computed from the last readings of its counters. */
struct progress_value progress_entry_value(struct progress_entry *entry);
/* Stores the number after "FIELD: " in the text of /proc/PID/io; false: it is not there. */
bool progress_io_parse(const char *text, enum progress_io_field field, uint64_t *value);
/* Opens /proc/PID/io, which the caller closes. The error says why it is not readable. */
int progress_io_open(const struct process *process, int *fd, struct error *err);

/* progress_coz.c: finds the counters of a point of coz.h. It is no error when the program has not
 * executed the point yet: each reading of the counters then searches for the point again. */
int progress_coz_open(struct progress *progress, const struct progress_images *images,
		      struct progress_counter *counter, struct error *err);
/* Makes an entry for each executed COZ_PROGRESS, and for each name whose COZ_BEGIN and COZ_END were
 * both executed, up to CAUSAL_POINTS_MOST. It is an error if there is none. */
int progress_coz_open_all(struct progress *progress, const struct progress_images *images,
			  struct error *err);
/* Reads the table again and finds its new points. False: the table is not readable or not valid. */
bool progress_coz_update(struct progress *progress);
#endif
