/* SPDX-License-Identifier: MIT */
/* json_waits.c - what threads waited for, and deadlocks, as JSON: see wallsample-formats(5). */
#include "format/format_internal.h"
#include "wallsample/analysis/waiting.h"

/* Stacks of each sort that are told of one thing. */
#define STACKS_MOST 20

static json_t *
functions(struct json_stream *json, const struct view *view, const uint32_t *function,
	  size_t depth)
{
	json_t *list = json_array();

	for (size_t i = 0; i < depth; i++)
		json_array_append_new(
			list, json_stream_text(json, view_function(view, function[i])->name));
	return list;
}

static json_t *
stacks(struct json_stream *json, const struct view *view, const struct waiting_stack *stack,
       size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count && i < STACKS_MOST; i++) {
		json_t *object = json_object();

		if (stack[i].holds) {
			if (stack[i].threads == 1) {
				json_add_thread(json, view, stack[i].thread, object);
			} else {
				json_object_set_new(object, "tid", json_null());
				json_object_set_new(object, "name", json_null());
			}
			json_object_set_new(object, "threads", json_integer(stack[i].threads));
			json_object_set_new(object, "state",
					    json_string(run_state_text(stack[i].state)));
		}
		json_object_set_new(object, "wall_ns", json_integer(stack[i].ns));
		json_object_set_new(object, "functions",
				    functions(json, view, stack[i].function, stack[i].depth));
		json_array_append_new(list, object);
	}
	return list;
}

void
json_write_waits(struct json_stream *json, const struct view *view)
{
	struct waiting waiting;

	waiting_make(view, &waiting);
	json_stream_begin_list(json, "waits");
	for (size_t i = 0; i < waiting.count; i++) {
		const struct waiting_row *row = &waiting.row[i];
		json_t *object = json_object();

		json_object_set_new(object, "kind", json_string(row->kind_text));
		json_object_set_new(object, "object",
				    row->object[0] != '\0' ? json_stream_text(json, row->object) :
							     json_null());
		json_object_set_new(object, "module",
				    row->module[0] != '\0' ? json_stream_text(json, row->module) :
							     json_null());
		json_object_set_new(object, "samples", json_integer(row->samples));
		json_object_set_new(object, "wall_ns", json_integer(row->ns));
		json_object_set_new(object, "threads", json_integer(row->threads));
		json_object_set_new(object, "most_at_once", json_integer(row->most));
		json_object_set_new(object, "waiters",
				    stacks(json, view, row->waiter, row->waiters));
		json_object_set_new(object, "holders",
				    stacks(json, view, row->holder, row->holders));
		json_stream_put(json, NULL, object);
	}
	json_stream_end(json);
	waiting_release(&waiting);
}

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
			json_object_set_new(
				one, "object",
				json_stream_text(json, view_wait_object(view, stuck->wait)));
			json_array_append_new(i < deadlock->ring ? ring : others, one);
		}
		json_object_set_new(object, "ring", ring);
		json_object_set_new(object, "behind", others);
		json_stream_put(json, NULL, object);
	}
	json_stream_end(json);
}
