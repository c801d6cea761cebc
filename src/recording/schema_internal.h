/* SPDX-License-Identifier: MIT */
/*
 * schema_internal.h - the tables of a recording. Each column is described here once; the SQL that
 * creates, fills and reads a table, its row struct and the enum of its columns follow.
 * wallsample-recording(5) describes the contents.
 *
 * The schema grows only by addition: a new version appends columns (ADDED) and tables, and never
 * changes or removes one, so that recordings of versions from RECORDING_SCHEMA_OLDEST on are read.
 */
#ifndef WALLSAMPLE_RECORDING_SCHEMA_INTERNAL_H
#define WALLSAMPLE_RECORDING_SCHEMA_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

struct strbuf;

/* A value of a column without a type: meta, cost and causal hold numbers and texts. */
struct recording_value {
	enum { VALUE_INT, VALUE_REAL, VALUE_TEXT } type;
	int64_t number;
	double real;
	const char *text;
};

/* X(NAME, C type in row structs, SQL type). A NULL pointer is stored as NULL. */
#define COLUMN_TYPES(X)                                                                            \
	X(KEY, int64_t, " INTEGER PRIMARY KEY")                                                    \
	X(INT, int64_t, " INTEGER")                                                                \
	X(OPT_INT, const int64_t *, " INTEGER")                                                    \
	X(REAL, double, " REAL")                                                                   \
	X(TEXT, const char *, " TEXT")                                                             \
	X(TEXT_KEY, const char *, " TEXT PRIMARY KEY")                                             \
	X(ANY, struct recording_value, "")

/*
 * Columns: C(TABLE, name, TYPE), or ADDED(TABLE, name, TYPE, VERSION, "DEFAULT") for a column that
 * a later version than the table's added; in older recordings it has the default, an SQL literal.
 */
/* clang-format off */
#define META_COLUMNS(C, ADDED, T)                                                               \
	C(T, key, TEXT_KEY) C(T, value, ANY)
#define MODULES_COLUMNS(C, ADDED, T)                                                            \
	C(T, id, KEY) C(T, path, TEXT) C(T, kind, TEXT) C(T, deleted, INT)                      \
	C(T, build_id, TEXT) C(T, why, TEXT) ADDED(T, process, INT, 6, "0")
#define THREADS_COLUMNS(C, ADDED, T)                                                            \
	C(T, id, KEY) C(T, tid, INT) C(T, start_time, INT) C(T, name, TEXT)                     \
	C(T, task, OPT_INT) C(T, system, OPT_INT) C(T, entry, INT)                              \
	C(T, created_at, INT) C(T, creator, INT) ADDED(T, process, INT, 6, "0")
#define TICKS_COLUMNS(C, ADDED, T)                                                              \
	C(T, n, KEY) C(T, start_ns, INT) C(T, span_ns, INT) C(T, parallelism, INT)              \
	C(T, runnable, INT) C(T, ready, INT)
#define FRAMES_COLUMNS(C, ADDED, T)                                                             \
	C(T, id, KEY) C(T, module, OPT_INT) C(T, address, OPT_INT)                              \
	C(T, epoch, OPT_INT) C(T, origin, TEXT) C(T, name, TEXT) C(T, bytecode, INT)            \
	C(T, bytecode_size, INT) C(T, file, TEXT) C(T, line, OPT_INT)
#define STACKS_COLUMNS(C, ADDED, T)                                                             \
	C(T, id, KEY) C(T, frame, INT) C(T, caller, OPT_INT)
#define WAITS_COLUMNS(C, ADDED, T)                                                              \
	C(T, id, KEY) C(T, kind, TEXT) C(T, timed, INT) C(T, object, INT)                       \
	C(T, most, INT)
#define SPANS_COLUMNS(C, ADDED, T)                                                              \
	C(T, id, KEY) C(T, thread, INT) C(T, stack, INT) C(T, state, TEXT)                      \
	C(T, syscall, INT) C(T, wait, INT) C(T, gil, TEXT) C(T, first_tick, INT)                \
	C(T, ticks, INT) C(T, samples, INT) C(T, wall_ns, INT)                                  \
	C(T, overhead_ns, INT) C(T, latency_ns, INT) C(T, carrier, INT)
#define BLAME_COLUMNS(C, ADDED, T)                                                              \
	C(T, id, KEY) C(T, wait, INT) C(T, thread, INT) C(T, stack, INT)                        \
	C(T, state, TEXT) C(T, first_tick, INT) C(T, ticks, INT) C(T, samples, INT)             \
	C(T, wall_ns, INT)
#define DEADLOCKS_COLUMNS(C, ADDED, T)                                                          \
	C(T, deadlock, INT) C(T, n, INT) C(T, in_ring, INT) C(T, thread, INT)                   \
	C(T, wait, INT) C(T, stack, INT)
#define SYSCALLS_COLUMNS(C, ADDED, T)                                                           \
	C(T, number, KEY) C(T, name, TEXT)
#define SYMBOLS_COLUMNS(C, ADDED, T)                                                            \
	C(T, frame, INT) C(T, depth, INT) C(T, function, TEXT) C(T, file, TEXT)                 \
	C(T, line, INT) C(T, inlined, INT) C(T, source, TEXT)
#define LOSSES_COLUMNS(C, ADDED, T)                                                             \
	C(T, kind, TEXT) C(T, reason, TEXT) C(T, count, INT)
#define COST_COLUMNS(C, ADDED, T)                                                               \
	C(T, name, TEXT_KEY) C(T, value, ANY)
#define STOPS_COLUMNS(C, ADDED, T)                                                              \
	C(T, bucket, KEY) C(T, count, INT)
#define CAUSAL_COLUMNS(C, ADDED, T)                                                             \
	C(T, key, TEXT_KEY) C(T, value, ANY)
#define CAUSAL_POINTS_COLUMNS(C, ADDED, T)                                                      \
	C(T, n, KEY) C(T, name, TEXT) C(T, spec, TEXT) C(T, kind, TEXT)
#define CAUSAL_SPEEDUPS_COLUMNS(C, ADDED, T)                                                    \
	C(T, n, KEY) C(T, speedup, REAL)
#define CAUSAL_CANDIDATES_COLUMNS(C, ADDED, T)                                                  \
	C(T, n, KEY) C(T, name, TEXT) C(T, module, TEXT) C(T, file, TEXT)                       \
	C(T, line, INT) C(T, share, REAL) C(T, self_share, REAL)
#define CAUSAL_EXPERIMENTS_COLUMNS(C, ADDED, T)                                                 \
	C(T, n, KEY) C(T, candidate, INT) C(T, speedup, REAL) C(T, began_ns, INT)               \
	C(T, wall_ns, INT) C(T, held_ns, INT) C(T, ticks, INT) C(T, chosen, INT)                \
	C(T, ending, TEXT)
#define CAUSAL_READINGS_COLUMNS(C, ADDED, T)                                                    \
	C(T, experiment, INT) C(T, point, INT) C(T, count, REAL)                                \
	C(T, in_progress_ns, REAL)
#define PROCESSES_COLUMNS(C, ADDED, T)                                                          \
	C(T, id, KEY) C(T, pid, INT) C(T, start_time, INT) C(T, name, TEXT)                     \
	C(T, cmdline, TEXT)
/* clang-format on */

/* X(TABLE, name, version that added it, end of the CREATE statement) */
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

enum recording_table {
#define X(id, name, since, ending) TABLE_##id,
	RECORDING_TABLES(X) RECORDING_TABLE_COUNT
#undef X
};

/* "enum threads_column { THREADS_id, THREADS_tid, ..., THREADS_COLUMN_COUNT };" */
#define C(table, name, type) table##_##name,
#define ADDED(table, name, type, since, fallback) table##_##name,
#define X(id, name, since, ending)                                                                 \
	enum name##_column{ id##_COLUMNS(C, ADDED, id) id##_COLUMN_COUNT };
RECORDING_TABLES(X)
#undef X
#undef ADDED
#undef C

/* "struct threads_row { int64_t id; int64_t tid; ... };" */
#define X(name, c_type, sql_type) typedef c_type column_##name;
COLUMN_TYPES(X)
#undef X
#define C(table, name, type) column_##type name;
#define ADDED(table, name, type, since, fallback) column_##type name;
#define X(id, name, since, ending)                                                                 \
	struct name##_row {                                                                        \
		id##_COLUMNS(C, ADDED, id)                                                         \
	};
RECORDING_TABLES(X)
#undef X
#undef ADDED
#undef C

enum column_type {
#define X(name, c_type, sql_type) COLUMN_##name,
	COLUMN_TYPES(X)
#undef X
};

struct recording_column {
	const char *name;
	enum column_type type;
	unsigned since;       /* version that added it */
	const char *fallback; /* SQL literal for recordings of versions before `since` */
	size_t offset;        /* in the row struct */
};

struct recording_table_info {
	const char *name, *ending;
	unsigned since;
	const struct recording_column *column;
	size_t column_count;
};

extern const struct recording_table_info recording_tables[RECORDING_TABLE_COUNT];

/* Each appends an SQL statement. `version` is that of the recording, `tail` what follows FROM. */
void schema_add_create(struct strbuf *sql, enum recording_table table, unsigned version);
void schema_add_insert(struct strbuf *sql, enum recording_table table);
/* Selects all columns in the order of the enum; no row if the version has no such table. */
void schema_add_select(struct strbuf *sql, enum recording_table table, unsigned version,
		       const char *tail);

/* Views, which people query and wallsample does not read. Ended by NULL. */
extern const char *const recording_views[];

#endif
