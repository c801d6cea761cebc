/* SPDX-License-Identifier: MIT */
/* json_gil.c - who had the interpreter's lock, as JSON: see wallsample-formats(5). */
#include "format/format_internal.h"
#include "wallsample/analysis/gil_table.h"

static json_t *
thread(struct json_stream *json, const struct view *view, const struct gil_row *row)
{
	json_t *object = json_object();
	struct strbuf name;

	strbuf_init(&name);
	view_add_thread(view, row->thread, &name);
	json_object_set_new(object, "thread", json_stream_text(json, name.data));
	json_object_set_new(object, "tid",
			    json_integer(profile_thread(view_profile(view), row->thread)->tid));
	json_object_set_new(object, "total_ns", json_integer(row->total_ns));
	json_object_set_new(object, "none_ns", json_integer(row->ns[GIL_NONE]));
	json_object_set_new(object, "has_ns", json_integer(row->ns[GIL_HAS]));
	json_object_set_new(object, "wait_ns", json_integer(row->ns[GIL_WAIT]));
	json_object_set_new(object, "handover_ns", json_integer(row->ns[GIL_HANDOVER]));
	strbuf_release(&name);
	return object;
}

void
json_write_gil(struct json_stream *json, const struct view *view)
{
	struct gil_table gil;

	gil_table_make(view, &gil);
	if (gil.count > 0) {
		json_stream_begin_object(json, "gil");
		json_stream_begin_list(json, "threads");
		for (size_t i = 0; i < gil.count; i++)
			json_stream_put(json, NULL, thread(json, view, &gil.row[i]));
		json_stream_end(json);
		json_stream_put(json, "held_share", json_real(gil.held_share));
		json_stream_put(json, "wait_average", json_real(gil.wait_average));
		json_stream_end(json);
	}
	gil_table_release(&gil);
}
