/* SPDX-License-Identifier: MIT */
/* json_internal.h - what several kinds of JSON have, see wallsample-formats(5). */
#ifndef WALLSAMPLE_FORMAT_JSON_INTERNAL_H
#define WALLSAMPLE_FORMAT_JSON_INTERNAL_H

#include "wallsample/report/json_stream.h"
#include "wallsample/process/process.h"
#include "wallsample/runtime/runtime_tasks.h"
#include "wallsample/profile/run_stats.h"
#include "wallsample/thread/state.h"
#include "wallsample/analysis/view.h"

/* An object with its pid, name and command_line. */
json_t *json_process(struct json_stream *stream, const struct process *process);

/* Adds the state, and the syscall that it is a sleep in, or null. */
void json_add_state(json_t *object, enum run_state state, int32_t syscall);

/* The lists "waits" and "deadlocks". */
void json_write_waits(struct json_stream *stream, const struct view *view);
void json_write_deadlocks(struct json_stream *stream, const struct view *view);
/* The object "gil"; nothing where there is no such lock. */
void json_write_gil(struct json_stream *stream, const struct view *view);

/* The lists "tasks" and "tasks_missing". */
void json_write_tasks(struct json_stream *stream, const struct runtime_tasks *tasks);

/* What scheduled tasks did, and the threads that ran them; nothing where there are none. */
void json_write_task_table(struct json_stream *stream, const struct view *view,
			   const struct run_stats *stats);

/* What a thread is: "tid" and "name"; of a task those are null and its whole name, and more. */
void json_add_thread(struct json_stream *stream, const struct view *view, uint32_t thread,
		     json_t *to);

#endif
