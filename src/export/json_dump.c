/* SPDX-License-Identifier: MIT */
/*
 * json_dump.c - every thread once, as data, in the shape that wallsample-formats(5) describes.
 */
#include "exporters.h"
#include "json_parts.h"
#include "wallsample/dump.h"

/* Grows when a reader of the last one would misread what is written. */
#define SCHEMA 1

static json_t *
frame(struct json_stream *json, const struct view *view, uint32_t id)
{
	const struct view_function *function = view_function(view, id);
	json_t *object = json_object();

	json_object_set_new(object, "function", json_stream_text(json, function->name));
	json_object_set_new(object, "module", json_stream_text(json, function->module));
	if (function->file != NULL)
		json_object_set_new(object, "file", json_stream_text(json, function->file));
	if (function->file != NULL && function->line > 0)
		json_object_set_new(object, "line", json_stream_number(function->line));
	if (function->inlined)
		json_object_set_new(object, "inlined", json_true());
	return object;
}

static void
write_group(struct json_stream *json, const struct view *view, const struct dump_group *group)
{
	const struct profile *profile = view_profile(view);
	json_t *object = json_object(), *threads = json_array(), *stack = json_array();

	json_add_state(object, group->state, group->syscall);
	for (size_t i = 0; i < group->count; i++) {
		const struct profile_thread *thread = profile_thread(profile, group->thread[i]);
		json_t *one = json_object();

		json_object_set_new(one, "tid", json_integer(thread->tid));
		json_object_set_new(one, "name",
				    json_stream_text(json, profile_text(profile, thread->name)));
		json_array_append_new(threads, one);
	}
	for (size_t i = 0; i < group->depth; i++)
		json_array_append_new(stack, frame(json, view, group->function[i]));
	json_object_set_new(object, "threads", threads);
	json_object_set_new(object, "stack", stack);
	json_stream_put(json, NULL, object);
}

void
json_write_dump(const struct export_input *input, FILE *out)
{
	struct json_stream json;
	struct dump dump;

	dump_make(input->view, &dump);
	json_stream_open(&json, out);
	json_stream_put(&json, "schema", json_integer(SCHEMA));
	json_stream_put(&json, "generator", json_string("wallsample"));
	json_stream_put(&json, "kind", json_string("dump"));
	json_stream_put(&json, "target", json_process(&json, input->process));
	json_stream_put(&json, "taken_ns", json_stream_number(input->began_ns));
	json_stream_begin_list(&json, "groups");
	for (size_t i = 0; i < dump.count; i++)
		write_group(&json, input->view, &dump.group[i]);
	json_stream_end(&json);
	json_stream_close(&json);
	dump_release(&dump);
}
