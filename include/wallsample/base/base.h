/* SPDX-License-Identifier: MIT */
/*
 * base.h - allocation that ends the program when memory is exhausted, time, text buffers, parsers
 * of numbers, small files, random numbers and the log.
 *
 * Times and durations are in nanoseconds, in variables whose names end in _ns. A time is uint64_t,
 * of CLOCK_MONOTONIC unless its comment names another clock.
 */
#ifndef WALLSAMPLE_BASE_BASE_H
#define WALLSAMPLE_BASE_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define NS_PER_SEC UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_US UINT64_C(1000)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* --- memory: on failure these functions print a message and end the program --------- */

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);

/*
 * Makes room in an array for at least `want` elements of `size` bytes. If *capacity, in elements,
 * is below `want`, at least doubles it and reallocates the array. Returns the array, perhaps at
 * another address; the caller frees it. New elements are not initialised.
 */
void *xgrow(void *array, size_t *capacity, size_t want, size_t size);

/* --- time -------------------------------------------------------------- */

uint64_t clock_now_ns(void);        /* CLOCK_MONOTONIC */
uint64_t clock_date_ns(void);       /* CLOCK_REALTIME: time since 1970-01-01 UTC */
uint64_t clock_thread_cpu_ns(void); /* CPU time of the calling thread */
uint64_t clock_own_cpu_ns(void);    /* CPU time of all threads of the calling process */

/*
 * Limits work that is done often, such as reading a list, to 1% of a CPU, averaged over a second.
 * The limit applies to CPU time: work during which the process loses its CPU does not delay the
 * next one. All bytes zero: the budget of a second is left.
 */
struct cpu_budget {
	int64_t left_ns; /* CPU time that is left; below 0: the latest work used more than that */
	uint64_t filled_ns; /* time up to which the budget has grown; 0: it is full */
	uint64_t began_ns;  /* CPU time of the process when the latest work began */
};

/* Begins work. Returns false when the budget is used up: then the work is not to be done.
 * `now_ns`: the current time (CLOCK_MONOTONIC). */
bool cpu_budget_begin(struct cpu_budget *budget, uint64_t now_ns);
/* Ends the work that was begun last. */
void cpu_budget_end(struct cpu_budget *budget);

/* --- numbers from text ------------------------------------------------- */

/*
 * Skips spaces and tabs at *cursor and parses an unsigned number in `base` (10 or 16). On success
 * stores the number, moves *cursor behind its last digit and returns true. Returns false and leaves
 * *cursor unchanged when there is no digit or the number overflows. Reads no byte behind the
 * terminating zero.
 */
bool parse_u64(const char **cursor, int base, uint64_t *value);

/* Like parse_u64, for a decimal number with an optional minus sign. */
bool parse_i64(const char **cursor, int64_t *value);

/*
 * The parsers below return false, and store nothing, unless the whole text is one number (with a
 * unit, for those that permit one) in the range that the comment states.
 */

/* Parses a decimal number in [min, max]. */
bool parse_whole_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* Parses a duration such as "30" (seconds), "1.5s", ".5", "500ms", "2m", "1h". *ns is >= 1. */
bool parse_duration_ns(const char *text, uint64_t *ns);

/* Parses a number of bytes such as "65536", "64K", "1M", "2G"; the units are powers of 1024. */
bool parse_size(const char *text, uint64_t *bytes);

/* Parses a decimal number such as "99.5" or "-2" in [min, max]. The decimal point is ".". */
bool parse_double(const char *text, double min, double max, double *value);

/* --- text that grows ----------------------------------------------------- */

struct strbuf {
	char *data;      /* zero-terminated text; NULL until a function adds text */
	size_t length;   /* bytes of text, without the zero */
	size_t capacity; /* bytes allocated */
};

/* An empty buffer. A buffer whose bytes are all zero is empty, too. */
#define STRBUF_INIT ((struct strbuf){ .data = NULL })

void strbuf_init(struct strbuf *sb);
/* Frees the text. The buffer is empty afterwards, and can be used again. */
void strbuf_release(struct strbuf *sb);
/* Sets the length to 0 and keeps the memory. */
void strbuf_clear(struct strbuf *sb);
/* Adds `length` bytes of text. The functions below add zero-terminated text. */
void strbuf_add(struct strbuf *sb, const char *text, size_t length);
void strbuf_add_text(struct strbuf *sb, const char *text);
void strbuf_add_format(struct strbuf *sb, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void strbuf_add_arguments(struct strbuf *sb, const char *fmt, va_list args)
	__attribute__((format(printf, 2, 0)));
/*
 * Adds text from outside the program, escaped so that it cannot control a terminal, end a line or
 * imitate other text. Control characters and bytes that are not UTF-8 become "\xHH". Line and
 * paragraph separators, invisible characters, and characters that change the direction of the text
 * around them become "\uHHHH" or "\UHHHHHHHH". Makes sb->data non-NULL even for an empty text.
 */
void strbuf_add_escaped(struct strbuf *sb, const char *text);
/*
 * Adds text for programs that read lines of UTF-8. Unlike strbuf_add_escaped it escapes only
 * control characters, line and paragraph separators, and bytes that are not UTF-8.
 */
void strbuf_add_one_line(struct strbuf *sb, const char *text);
/*
 * Adds text for programs that read lines, and for terminals. Unlike strbuf_add_one_line it also
 * escapes the characters that change the direction of the text around them: with them a name could
 * change the order in which a terminal shows the characters of other names.
 */
void strbuf_add_ordered_line(struct strbuf *sb, const char *text);

/* --- small files ----------------------------------------------------------- */

/*
 * Reads the file `name` below the directory descriptor `dirfd` (or AT_FDCWD) up to its end, or only
 * the first `limit` bytes if it is longer. Does not call stat(2), which reports no size for files
 * of /proc. Returns zero-terminated text, which the caller frees, or NULL with errno set. On
 * success stores the length without the zero in *length, unless `length` is NULL.
 */
char *file_read_text(int dirfd, const char *name, size_t limit, size_t *length);

/* Stores the decimal number at the beginning of such a file. Returns false if there is none. */
bool file_read_number(int dirfd, const char *name, uint64_t *value);

/* Reads `size` bytes at `offset` of an open file, with as many calls of pread(2) as needed. Returns
 * the number of bytes read: fewer than `size` at the end of the file or after an error. */
size_t file_read_at(int fd, uint64_t offset, void *to, size_t size);
/* Writes all bytes, whatever signals arrive. Returns false with errno set after an error. */
bool file_write_all(int fd, const char *text, size_t length);

/*
 * Opens the file of the O_PATH descriptor `named` for reading. The target chose the name of the
 * file, so only regular files on file systems that store data are opened: reading an attribute of
 * /sys or a file of /proc can make the kernel or a device act. Closes `named`, which may be -1, in
 * every case. Returns a descriptor, which the caller closes, or -1 with errno set: ELOOP for a
 * symbolic link, EINVAL for other files that are not opened. If `named` is -1, errno is unchanged.
 */
int file_open_named(int named);

/* --- random numbers ------------------------------------------------------- */

/* The whole state of one generator (xoshiro256**). */
struct rng {
	uint64_t s[4];
};

void rng_seed(struct rng *rng, uint64_t seed);
uint64_t rng_next(struct rng *rng);
double rng_uniform(struct rng *rng); /* a random number, uniformly distributed in (0, 1] */
double rng_exponential(struct rng *rng, double mean);
/* Simulates trials that each succeed with probability p in (0, 1]. Returns the number of trials up
 * to and including the first success: at least 1, and UINT32_MAX if it is larger. */
uint32_t rng_geometric(struct rng *rng, double p);

/* --- log: status messages, never on stdout ----------------------------------- */

enum log_level { LOG_QUIET, LOG_NORMAL, LOG_VERBOSE, LOG_DEBUG };

struct log {
	enum log_level level;
	FILE *stream; /* borrowed; NULL: nothing is written */
	/* Called before and after a line is written. Writing may block: a caller that holds threads
	 * stopped can release them in `before`. NULL: not called. */
	void (*before)(void *context);
	void (*after)(void *context);
	void *context; /* argument of `before` and `after` */
};

/*
 * Writes one line "wallsample: …" to log->stream if log->level >= level. Writes nothing if the log
 * is NULL. The message, of which at most 1023 bytes are used, is escaped by strbuf_add_escaped:
 * callers need not escape names.
 */
void log_say(const struct log *log, enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
