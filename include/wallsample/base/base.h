/* SPDX-License-Identifier: MIT */
/*
 * base.h - the small things that every module needs: memory that never
 * fails, time, text buffers, parsed numbers, random numbers.
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

/* --- memory: these return memory or end the program, saying so ---------- */

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);

/*
 * Makes room in a growing array for at least `want` elements of `size` bytes;
 * *capacity (in elements) at least doubles. Returns the array, moved or not.
 * New elements are not initialised.
 */
void *xgrow(void *array, size_t *capacity, size_t want, size_t size);

/* --- time -------------------------------------------------------------- */

uint64_t clock_now_ns(void);   /* CLOCK_MONOTONIC */
uint64_t clock_date_ns(void);  /* CLOCK_REALTIME: since 1970 */
uint64_t clock_own_cpu_ns(void); /* CPU time of this whole process */

/* --- numbers from text ------------------------------------------------- */

/*
 * Parses an unsigned number in `base` (10 or 16) at *cursor, skipping spaces
 * before it. On success stores it, moves *cursor behind it and returns true;
 * false, with *cursor where it was, when there is no digit or it overflows.
 * Reads no further than the terminating zero.
 */
bool parse_u64(const char **cursor, int base, uint64_t *value);

/* The same for a decimal number with an optional minus sign. */
bool parse_i64(const char **cursor, int64_t *value);

/* The whole text is one number in [min, max], and nothing behind it. */
bool parse_whole_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* "30", "1.5", "500ms", "2m", "1h", "250us", "30s": a time in ns, at least 1. */
bool parse_duration_ns(const char *text, uint64_t *ns);

/* "65536", "64K", "1M", "2G" (powers of 1024): bytes. */
bool parse_size(const char *text, uint64_t *bytes);

/* A decimal fraction such as "99.5" in [min, max], in the C locale. */
bool parse_double(const char *text, double min, double max, double *value);

/* --- text that grows ----------------------------------------------------- */

struct strbuf {
	char *data; /* zero-terminated once anything was added; else NULL */
	size_t length;
	size_t capacity;
};

void strbuf_init(struct strbuf *sb);
void strbuf_release(struct strbuf *sb);
void strbuf_clear(struct strbuf *sb); /* keeps the memory */
void strbuf_add(struct strbuf *sb, const char *text, size_t length);
void strbuf_add_text(struct strbuf *sb, const char *text);
void strbuf_add_format(struct strbuf *sb, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Adds foreign text so that it cannot harm a terminal, break a line or look like what it is
 * not: control characters, DEL, C1 controls and bytes that are not UTF-8 become "\xHH";
 * characters that do not show (zero-width ones, fillers) or that turn the direction of
 * the text around them become "\uHHHH" or "\UHHHHHHHH".
 */
void strbuf_add_foreign(struct strbuf *sb, const char *text);
/*
 * The same for programs that read lines of UTF-8: what would break that is replaced, and
 * names stay whole otherwise.
 */
void strbuf_add_one_line(struct strbuf *sb, const char *text);

/* --- small files ----------------------------------------------------------- */

/*
 * Reads the file `name` below the directory descriptor `dirfd` (or AT_FDCWD)
 * up to `limit` bytes into fresh memory, zero-terminated; *length is without
 * the zero. Returns NULL with errno set on failure. The caller frees it.
 * Meant for /proc: it reads until end of file, whatever stat says.
 */
char *file_read_text(int dirfd, const char *name, size_t limit, size_t *length);

/*
 * Reads `size` bytes at `offset` of an open file, in as many calls as it takes; returns how many
 * were had: less at the end of the file or after an error.
 */
size_t file_read_at(int fd, uint64_t offset, void *to, size_t size);

/*
 * From a descriptor that only names a file (O_PATH), which a target chose, to one that reads
 * it; closes the first, also when it is -1. Opens nothing but regular files that hold data:
 * reading an attribute of /sys, or a file of /proc, asks the kernel or a device to do
 * something. -1 with errno: ELOOP for a symbolic link, EINVAL for what else is refused.
 */
int file_open_named(int named);

/* --- random numbers ------------------------------------------------------- */

/* A generator of its own (xoshiro256**): tests seed it, nothing else shares it. */
struct rng {
	uint64_t s[4];
};

void rng_seed(struct rng *rng, uint64_t seed);
uint64_t rng_next(struct rng *rng);
double rng_uniform(struct rng *rng);               /* in (0, 1] */
double rng_exponential(struct rng *rng, double mean);
/* Trials up to and with the first success at probability p in (0, 1]; >= 1. */
uint32_t rng_geometric(struct rng *rng, double p);

/* --- log: status for people, never on stdout -------------------------------- */

enum log_level { LOG_QUIET, LOG_NORMAL, LOG_VERBOSE, LOG_DEBUG };

/* Handed down by value or const pointer; a NULL log or stream says nothing. */
struct log {
	enum log_level level;
	FILE *stream;
	/* Called around each line, because its reader may take any time; NULL: nothing is. */
	void (*before)(void *context);
	void (*after)(void *context);
	void *context;
};

/*
 * One line "wallsample: …" on log->stream when log->level >= level. Whatever of it is foreign
 * is made harmless, as by strbuf_add_foreign.
 */
void log_say(const struct log *log, enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
