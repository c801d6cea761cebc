/* SPDX-License-Identifier: MIT */
/*
 * base.h - allocation that never fails, time, text buffers, parsers of numbers, small files,
 * random numbers and the log.
 *
 * Time is uint64_t nanoseconds of CLOCK_MONOTONIC, with _ns in the name.
 */
#ifndef WALLSAMPLE_BASE_BASE_H
#define WALLSAMPLE_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define NS_PER_SEC UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_US UINT64_C(1000)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* --- memory: on failure these print a message and end the program --------- */

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);

/*
 * Makes room in an array for at least `want` elements of `size` bytes. When it grows, *capacity
 * (in elements) at least doubles. Returns the array, which may have moved; the caller frees it.
 * New elements are not initialised.
 */
void *xgrow(void *array, size_t *capacity, size_t want, size_t size);

/* --- time -------------------------------------------------------------- */

uint64_t clock_now_ns(void);     /* CLOCK_MONOTONIC */
uint64_t clock_date_ns(void);    /* CLOCK_REALTIME: since 1970 */
uint64_t clock_own_cpu_ns(void); /* CPU time of this whole process */

/* --- numbers from text ------------------------------------------------- */

/*
 * Parses an unsigned number in `base` (10 or 16) at *cursor and skips spaces before it. On
 * success stores the number, moves *cursor behind it and returns true. Returns false and leaves
 * *cursor unchanged when there is no digit or the number overflows. Reads no byte behind the
 * terminating zero.
 */
bool parse_u64(const char **cursor, int base, uint64_t *value);

/* The same for a decimal number with an optional minus sign. */
bool parse_i64(const char **cursor, int64_t *value);

/* The parsers below return false unless the whole text is one valid number. */

/* A decimal number in [min, max]. */
bool parse_whole_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* A duration: "30", "1.5", "500ms", "2m", "1h", "250us", "30s". *ns is at least 1. */
bool parse_duration_ns(const char *text, uint64_t *ns);

/* A number of bytes: "65536", "64K", "1M", "2G" (powers of 1024). */
bool parse_size(const char *text, uint64_t *bytes);

/* A decimal fraction such as "99.5" in [min, max], in the C locale. */
bool parse_double(const char *text, double min, double max, double *value);

/* --- text that grows ----------------------------------------------------- */

struct strbuf {
	char *data; /* zero-terminated; NULL until text is added */
	size_t length;
	size_t capacity;
};

void strbuf_init(struct strbuf *sb);
void strbuf_release(struct strbuf *sb);
void strbuf_clear(struct strbuf *sb); /* sets the length to 0, keeps the memory */
void strbuf_add(struct strbuf *sb, const char *text, size_t length);
void strbuf_add_text(struct strbuf *sb, const char *text);
void strbuf_add_format(struct strbuf *sb, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Adds foreign text, escaped so that it cannot control a terminal, break a line or imitate other
 * text. Control characters, DEL, C1 controls and bytes that are not UTF-8 become "\xHH".
 * Invisible characters (zero-width ones, fillers) and those that reverse the direction of the
 * text around them become "\uHHHH" or "\UHHHHHHHH".
 */
void strbuf_add_escaped(struct strbuf *sb, const char *text);
/*
 * The same for programs that read lines of UTF-8: escapes only control characters, separators and
 * bytes that are not UTF-8.
 */
void strbuf_add_one_line(struct strbuf *sb, const char *text);

/* --- small files ----------------------------------------------------------- */

/*
 * Reads at most `limit` bytes of the file `name` below the directory descriptor `dirfd` (or
 * AT_FDCWD). Returns zero-terminated text, which the caller frees, and its length without the
 * zero in *length; NULL with errno set on failure. Ignores the size that stat(2) reports, which
 * is 0 in /proc, and reads until end of file.
 */
char *file_read_text(int dirfd, const char *name, size_t limit, size_t *length);

/*
 * Reads `size` bytes at `offset` of an open file, with as many calls of pread(2) as needed.
 * Returns the number of bytes read: fewer than `size` at the end of the file or after an error.
 */
size_t file_read_at(int fd, uint64_t offset, void *to, size_t size);

/*
 * Opens the file that the O_PATH descriptor `named` refers to for reading. The target chose that
 * file, so only regular files with data are opened: reading an attribute of /sys or a file of
 * /proc can make the kernel or a device act. Closes `named` in every case; it may be -1. Returns
 * a descriptor, which the caller closes, or -1 with errno: ELOOP for a symbolic link, EINVAL for
 * other refused files.
 */
int file_open_named(int named);

/* --- random numbers ------------------------------------------------------- */

/* The state of one generator (xoshiro256**). There is no shared state. */
struct rng {
	uint64_t s[4];
};

void rng_seed(struct rng *rng, uint64_t seed);
uint64_t rng_next(struct rng *rng);
double rng_uniform(struct rng *rng); /* in (0, 1] */
double rng_exponential(struct rng *rng, double mean);
/* Number of trials up to and including the first success at probability p in (0, 1]; >= 1. */
uint32_t rng_geometric(struct rng *rng, double p);

/* --- log: status messages, never on stdout ----------------------------------- */

enum log_level { LOG_QUIET, LOG_NORMAL, LOG_VERBOSE, LOG_DEBUG };

/* Passed by value or const pointer. Nothing is written when the log or its stream is NULL. */
struct log {
	enum log_level level;
	FILE *stream;
	/* Called before and after each line, because writing it may block; or NULL. */
	void (*before)(void *context);
	void (*after)(void *context);
	void *context;
};

/*
 * Writes one line "wallsample: …" to log->stream when log->level >= level, escaped as by
 * strbuf_add_escaped.
 */
void log_say(const struct log *log, enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
