/* SPDX-License-Identifier: MIT */
/*
 * schema_internal.h - the tables of a recording, one row each; wallsample-recording(5) describes
 * them.
 */
#ifndef WALLSAMPLE_RECORDING_SCHEMA_INTERNAL_H
#define WALLSAMPLE_RECORDING_SCHEMA_INTERNAL_H

#include <stdint.h>

/*
 * X(NAME, name, columns, parameters, ending). A change here is a new RECORDING_SCHEMA: who reads
 * a recording wants its tables to be these, to the letter.
 */
#define RECORDING_TABLES(X)                                                                      \
	X(META, "meta", "key TEXT PRIMARY KEY, value", "?,?", " WITHOUT ROWID")                  \
	X(MODULES, "modules",                                                                    \
	  "id INTEGER PRIMARY KEY, path TEXT, kind TEXT, deleted INTEGER, build_id TEXT, "       \
	  "why TEXT", "?,?,?,?,?,?", "")                                                         \
	X(THREADS, "threads",                                                                    \
	  "id INTEGER PRIMARY KEY, tid INTEGER, start_time INTEGER, name TEXT, task INTEGER, "   \
	  "system INTEGER, entry INTEGER, created_at INTEGER, creator INTEGER",                  \
	  "?,?,?,?,?,?,?,?,?", "")                                                               \
	X(TICKS, "ticks",                                                                        \
	  "n INTEGER PRIMARY KEY, start_ns INTEGER, span_ns INTEGER, parallelism INTEGER, "      \
	  "runnable INTEGER, ready INTEGER", "?,?,?,?,?,?", "")                                  \
	X(FRAMES, "frames",                                                                      \
	  "id INTEGER PRIMARY KEY, module INTEGER, address INTEGER, epoch INTEGER, "             \
	  "origin TEXT, name TEXT, bytecode INTEGER, bytecode_size INTEGER, file TEXT, "         \
	  "line INTEGER", "?,?,?,?,?,?,?,?,?,?", "")                                             \
	X(STACKS, "stacks", "id INTEGER PRIMARY KEY, frame INTEGER, caller INTEGER", "?,?,?",    \
	  "")                                                                                    \
	X(WAITS, "waits",                                                                        \
	  "id INTEGER PRIMARY KEY, kind TEXT, timed INTEGER, object INTEGER, most INTEGER",      \
	  "?,?,?,?,?", "")                                                                       \
	X(SPANS, "spans",                                                                        \
	  "id INTEGER PRIMARY KEY, thread INTEGER, stack INTEGER, state TEXT, syscall INTEGER, " \
	  "wait INTEGER, gil TEXT, first_tick INTEGER, ticks INTEGER, samples INTEGER, "         \
	  "wall_ns INTEGER, overhead_ns INTEGER, latency_ns INTEGER, carrier INTEGER",           \
	  "?,?,?,?,?,?,?,?,?,?,?,?,?,?", "")                                                     \
	X(BLAME, "blame",                                                                        \
	  "id INTEGER PRIMARY KEY, wait INTEGER, thread INTEGER, stack INTEGER, state TEXT, "    \
	  "first_tick INTEGER, ticks INTEGER, samples INTEGER, wall_ns INTEGER",                 \
	  "?,?,?,?,?,?,?,?,?", "")                                                               \
	X(DEADLOCKS, "deadlocks",                                                                \
	  "deadlock INTEGER, n INTEGER, in_ring INTEGER, thread INTEGER, wait INTEGER, "         \
	  "stack INTEGER, PRIMARY KEY(deadlock, n)", "?,?,?,?,?,?", " WITHOUT ROWID")            \
	X(SYSCALLS, "syscalls", "number INTEGER PRIMARY KEY, name TEXT", "?,?", "")              \
	X(SYMBOLS, "symbols",                                                                    \
	  "frame INTEGER, depth INTEGER, function TEXT, file TEXT, line INTEGER, "               \
	  "inlined INTEGER, source TEXT, PRIMARY KEY(frame, depth)", "?,?,?,?,?,?,?",            \
	  " WITHOUT ROWID")                                                                      \
	X(LOSSES, "losses", "kind TEXT, reason TEXT, count INTEGER, PRIMARY KEY(kind, reason)",  \
	  "?,?,?", " WITHOUT ROWID")                                                             \
	X(COST, "cost", "name TEXT PRIMARY KEY, value", "?,?", " WITHOUT ROWID")                 \
	X(STOPS, "stops", "bucket INTEGER PRIMARY KEY, count INTEGER", "?,?", "")                \
	X(CAUSAL, "causal", "key TEXT PRIMARY KEY, value", "?,?", " WITHOUT ROWID")              \
	X(CAUSAL_POINTS, "causal_points",                                                        \
	  "n INTEGER PRIMARY KEY, name TEXT, spec TEXT, kind TEXT", "?,?,?,?", "")               \
	X(CAUSAL_SPEEDUPS, "causal_speedups", "n INTEGER PRIMARY KEY, speedup REAL", "?,?", "")  \
	X(CAUSAL_CANDIDATES, "causal_candidates",                                                \
	  "n INTEGER PRIMARY KEY, name TEXT, module TEXT, file TEXT, line INTEGER, "             \
	  "share REAL, self_share REAL", "?,?,?,?,?,?,?", "")                                    \
	X(CAUSAL_EXPERIMENTS, "causal_experiments",                                              \
	  "n INTEGER PRIMARY KEY, candidate INTEGER, speedup REAL, began_ns INTEGER, "           \
	  "wall_ns INTEGER, held_ns INTEGER, ticks INTEGER, chosen INTEGER, ending TEXT",        \
	  "?,?,?,?,?,?,?,?,?", "")                                                               \
	X(CAUSAL_READINGS, "causal_readings",                                                    \
	  "experiment INTEGER, point INTEGER, count REAL, in_progress_ns REAL, "                 \
	  "PRIMARY KEY(experiment, point)", "?,?,?,?", " WITHOUT ROWID")

enum recording_table {
#define X(id, name, columns, parameters, ending) TABLE_##id,
	RECORDING_TABLES(X)
#undef X
	RECORDING_TABLE_COUNT
};

struct recording_table_text {
	const char *name, *create, *put;
};

extern const struct recording_table_text recording_table_text[RECORDING_TABLE_COUNT];

/* Views, for people: the program itself does not read them. Ended by NULL. */
extern const char *const recording_views[];

#endif
