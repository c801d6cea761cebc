/* SPDX-License-Identifier: MIT */
/* json_task_table.c - what tasks did, and the threads that ran them: see wallsample-formats(5). */
#include "format/format_internal.h"
#include "wallsample/analysis/task_table.h"

void
json_write_task_table(struct json_stream *json, const struct view *view,
		      const struct run_stats *stats)
{
	const struct profile *profile = view_profile(view);
	json_t *object = json_object(), *states = json_array();
	struct task_table tasks;

	task_table_make(view, &tasks);
	for (size_t i = 0; i < tasks.count; i++) {
		const struct task_table_row *row = &tasks.row[i];
		json_t *one = json_object();

		json_object_set_new(one, "doing", json_string(task_doing_word(row->doing)));
		if (row->reason[0] != '\0')
			json_object_set_new(one, "reason", json_stream_text(json, row->reason));
		json_object_set_new(one, "tasks_ns", json_integer(row->tasks_ns));
		json_object_set_new(one, "threads_ns", json_integer(row->threads_ns));
		json_array_append_new(states, one);
	}
	json_object_set_new(object, "count", json_stream_number(tasks.tasks));
	json_object_set_new(object, "system", json_stream_number(tasks.system));
	json_object_set_new(object, "most", json_stream_number(stats->tasks_most));
	json_object_set_new(object, "thinnest", json_stream_number(stats->tasks_thinnest));
	json_object_set_new(object, "ready_mean",
			    json_real(profile_wall_ns(profile) > 0 ?
					      profile_ready_ns(profile) /
						      (double)profile_wall_ns(profile) : 0));
	json_object_set_new(object, "ready_most",
			    json_stream_number(profile_ready_most(profile)));
	json_object_set_new(object, "failed_ns", json_integer(tasks.failed_ns));
	json_object_set_new(object, "finished_ns", json_integer(tasks.finished_ns));
	json_object_set_new(object, "states", states);
	if (tasks.count > 0)
		json_stream_put(json, "scheduled", object);
	else
		json_decref(object);
	task_table_release(&tasks);
}
