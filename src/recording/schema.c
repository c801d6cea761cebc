/* SPDX-License-Identifier: MIT */
/* schema.c - the SQL statements of a recording's tables, and its views. */
#include "recording/schema_internal.h"

#include "wallsample/base/base.h"

/* Returns the bound of an integer; 0 for a double, which need not be in the range of int64_t. */
#define INTEGER(bound) _Generic((bound), double : 0, default : (bound))

const struct column_type_info column_types[] = {
#define X(name, class, sql, least, most, table)                                                    \
	{                                                                                          \
		CLASS_##class,  sql,  INTEGER(least), INTEGER(most), (double)(least),              \
		(double)(most), table                                                              \
	},
	COLUMN_TYPES(X)
#undef X
};

#define C(table, column, kind)                                                                     \
	{ .name = #column, .type = COLUMN_##kind, .offset = offsetof(ROW(table), column) },
#define ADDED(table, column, kind, version, literal)                                               \
	{ .name = #column,                                                                         \
	  .type = COLUMN_##kind,                                                                   \
	  .offset = offsetof(ROW(table), column),                                                  \
	  .since = version,                                                                        \
	  .fallback = literal },
#define ROW(table) row_of_##table
#define X(id, name, since, ending)                                                                 \
	typedef struct name##_row row_of_##id;                                                     \
	static const struct recording_column name##_columns[] = { id##_COLUMNS(C, ADDED, id) };
RECORDING_TABLES(X)
#undef X
#undef ROW
#undef ADDED
#undef C

/* clang-format off */
const struct recording_table_info recording_tables[] = {
#define X(id, table, version, end)                                                              \
	[TABLE_##id] = { .name = #table, .since = version, .ending = end,                       \
			 .column = table##_columns, .column_count = ARRAY_SIZE(table##_columns) },
	RECORDING_TABLES(X)
#undef X
};
/* clang-format on */

void
schema_add_create(struct strbuf *sql, enum recording_table table, unsigned version)
{
	const struct recording_table_info *info = &recording_tables[table];

	strbuf_add_format(sql, "CREATE TABLE %s(", info->name);
	for (size_t i = 0; i < info->column_count; i++)
		if (info->column[i].since <= version)
			strbuf_add_format(sql, "%s%s%s", i > 0 ? ", " : "", info->column[i].name,
					  column_types[info->column[i].type].sql);
	strbuf_add_text(sql, info->ending);
}

void
schema_add_insert(struct strbuf *sql, enum recording_table table)
{
	const struct recording_table_info *info = &recording_tables[table];

	strbuf_add_format(sql, "REPLACE INTO %s VALUES(", info->name);
	for (size_t i = 0; i < info->column_count; i++)
		strbuf_add_text(sql, i > 0 ? ",?" : "?");
	strbuf_add_text(sql, ")");
}

void
schema_add_select(struct strbuf *sql, enum recording_table table, unsigned version,
		  const char *tail)
{
	const struct recording_table_info *info = &recording_tables[table];

	if (info->since > version) {
		strbuf_add_text(sql, "SELECT NULL WHERE 0");
		return;
	}
	strbuf_add_text(sql, "SELECT ");
	for (size_t i = 0; i < info->column_count; i++)
		strbuf_add_format(sql, "%s%s", i > 0 ? ", " : "",
				  info->column[i].since <= version ? info->column[i].name :
								     info->column[i].fallback);
	strbuf_add_format(sql, " FROM %s %s", info->name, tail != NULL ? tail : "ORDER BY 1, 2");
}

const char *const recording_views[] = {
	/* For each frame, the name of its innermost function. */
	"CREATE VIEW frame_names AS SELECT f.id AS frame, "
	"coalesce(s.function, f.name, m.path || '+' || printf('0x%x', f.address)) AS function, "
	"m.path AS module, coalesce(s.file, nullif(f.file, '')) AS file, "
	"coalesce(s.line, nullif(f.line, 0)) AS line "
	"FROM frames f LEFT JOIN symbols s ON s.frame = f.id AND s.depth = 0 "
	"LEFT JOIN modules m ON m.id = f.module",
	/* The name of each wait, such as "mutex table_lock". */
	"CREATE VIEW wait_names AS SELECT w.id AS wait, w.kind AS kind, n.function AS object, "
	"CASE WHEN w.kind IN ('epoll', 'eventfd', 'timerfd', 'signalfd', 'inotify', 'io_uring') "
	"AND substr(n.function, 1, length(w.kind)) = w.kind THEN n.function "
	"WHEN w.kind LIKE '%, %' AND n.function IS NOT NULL THEN "
	"replace(w.kind, ', ', ' ' || n.function || ' (') || ')' "
	"ELSE w.kind || coalesce(' ' || n.function, '') END AS what, w.most AS most "
	"FROM waits w LEFT JOIN frame_names n ON n.frame = w.object",
	/*
	 * The name of each thread. The name of a green task is, for example, "task 17 main.taker";
	 * that of a shared record of tasks, "tasks main.taker".
	 */
	"CREATE VIEW thread_names AS SELECT t.id AS thread, t.tid AS tid, t.task AS task, "
	"CASE WHEN t.task IS NULL THEN t.name "
	"ELSE t.name || iif(t.task = 0, 's', ' ' || t.task) || coalesce(' ' || n.function, '') "
	"END AS name FROM threads t LEFT JOIN frame_names n ON n.frame = t.entry",
	/* One row for each span, with names instead of ids. */
	"CREATE VIEW samples AS SELECT p.id AS id, t.tid AS tid, t.name AS thread, "
	"p.state AS state, c.name AS syscall, w.what AS waits_for, p.gil AS gil, "
	"n.function AS function, n.module AS module, "
	"p.stack AS stack, k.start_ns / 1e9 AS start_s, p.ticks AS ticks, p.samples AS samples, "
	"p.wall_ns / 1e9 AS wall_s, p.overhead_ns / 1e9 AS overhead_s, "
	"p.latency_ns / 1e9 AS latency_s, p.overhead_ns / 1e9 AS cpu_s "
	"FROM spans p JOIN thread_names t ON t.thread = p.thread "
	"LEFT JOIN stacks s ON s.id = p.stack LEFT JOIN frame_names n ON n.frame = s.frame "
	"LEFT JOIN wait_names w ON w.wait = p.wait AND p.wait > 0 "
	"LEFT JOIN ticks k ON k.n = p.first_tick LEFT JOIN syscalls c ON c.number = p.syscall",
	/* The frames of each stack. The innermost frame has the depth 0. */
	"CREATE VIEW stack_frames AS WITH RECURSIVE level(stack, at, depth) AS ("
	"SELECT id, id, 0 FROM stacks UNION ALL "
	"SELECT l.stack, s.caller, l.depth + 1 FROM level l JOIN stacks s ON s.id = l.at "
	"WHERE s.caller IS NOT NULL) "
	"SELECT l.stack AS stack, l.depth AS depth, s.frame AS frame "
	"FROM level l JOIN stacks s ON s.id = l.at",
	/*
	 * Time by function: flat time excludes, and total time includes, the functions that the
	 * function called. In a frame with inlined functions each function gets total time; flat
	 * time goes only to the innermost function of the leaf frame.
	 */
	"CREATE VIEW top_functions AS WITH "
	"own AS (SELECT stack, sum(wall_ns) AS wall, sum(overhead_ns) AS overhead, "
	"sum(latency_ns) AS latency FROM spans GROUP BY stack), "
	"names AS (SELECT frame, function, 0 AS level FROM frame_names UNION ALL "
	"SELECT frame, function, depth FROM symbols WHERE depth > 0), "
	"has AS (SELECT n.function AS function, o.stack AS stack, "
	"min(f.depth + n.level) AS depth, "
	"o.wall AS wall, o.overhead AS overhead, o.latency AS latency "
	"FROM own o JOIN stack_frames f ON f.stack = o.stack "
	"JOIN names n ON n.frame = f.frame GROUP BY n.function, o.stack) "
	"SELECT function, sum(wall * (depth = 0)) / 1e9 AS wall_s, "
	"sum(overhead * (depth = 0)) / 1e9 AS overhead_s, "
	"sum(latency * (depth = 0)) / 1e9 AS latency_s, sum(wall) / 1e9 AS total_wall_s, "
	"sum(overhead) / 1e9 AS total_overhead_s, sum(latency) / 1e9 AS total_latency_s, "
	"sum(overhead * (depth = 0)) / 1e9 AS cpu_s, sum(overhead) / 1e9 AS total_cpu_s "
	"FROM has GROUP BY function ORDER BY wall_s DESC, total_wall_s DESC, function",
	"CREATE VIEW by_thread AS SELECT t.tid AS tid, t.name AS thread, "
	"sum(p.wall_ns) / 1e9 AS wall_s, "
	"sum(CASE WHEN p.state IN ('R', 'Q') THEN p.wall_ns ELSE 0 END) / 1e9 AS running_s, "
	"sum(p.overhead_ns) / 1e9 AS overhead_s, sum(p.latency_ns) / 1e9 AS latency_s, "
	"sum(p.overhead_ns) / 1e9 AS cpu_s "
	"FROM spans p JOIN thread_names t ON t.thread = p.thread GROUP BY t.thread "
	"ORDER BY running_s DESC, wall_s DESC, tid",
	/*
	 * Time by thread and by its state with respect to an interpreter's lock (gil.h). Samples
	 * whose state is unknown are left out.
	 */
	"CREATE VIEW gil_by_thread AS SELECT t.tid AS tid, t.name AS thread, "
	"sum(p.wall_ns) / 1e9 AS total_s, "
	"sum(p.wall_ns * (p.gil = 'none')) / 1e9 AS none_s, "
	"sum(p.wall_ns * (p.gil = 'has')) / 1e9 AS has_s, "
	"sum(p.wall_ns * (p.gil = 'wait')) / 1e9 AS wait_s, "
	"sum(p.wall_ns * (p.gil = 'handover')) / 1e9 AS handover_s "
	"FROM spans p JOIN threads t ON t.id = p.thread WHERE p.gil IS NOT NULL GROUP BY t.id "
	"ORDER BY has_s + wait_s + handover_s DESC, total_s DESC, tid",
	/*
	 * Lock holders and their functions, ordered by the time that other threads waited for the
	 * locks.
	 */
	"CREATE VIEW top_holders AS SELECT w.what AS what, t.tid AS tid, t.name AS holder, "
	"n.function AS function, sum(b.wall_ns) / 1e9 AS wall_s "
	"FROM blame b JOIN wait_names w ON w.wait = b.wait JOIN threads t ON t.id = b.thread "
	"LEFT JOIN stacks s ON s.id = b.stack LEFT JOIN frame_names n ON n.frame = s.frame "
	"GROUP BY w.what, t.id, n.function ORDER BY wall_s DESC, what, tid, function",
	/*
	 * Events by progress point, candidate and speed-up. Experiments at speed-up 0 are one row
	 * for each point, in which the candidate is NULL.
	 */
	"CREATE VIEW causal_rates AS SELECT p.name AS point, c.name AS candidate, "
	"e.speedup AS speedup, count(*) AS experiments, sum(r.count) AS events, "
	"sum(e.wall_ns - e.held_ns) / 1e9 AS virtual_s, "
	"sum(r.count) * 1e9 / sum(e.wall_ns - e.held_ns) AS per_s, "
	"nullif(sum(r.in_progress_ns), 0) / sum(r.count) / 1e9 AS latency_s "
	"FROM causal_experiments e JOIN causal_readings r ON r.experiment = e.n "
	"JOIN causal_points p ON p.n = r.point "
	"LEFT JOIN causal_candidates c ON c.n = e.candidate AND e.speedup > 0 "
	"WHERE e.ending = 'whole' GROUP BY p.n, c.n, e.speedup ORDER BY p.n, c.n, e.speedup",
	NULL,
};
