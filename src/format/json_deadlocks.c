/* SPDX-License-Identifier: MIT */
/* json_deadlocks.c - writes deadlocks as JSON, see wallsample-formats(5). */
#include "format/format_internal.h"

void
json_write_deadlocks(struct json_stream *json, const struct view *view)
{
	const struct profile *profile = view_profile(view);

	json_stream_begin_list(json, "deadlocks");
	for (size_t d = 0; d < profile_deadlock_count(profile); d++) {
		const struct profile_deadlock *deadlock = profile_deadlock(profile, d);
		json_t *object = json_object(), *ring = json_array(), *others = json_array();

		for (size_t i = 0; i < deadlock->count; i++) {
			const struct profile_stuck *stuck = &deadlock->stuck[i];
			const struct profile_wait *wait = profile_wait(profile, stuck->wait);
			json_t *one = json_object();

			json_add_thread(json, view, stuck->thread, one);
			json_object_set_new(one, "kind", json_string(wait_kind_text(wait->kind)));
			json_object_set_new(one, "object",
					    json_stream_text(json,
							     view_wait_object(view, stuck->wait)));
			json_array_append_new(i < deadlock->ring ? ring : others, one);
		}
		json_object_set_new(object, "ring", ring);
		json_object_set_new(object, "behind", others);
		json_stream_put(json, NULL, object);
	}
	json_stream_end(json);
}
