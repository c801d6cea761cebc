/* SPDX-License-Identifier: MIT */
/* json_tasks.c - writes user-space tasks as JSON, see wallsample-formats(5). */
#include "format/format_internal.h"
#include "wallsample/analysis/task_groups.h"

static json_t *
one_task(struct json_stream *json, const struct async_tasks *tasks, uint32_t task)
{
	json_t *object = json_object(), *awaited_by = json_array();
	const uint32_t *awaiter;
	const size_t count = async_tasks_awaiters(tasks, task, &awaiter);

	for (size_t i = 0; i < count; i++)
		json_array_append_new(awaited_by, json_stream_number(awaiter[i]));
	json_object_set_new(object, "id", json_stream_number(task));
	json_object_set_new(object, "name",
			    json_stream_text(json, async_tasks_get(tasks, task)->name));
	json_object_set_new(object, "awaited_by", awaited_by);
	return object;
}

static json_t *
one_frame(struct json_stream *json, const struct runtime_place *place)
{
	json_t *object = json_object();

	json_object_set_new(object, "function", json_stream_text(json, place->function));
	if (place->file[0] != '\0')
		json_object_set_new(object, "file", json_stream_text(json, place->file));
	if (place->file[0] != '\0' && place->line > 0)
		json_object_set_new(object, "line", json_stream_number(place->line));
	return object;
}

static void
write_group(struct json_stream *json, const struct async_tasks *tasks,
	    const struct task_group *group)
{
	json_t *object = json_object(), *members = json_array(), *stack = json_array();
	const struct runtime_place *place;
	uint32_t at = group->like->stack;

	json_object_set_new(object, "state",
			    json_string(async_task_state_text(group->like->state)));
	json_object_set_new(object, "tid",
			    group->like->tid > 0 ? json_integer(group->like->tid) : json_null());
	for (size_t i = 0; i < group->count; i++)
		json_array_append_new(members, one_task(json, tasks, group->task[i]));
	while ((place = async_tasks_place(tasks, &at)) != NULL)
		json_array_append_new(stack, one_frame(json, place));
	json_object_set_new(object, "tasks", members);
	json_object_set_new(object, "stack", stack);
	json_stream_put(json, NULL, object);
}

void
json_write_tasks(struct json_stream *json, const struct async_tasks *tasks)
{
	struct task_groups groups;
	const char *missing;

	task_groups_make(tasks, &groups);
	json_stream_begin_list(json, "tasks");
	for (size_t g = 0; g < groups.count; g++)
		write_group(json, tasks, &groups.group[g]);
	json_stream_end(json);
	json_stream_begin_list(json, "tasks_missing");
	for (size_t i = 0; (missing = async_tasks_missing(tasks, i)) != NULL; i++)
		json_stream_put(json, NULL, json_stream_text(json, missing));
	json_stream_end(json);
	task_groups_release(&groups);
}
