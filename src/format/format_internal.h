/* SPDX-License-Identifier: MIT */
/*
 * format_internal.h - parts of exporters that have files of their own. What JSON means is in
 * wallsample-formats(5).
 */
#ifndef WALLSAMPLE_FORMAT_FORMAT_INTERNAL_H
#define WALLSAMPLE_FORMAT_FORMAT_INTERNAL_H

#include "wallsample/process/process.h"
#include "wallsample/report/export.h"
#include "wallsample/report/json_stream.h"
#include "wallsample/runtime/async_tasks.h"
#include "wallsample/profile/run_stats.h"
#include "wallsample/thread/state.h"
#include "wallsample/analysis/view.h"

/* --- exporter_json: functions of struct exporter ---------------------------------------- */

void json_write_diff(const struct diff_input *input, FILE *out);
void json_write_dump(const struct export_input *input, FILE *out);
void json_write_causal(const struct causal_input *input, FILE *out);

/* --- exporter_json: parts of its objects --------------------------------------------------- */

/* An object with the process' pid, name and command_line. The caller owns it. */
json_t *json_process(struct json_stream *stream, const struct process *process);
/* Adds "state", and "syscall": the call of a sleep, or null. */
/* Sets object[key] to the excluded threads; no key if there are none. */
void json_set_excluded(json_t *object, const char *key, const struct run_excluded *excluded);
void json_add_state(json_t *object, enum run_state state, int32_t syscall);
/* Adds "tid" and "name" of a thread; a user-space task has a null tid, and more members. */
void json_add_thread(struct json_stream *stream, const struct view *view, uint32_t thread,
		     json_t *to);
/* Writes the lists "waits" and "deadlocks". */
void json_write_waits(struct json_stream *stream, const struct view *view);
void json_write_deadlocks(struct json_stream *stream, const struct view *view);
/* Writes the object "gil"; nothing without an interpreter that has such a lock. */
void json_write_gil(struct json_stream *stream, const struct view *view);
/* Writes the lists "tasks" and "tasks_missing" of a dump. */
void json_write_tasks(struct json_stream *stream, const struct async_tasks *tasks);
/* Writes the object "scheduled": states of user-space tasks; nothing without tasks. */
void json_write_task_table(struct json_stream *stream, const struct view *view,
			   const struct run_stats *stats);

/* --- exporter_svg ---------------------------------------------------------------------------- */

void svg_write_causal(const struct causal_input *input, FILE *out);

/* --- exporter_pprof: a stream of protocol buffers ------------------------------------------- */

struct ProtobufCMessage;
struct pprof_stream;

/*
 * Writes gzip to `out`; the caller checks the stream for errors. Equal messages make equal bytes.
 * Concatenated messages of one type are one message with the fields of all of them.
 */
struct pprof_stream *pprof_stream_create(FILE *out);
void pprof_stream_add(struct pprof_stream *stream, const struct ProtobufCMessage *message);
/* Writes what is buffered, then frees the stream. */
void pprof_stream_free(struct pprof_stream *stream);

#endif
