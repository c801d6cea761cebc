/* SPDX-License-Identifier: MIT */
/*
 * progress.h - how far a program has got: counters in its memory, of the kernel, or of how often
 * some code was run.
 *
 * A point is asked for by [NAME=]SPEC, where SPEC is
 *   var:[MODULE:]SYMBOL[+OFFSET][/SIZE]  an integer in memory, of SIZE bytes (1, 2, 4 or 8; that of
 *                      the symbol if it has one of these, else 8), read without a stop; also
 *                      var:0xADDRESS/SIZE. Static and global variables, C++ names as demangled;
 *                      thread-local ones are refused with a sentence. MODULE is a file that is
 *                      mapped ("libssl" will do for libssl.so.3), or the source file of a static
 *                      variable or function; without it the program's own comes first.
 *   coz:NAME           a progress point of coz.h in the program, by its name (progress_coz.h). One
 *                      that the program has not come by yet is found when it does; if it then
 *                      turns out to be COZ_BEGIN and COZ_END its kind becomes LATENCY.
 *   io:FIELD           of /proc/PID/io: rchar, wchar, syscr, syscw, read_bytes, write_bytes
 *   syscalls:read      the same as io:syscr;  syscalls:write  the same as io:syscw
 *   func:[MODULE:]SYMBOL, line:FILE:N    how often this code is run; `counted` below
 *   begin:SPEC,end:SPEC  latency, of two that count
 * Counters may wrap: differences are modulo their size. When one of 4 or 8 bytes jumps by more than
 * half of all its values it was set back, and nothing is added. Foreign bytes: every number is
 * checked.
 */
#ifndef WALLSAMPLE_CAUSAL_PROGRESS_H
#define WALLSAMPLE_CAUSAL_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/causal/causal.h"
#include "wallsample/base/error.h"
#include "wallsample/process/maps.h"
#include "wallsample/process/process.h"
#include "wallsample/symbol/symbol.h"

/* Hardware has so many breakpoints. */
#define PROGRESS_COUNTED_MOST 4

/* Code whose runs have to be counted by somebody (breakpoints): where it is in the target. */
struct progress_counted {
	uint64_t address;
	const char *spec;
};

struct progress_value {
	uint64_t count;     /* events since progress_open; of LATENCY those that ended */
	int64_t in_progress; /* LATENCY: begun and not ended, 0 or more; else 0 */
};

struct progress;

/*
 * Checks the words alone, before there is a process: ERROR_USAGE says what is wrong with them and
 * what they could be. *counted (may be NULL): how many breakpoints they ask for.
 */
int progress_check(const char *const *spec, size_t count, size_t *counted, struct error *err);

/*
 * Finds what the words mean in the target. All is borrowed. No spec at all: the points of coz.h
 * that the program has come by, up to CAUSAL_POINTS_MOST. An error says what was looked for where,
 * names that are similar, and what to try. A program that was started just now has neither its
 * libraries in place nor come by anything: ask when it has worked for a while.
 */
int progress_open(const char *const *spec, size_t count, const struct process *process,
		  struct maps *maps, struct symbols *symbols, struct progress **out,
		  struct error *err);
void progress_free(struct progress *progress);

size_t progress_count(const struct progress *progress);
/* So many points of coz.h were found and not taken, because there is no room. */
size_t progress_left_out(const struct progress *progress);
/* Borrowed name and spec. The kind of a coz: point that the program has not come by may change. */
void progress_point(const struct progress *progress, size_t index, const char **name,
		    const char **spec, enum causal_point_kind *kind);
/* What has to be counted: valid until progress_free; how many. The counts are handed back before
 * each progress_read, in this order, as totals. */
size_t progress_counted(const struct progress *progress, const struct progress_counted **out);
void progress_set_counted(struct progress *progress, const uint64_t *total, size_t count);

/* Reads all; false: the target has gone, or some memory cannot be read any more. No stop. */
bool progress_read(struct progress *progress, struct progress_value *value);

/* A point that never moved: adds what it is, what it reads now, and what to try, a sentence or two
 * for people ("var:hits is an 8-byte counter at 0x4040 in server, which is 0 …"). */
void progress_explain(const struct progress *progress, size_t index, struct strbuf *out);

#endif
