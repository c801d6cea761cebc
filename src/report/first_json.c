/* SPDX-License-Identifier: MIT */
/* first_json.c - writes the causes and places of a first screen as JSON. */
#include "report/first_internal.h"
#include "wallsample/report/report.h"

static json_t *
json_details(struct json_stream *stream, const struct cause *cause)
{
	json_t *list = json_array();

	for (size_t i = 0; i < cause->details; i++)
		json_array_append_new(list,
				      json_pack("{s:o, s:o}", "label",
						json_stream_text(stream, cause->detail[i].label),
						"text",
						json_stream_text(stream, cause->detail[i].text)));
	return list;
}

static void
write_causes(const struct first *first, struct json_stream *stream)
{
	json_stream_begin_list(stream, "causes");
	for (size_t i = 0; i < first->causes.count; i++) {
		const struct cause *cause = &first->causes.cause[i];

		json_stream_put(stream, NULL,
				json_pack("{s:s, s:o, s:o}", "title", cause->title, "text",
					  json_stream_text(stream, cause->text), "details",
					  json_details(stream, cause)));
	}
	json_stream_end(stream);
}

static json_t *
json_place(const struct first *first, const struct place_row *row, struct json_stream *stream)
{
	const struct view_function *function = view_function(first->view, row->function);
	json_t *object = json_object();

	json_object_set_new(object, "function", json_stream_text(stream, function->name));
	json_object_set_new(object, "module", json_stream_text(stream, function->module));
	if (row->file != NULL)
		json_object_set_new(object, "file", json_stream_text(stream, row->file));
	if (row->line > 0)
		json_object_set_new(object, "line", json_stream_number(row->line));
	json_object_set_new(object, "threads", json_stream_number(row->threads));
	json_object_set_new(object, "wall_ns", json_integer(row->wall_ns));
	json_object_set_new(object, "running_ns", json_integer(row->ns[PLACE_RUNS]));
	json_object_set_new(object, "queued_ns", json_integer(row->ns[PLACE_QUEUED]));
	json_object_set_new(object, "blocked_ns", json_integer(row->ns[PLACE_BLOCKED]));
	if (row->wait_ns > 0) {
		struct strbuf wait = STRBUF_INIT;

		first_add_wait_of(first, row, &wait);
		json_object_set_new(object, "waits_for", json_stream_text(stream, wait.data));
		json_object_set_new(object, "waits_ns", json_integer(row->wait_ns));
		strbuf_release(&wait);
	}
	return object;
}

void
report_json_first(const struct export_input *input, struct json_stream *stream)
{
	struct first first;

	if (view_is_blame(input->view))
		return;
	first_make(input, &first);
	if (!input->filtered)
		write_causes(&first, stream);
	json_stream_begin_list(stream, "places");
	for (size_t i = 0; i < first.places.count; i++)
		json_stream_put(stream, NULL, json_place(&first, &first.places.row[i], stream));
	json_stream_end(stream);
	json_stream_put(stream, "idle_threads", json_stream_number(first.places.idle_threads));
	first_release(&first);
}
