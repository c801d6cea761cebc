/* SPDX-License-Identifier: MIT */
/*
 * progress.h - progress points: counters in a program's memory, of the kernel, or of executions of
 * code.
 *
 * A point is specified by [NAME=]SPEC, where SPEC is
 *   var:[MODULE:]SYMBOL[+OFFSET][/SIZE]  an integer in memory, of SIZE bytes: 1, 2, 4 or 8.
 *                      Without /SIZE it has the symbol's size if that is one of these and no
 *                      +OFFSET is given, else 8. The symbol is a static or global variable, in C++
 *                      by its demangled name; thread-local variables are refused. MODULE is a
 *                      mapped file ("libssl" matches libssl.so.3), or the source file of a static
 *                      variable or function; without it the libraries are searched only if the
 *                      program itself does not have the symbol.
 *   var:0xADDRESS[/SIZE]  an integer at this address, of 8 bytes without /SIZE
 *   coz:NAME           a progress point of coz.h in the program, by its name (progress_coz.h). If
 *                      the program has not executed the point yet, it counts from its first
 *                      execution on. A name with a COZ_BEGIN and a COZ_END, and no
 *                      COZ_PROGRESS_NAMED, is of kind LATENCY.
 *   io:FIELD           a field of /proc/PID/io: rchar, wchar, syscr, syscw, read_bytes, write_bytes
 *   syscalls:read      equal to io:syscr;  syscalls:write  equal to io:syscw
 *   func:[MODULE:]SYMBOL, line:FILE:N    executions of this code; see progress_counted
 *   begin:SPEC,end:SPEC  a point of kind LATENCY, from the counters of begins and of ends
 * Counters may wrap: the difference of two readings is modulo 2^(8 * size). If a counter of 4 or 8
 * bytes jumps by more than half of its range, it is assumed to have been set back, and no events
 * are added. Memory is read without a stop of the target and is not trusted: every number is
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

/* Largest number of places in the code whose executions are counted, each by one hardware
 * breakpoint; equal to TRACER_COUNT_MOST (tracer_count.h). */
#define PROGRESS_COUNTED_MOST 4

/* An address in the target's code; the caller counts the executions of this code by breakpoints. */
struct progress_counted {
	uint64_t address;
	const char *spec;
};

struct progress_value {
	uint64_t count; /* number of events since progress_open; LATENCY: number of ends */
	/*
	 * LATENCY: number of begun events that have not ended; THROUGHPUT: 0. The number is exact
	 * if both counters are in the target's memory (var:, coz:) and, when they were first read,
	 * had no more ends than begins. Otherwise it is relative: the smallest number since
	 * progress_open is taken as 0.
	 */
	int64_t in_progress;
};

struct progress;

/*
 * Checks `count` specs without a process: their syntax, number and names. Returns 0, or
 * ERROR_USAGE, whose text names the mistake and what is permitted. On success stores in *counted,
 * unless `counted` is NULL, the number of breakpoints that the specs need.
 */
int progress_check(const char *const *spec, size_t count, size_t *counted, struct error *err);

/*
 * Finds the counters of `count` specs in the target. If `count` is 0, takes the points of coz.h
 * that the program has executed, up to CAUSAL_POINTS_MOST. All pointers are borrowed until
 * progress_free. Returns 0, and progress_free frees *out; or a negative enum error_kind and an
 * error whose text names what was not found, similar names, and what to try. To be called when the
 * program has loaded its libraries and, if `count` is 0, has executed its points: not just after
 * its start.
 */
int progress_open(const char *const *spec, size_t count, const struct process *process,
		  struct maps *maps, struct symbols *symbols, struct progress **out,
		  struct error *err);
void progress_free(struct progress *progress);

size_t progress_count(const struct progress *progress);
/* Returns the number of points of coz.h that were found but not taken, because there were more than
 * CAUSAL_POINTS_MOST. */
size_t progress_left_out(const struct progress *progress);
/* Stores the name, the spec (both borrowed from `progress`) and the kind of a point. The kind of a
 * coz: point may change until the program has executed the point. */
void progress_point(const struct progress *progress, size_t index, const char **name,
		    const char **spec, enum causal_point_kind *kind);
/*
 * Sets *out to an array of the code whose executions the caller counts, valid until progress_free,
 * and returns the length of the array. Before each progress_read the caller passes the total number
 * of executions of each element to progress_set_counted, in the order of the array.
 */
size_t progress_counted(const struct progress *progress, const struct progress_counted **out);
void progress_set_counted(struct progress *progress, const uint64_t *total, size_t count);

/* Reads the values of all points, without a stop of the target. `value` has progress_count()
 * elements. False: the target has ended, or some of its memory is no longer readable. */
bool progress_read(struct progress *progress, struct progress_value *value);

/* Explains to the user a point that has no progress: appends to `out` its kind, its current value,
 * and what to try ("var:hits is an 8-byte counter at 0x4040 in server, which reads 0 …"). */
void progress_explain(const struct progress *progress, size_t index, struct strbuf *out);

#endif
