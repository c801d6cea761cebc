/* SPDX-License-Identifier: MIT */
/*
 * columns_internal.h - the tables of a recording, with the names and types of their columns.
 * schema_internal.h makes structs and SQL from these lists; wallsample-recording(5) describes the
 * contents.
 *
 * A new schema version appends columns (ADDED) and tables. It never changes or removes a column or
 * a table, so that recordings of versions from RECORDING_SCHEMA_OLDEST on can be read.
 */
#ifndef WALLSAMPLE_RECORDING_COLUMNS_INTERNAL_H
#define WALLSAMPLE_RECORDING_COLUMNS_INTERNAL_H

#include <stdint.h>

/* Upper bounds of numbers in a recording: NUMBER_MOST (36 years in ns) of times and weights,
 * COUNT_MOST of counts. They are so low that sums do not overflow. */
#define NUMBER_MOST (INT64_C(1) << 60)
#define COUNT_MOST (INT64_C(1) << 50)
/*
 * Most threads on CPUs at one tick. A profile allocates a row for each number of threads from 0 to
 * the highest: with a larger bound, a hostile recording could exhaust the memory.
 */
#define PARALLELISM_MOST (1 << 16)

/*
 * X(CLASS, type): the ways in which values are stored, each with the C type of a member of a row
 * struct
 */
#define COLUMN_CLASSES(X)                                                                          \
	X(NUMBER, int64_t)                                                                         \
	X(OPTIONAL, struct recording_optional)                                                     \
	X(REFERENCE, int64_t)         /* id of a row of a table; -1: no row */                     \
	X(REFERENCE_OR_NULL, int64_t) /* id of a row of a table; NULL: no row */                   \
	X(REAL, double)                                                                            \
	X(TEXT, const char *) /* NULL is read as an empty text */                                  \
	X(TEXT_OR_NULL, const char *)                                                              \
	X(VALUE, struct recording_value)

/*
 * X(NAME, class, SQL type, least, most, table): the types of columns. The reader refuses a number
 * outside of [least, most]. `table` is the table to whose rows a reference refers; the reader
 * refuses a reference to a row that it has not read yet.
 *
 * The values of a KEY column are 0, 1, 2, ... without a gap; the values of an ASCENDING column
 * ascend, but may have gaps. In the database a reference to no row is -1 or NULL; a REFERENCE may
 * be -1 only if `least` is -1. In a row struct a reference is an id of the profile, and that to no
 * row is UINT32_MAX, which equals FRAME_NONE and STACK_NONE. The square of a value of IN_PROGRESS
 * is a finite double.
 */
/* clang-format off */
#define COLUMN_TYPES(X)                                                                         \
	X(KEY, NUMBER, " INTEGER PRIMARY KEY", 0, UINT32_MAX - 1, TABLE_NONE)               \
	X(ASCENDING, NUMBER, " INTEGER PRIMARY KEY", 0, NUMBER_MOST, TABLE_NONE)                \
	X(BOOL, NUMBER, " INTEGER", 0, 1, TABLE_NONE)                                           \
	X(U32, NUMBER, " INTEGER", 0, UINT32_MAX, TABLE_NONE)                                   \
	X(I31, NUMBER, " INTEGER", 0, INT32_MAX, TABLE_NONE)                                    \
	X(I32, NUMBER, " INTEGER", INT32_MIN, INT32_MAX, TABLE_NONE)                            \
	X(I64, NUMBER, " INTEGER", INT64_MIN, INT64_MAX, TABLE_NONE)                            \
	X(PARALLELISM, NUMBER, " INTEGER", 0, PARALLELISM_MOST, TABLE_NONE)                     \
	X(COUNT, NUMBER, " INTEGER", 0, COUNT_MOST, TABLE_NONE)                                 \
	X(TIME, NUMBER, " INTEGER", 0, NUMBER_MOST, TABLE_NONE)                                 \
	X(WEIGHT, NUMBER, " INTEGER", -NUMBER_MOST, NUMBER_MOST, TABLE_NONE)                    \
	X(BOOL_OR_NULL, OPTIONAL, " INTEGER", 0, 1, TABLE_NONE)                                 \
	X(U32_OR_NULL, OPTIONAL, " INTEGER", 0, UINT32_MAX, TABLE_NONE)                         \
	X(I64_OR_NULL, OPTIONAL, " INTEGER", INT64_MIN, INT64_MAX, TABLE_NONE)                  \
	X(PROCESS, REFERENCE, " INTEGER", 0, 0, TABLE_PROCESSES)                                \
	X(FRAME, REFERENCE, " INTEGER", 0, 0, TABLE_FRAMES)                                     \
	X(FRAME_OR_NONE, REFERENCE, " INTEGER", -1, 0, TABLE_FRAMES)                            \
	X(STACK, REFERENCE, " INTEGER", 0, 0, TABLE_STACKS)                                     \
	X(STACK_OR_NONE, REFERENCE, " INTEGER", -1, 0, TABLE_STACKS)                            \
	X(THREAD, REFERENCE, " INTEGER", 0, 0, TABLE_THREADS)                                   \
	X(THREAD_OR_NONE, REFERENCE, " INTEGER", -1, 0, TABLE_THREADS)                          \
	X(WAIT, REFERENCE, " INTEGER", 0, 0, TABLE_WAITS)                                       \
	X(MODULE_OR_NULL, REFERENCE_OR_NULL, " INTEGER", 0, 0, TABLE_MODULES)                   \
	X(STACK_OR_NULL, REFERENCE_OR_NULL, " INTEGER", 0, 0, TABLE_STACKS)                     \
	X(SHARE, REAL, " REAL", 0, 1, TABLE_NONE)                                               \
	X(EVENTS, REAL, " REAL", 0, 0x1p60, TABLE_NONE)                                         \
	X(IN_PROGRESS, REAL, " REAL", -0x1p90, 0x1p90, TABLE_NONE)                              \
	X(TEXT, TEXT, " TEXT", 0, 0, TABLE_NONE)                                                \
	X(TEXT_OR_NULL, TEXT_OR_NULL, " TEXT", 0, 0, TABLE_NONE)                                \
	X(TEXT_KEY, TEXT, " TEXT PRIMARY KEY", 0, 0, TABLE_NONE)                                \
	X(ANY, VALUE, "", 0, 0, TABLE_NONE)
/* clang-format on */

/*
 * The columns of each table, in their order: C(TABLE, name, TYPE), or ADDED(TABLE, name, TYPE,
 * VERSION, "DEFAULT") for a column that a later version added to the table. The reader uses
 * DEFAULT, an SQL literal, for recordings of earlier versions.
 */
/* clang-format off */
#define META_COLUMNS(C, ADDED, T)                                                               \
	C(T, key, TEXT_KEY) C(T, value, ANY)
#define MODULES_COLUMNS(C, ADDED, T)                                                            \
	C(T, id, KEY) C(T, path, TEXT) C(T, kind, TEXT) C(T, deleted, BOOL)                     \
	C(T, build_id, TEXT) C(T, why, TEXT) ADDED(T, process, PROCESS, 6, "0")
#define THREADS_COLUMNS(C, ADDED, T)                                                            \
	C(T, id, KEY) C(T, tid, I31) C(T, start_time, TIME) C(T, name, TEXT)                    \
	C(T, task, I64_OR_NULL) C(T, system, BOOL_OR_NULL) C(T, entry, FRAME_OR_NONE)           \
	C(T, created_at, FRAME_OR_NONE) C(T, creator, I64)                                      \
	ADDED(T, process, PROCESS, 6, "0")
#define TICKS_COLUMNS(C, ADDED, T)                                                              \
	C(T, n, ASCENDING) C(T, start_ns, TIME) C(T, span_ns, TIME)                             \
	C(T, parallelism, PARALLELISM) C(T, runnable, I31) C(T, ready, U32)
#define FRAMES_COLUMNS(C, ADDED, T)                                                             \
	C(T, id, KEY) C(T, module, MODULE_OR_NULL) C(T, address, I64_OR_NULL)                   \
	C(T, epoch, U32_OR_NULL) C(T, origin, TEXT) C(T, name, TEXT)                            \
	C(T, bytecode, I64) C(T, bytecode_size, U32) C(T, file, TEXT)                           \
	C(T, line, U32_OR_NULL)
#define STACKS_COLUMNS(C, ADDED, T)                                                             \
	C(T, id, KEY) C(T, frame, FRAME) C(T, caller, STACK_OR_NULL)
#define WAITS_COLUMNS(C, ADDED, T)                                                              \
	C(T, id, KEY) C(T, kind, TEXT) C(T, timed, BOOL) C(T, object, FRAME_OR_NONE)            \
	C(T, most, U32)
#define SPANS_COLUMNS(C, ADDED, T)                                                              \
	C(T, id, ASCENDING) C(T, thread, THREAD) C(T, stack, STACK_OR_NONE) C(T, state, TEXT)   \
	C(T, syscall, I32) C(T, wait, WAIT) C(T, gil, TEXT) C(T, first_tick, COUNT)             \
	C(T, ticks, COUNT) C(T, samples, WEIGHT) C(T, wall_ns, WEIGHT)                          \
	C(T, overhead_ns, WEIGHT) C(T, latency_ns, WEIGHT)                                      \
	C(T, carrier, THREAD_OR_NONE) ADDED(T, raw_ns, WEIGHT, 7, "wall_ns")
#define BLAME_COLUMNS(C, ADDED, T)                                                              \
	C(T, id, ASCENDING) C(T, wait, WAIT) C(T, thread, THREAD) C(T, stack, STACK_OR_NONE)    \
	C(T, state, TEXT) C(T, first_tick, COUNT) C(T, ticks, COUNT)                            \
	C(T, samples, WEIGHT) C(T, wall_ns, WEIGHT)
#define DEADLOCKS_COLUMNS(C, ADDED, T)                                                          \
	C(T, deadlock, COUNT) C(T, n, COUNT) C(T, in_ring, BOOL) C(T, thread, THREAD)           \
	C(T, wait, WAIT) C(T, stack, STACK)
#define SYSCALLS_COLUMNS(C, ADDED, T)                                                           \
	C(T, number, ASCENDING) C(T, name, TEXT)
#define SYMBOLS_COLUMNS(C, ADDED, T)                                                            \
	C(T, frame, U32) C(T, depth, COUNT) C(T, function, TEXT)                                \
	C(T, file, TEXT_OR_NULL) C(T, line, U32) C(T, inlined, BOOL)                            \
	C(T, source, TEXT)
#define LOSSES_COLUMNS(C, ADDED, T)                                                             \
	C(T, kind, TEXT) C(T, reason, TEXT) C(T, count, COUNT)
#define COST_COLUMNS(C, ADDED, T)                                                               \
	C(T, name, TEXT_KEY) C(T, value, ANY)
#define STOPS_COLUMNS(C, ADDED, T)                                                              \
	C(T, bucket, ASCENDING) C(T, count, COUNT)
#define CAUSAL_COLUMNS(C, ADDED, T)                                                             \
	C(T, key, TEXT_KEY) C(T, value, ANY)
#define CAUSAL_POINTS_COLUMNS(C, ADDED, T)                                                      \
	C(T, n, KEY) C(T, name, TEXT) C(T, spec, TEXT) C(T, kind, TEXT)
#define CAUSAL_SPEEDUPS_COLUMNS(C, ADDED, T)                                                    \
	C(T, n, KEY) C(T, speedup, SHARE)
#define CAUSAL_CANDIDATES_COLUMNS(C, ADDED, T)                                                  \
	C(T, n, KEY) C(T, name, TEXT) C(T, module, TEXT) C(T, file, TEXT_OR_NULL)               \
	C(T, line, U32) C(T, share, SHARE) C(T, self_share, SHARE)
#define CAUSAL_EXPERIMENTS_COLUMNS(C, ADDED, T)                                                 \
	C(T, n, KEY) C(T, candidate, U32) C(T, speedup, SHARE) C(T, began_ns, TIME)             \
	C(T, wall_ns, TIME) C(T, held_ns, TIME) C(T, ticks, COUNT) C(T, chosen, COUNT)          \
	C(T, ending, TEXT)
#define CAUSAL_READINGS_COLUMNS(C, ADDED, T)                                                    \
	C(T, experiment, COUNT) C(T, point, COUNT) C(T, count, EVENTS)                          \
	C(T, in_progress_ns, IN_PROGRESS)
#define PROCESSES_COLUMNS(C, ADDED, T)                                                          \
	C(T, id, KEY) C(T, pid, I31) C(T, start_time, TIME) C(T, name, TEXT)                    \
	C(T, cmdline, TEXT) ADDED(T, parent, I31, 8, "0")
/* clang-format on */

/* X(TABLE, name, schema version that added the table, end of its CREATE statement) */
#define RECORDING_TABLES(X)                                                                        \
	X(META, meta, 5, ") WITHOUT ROWID")                                                        \
	X(MODULES, modules, 5, ")")                                                                \
	X(THREADS, threads, 5, ")")                                                                \
	X(TICKS, ticks, 5, ")")                                                                    \
	X(FRAMES, frames, 5, ")")                                                                  \
	X(STACKS, stacks, 5, ")")                                                                  \
	X(WAITS, waits, 5, ")")                                                                    \
	X(SPANS, spans, 5, ")")                                                                    \
	X(BLAME, blame, 5, ")")                                                                    \
	X(DEADLOCKS, deadlocks, 5, ", PRIMARY KEY(deadlock, n)) WITHOUT ROWID")                    \
	X(SYSCALLS, syscalls, 5, ")")                                                              \
	X(SYMBOLS, symbols, 5, ", PRIMARY KEY(frame, depth)) WITHOUT ROWID")                       \
	X(LOSSES, losses, 5, ", PRIMARY KEY(kind, reason)) WITHOUT ROWID")                         \
	X(COST, cost, 5, ") WITHOUT ROWID")                                                        \
	X(STOPS, stops, 5, ")")                                                                    \
	X(CAUSAL, causal, 5, ") WITHOUT ROWID")                                                    \
	X(CAUSAL_POINTS, causal_points, 5, ")")                                                    \
	X(CAUSAL_SPEEDUPS, causal_speedups, 5, ")")                                                \
	X(CAUSAL_CANDIDATES, causal_candidates, 5, ")")                                            \
	X(CAUSAL_EXPERIMENTS, causal_experiments, 5, ")")                                          \
	X(CAUSAL_READINGS, causal_readings, 5, ", PRIMARY KEY(experiment, point)) WITHOUT ROWID")  \
	X(PROCESSES, processes, 6, ")")

#endif
