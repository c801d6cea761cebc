/* SPDX-License-Identifier: MIT */
/* json_dump.c - writes dumps and deadlocks as JSON, see wallsample-formats(5). */
#include <inttypes.h>
#include <string.h>

#include "format/format_internal.h"
#include "wallsample/analysis/async_groups.h"
#include "wallsample/analysis/dump.h"

/*
 * The version of the format, which is the member "schema" of the output. It is incremented when a
 * reader of the previous version would misread the output.
 */
#define SCHEMA 1

/* Returns the kind of the wait as JSON; it may depend on the stack (view_wait_kind()). */
static json_t *
make_kind(const struct view *view, const struct profile_stuck *stuck)
{
	const uint32_t *function;
	size_t depth;

	view_stack(view, stuck->stack, &function, &depth);
	return json_string(wait_kind_text(view_wait_kind(view, stuck->wait, function, depth)));
}

void
json_write_deadlocks(struct json_stream *json, const struct view *view)
{
	const struct profile *profile = view_profile(view);

	json_stream_begin_list(json, "deadlocks");
	for (size_t d = 0; d < profile_deadlock_count(profile); d++) {
		const struct profile_deadlock *deadlock = profile_deadlock(profile, d);
		json_t *ring = json_array(), *others = json_array();

		for (size_t i = 0; i < deadlock->count; i++) {
			const struct profile_stuck *stuck = &deadlock->stuck[i];
			json_t *one = json_object();

			json_add_thread(json, view, stuck->thread, one);
			json_object_set_new(one, "kind", make_kind(view, stuck));
			json_object_set_new(one, "object",
					    json_stream_text(json,
							     view_wait_object(view, stuck->wait)));
			json_array_append_new(i < deadlock->ring ? ring : others, one);
		}
		json_stream_put(json, NULL,
				json_pack("{s:o, s:o}", "ring", ring, "behind", others));
	}
	json_stream_end(json);
}

/*
 * Adds a file and a line to a frame. Adds nothing if the file is NULL or "", and no line if `line`
 * is 0.
 */
static void
add_file(struct json_stream *json, json_t *frame, const char *file, uint32_t line)
{
	if (file == NULL || file[0] == '\0')
		return;
	json_object_set_new(frame, "file", json_stream_text(json, file));
	if (line > 0)
		json_object_set_new(frame, "line", json_stream_number(line));
}

/* --- coroutines ------------------------------------------------------------------------------ */

static json_t *
make_async_task(struct json_stream *json, const struct async_tasks *tasks, uint32_t task)
{
	json_t *awaited_by = json_array();
	const uint32_t *awaiter;
	const size_t count = async_tasks_awaiters(tasks, task, &awaiter);

	for (size_t i = 0; i < count; i++)
		json_array_append_new(awaited_by, json_stream_number(awaiter[i]));
	return json_pack("{s:I, s:o, s:o}", "id", (json_int_t)task, "name",
			 json_stream_text(json, async_tasks_get(tasks, task)->name), "awaited_by",
			 awaited_by);
}

static void
write_async(struct json_stream *json, const struct async_tasks *tasks,
	    const struct async_group *group)
{
	json_t *members = json_array(), *stack = json_array();
	const struct runtime_place *place;
	uint32_t at = group->like->stack;

	for (size_t i = 0; i < group->count; i++)
		json_array_append_new(members, make_async_task(json, tasks, group->member[i]));
	while ((place = async_tasks_place(tasks, &at)) != NULL) {
		json_t *frame = json_pack("{s:o}", "function",
					  json_stream_text(json, place->function));

		add_file(json, frame, place->file, place->line);
		json_array_append_new(stack, frame);
	}
	json_stream_put(json, NULL,
			json_pack("{s:s, s:o?, s:o, s:o}", "state",
				  async_task_state_text(group->like->state), "tid",
				  group->like->tid > 0 ? json_integer(group->like->tid) : NULL,
				  "tasks", members, "stack", stack));
}

static void
write_async_tasks(struct json_stream *json, const struct async_tasks *tasks)
{
	struct async_groups groups;
	const char *missing;

	async_groups_make(tasks, &groups);
	json_stream_begin_list(json, "tasks");
	for (size_t g = 0; g < groups.count; g++)
		write_async(json, tasks, &groups.group[g]);
	json_stream_end(json);
	json_stream_begin_list(json, "tasks_missing");
	for (size_t i = 0; (missing = async_tasks_missing(tasks, i)) != NULL; i++)
		json_stream_put(json, NULL, json_stream_text(json, missing));
	json_stream_end(json);
	async_groups_release(&groups);
}

/* --- threads --------------------------------------------------------------------------------- */

static json_t *
make_frame(struct json_stream *json, const struct view *view, uint32_t id)
{
	const struct view_function *function = view_function(view, id);
	json_t *frame = json_pack("{s:o, s:o}", "function", json_stream_text(json, function->name),
				  "module", json_stream_text(json, function->module));

	add_file(json, frame, function->file, function->line);
	if (function->inlined)
		json_object_set_new(frame, "inlined", json_true());
	return frame;
}

/*
 * Returns the holder of an object as JSON: a thread or green task, or the reason why the holder is
 * not known.
 */
static json_t *
make_holder(struct json_stream *json, const struct view *view, const struct profile_blame *holder)
{
	const struct profile_thread *thread = profile_thread(view_profile(view), holder->thread);
	json_t *object = json_object();
	const uint32_t *function;
	size_t depth;

	view_stack(view, holder->stack, &function, &depth);
	if (thread->tid > 0 || thread->is_green)
		json_add_thread(json, view, holder->thread, object);
	else if (depth > 0)
		json_object_set_new(object, "why",
				    json_stream_text(json, view_function(view, function[0])->name));
	return object;
}

/*
 * Returns the wait of a thread of the group as JSON: its kind, the awaited object, whether the wait
 * has a timeout, and the holder of the object.
 */
static json_t *
make_wait(struct json_stream *json, const struct view *view, const struct dump_group *group,
	  const struct dump_thread *thread)
{
	const enum wait_kind kind = view_wait_kind(view, thread->wait, group->function,
						   group->depth);
	const char *name = view_wait_object(view, thread->wait);
	json_t *object = json_pack("{s:s}", "kind", wait_kind_text(kind));

	if (name[0] != '\0')
		json_object_set_new(object, "object", json_stream_text(json, name));
	json_object_set_new(object, "timed",
			    json_boolean(profile_wait(view_profile(view), thread->wait)->timed));
	if (thread->holder != NULL)
		json_object_set_new(object, "holder", make_holder(json, view, thread->holder));
	return object;
}

/*
 * Returns the seconds that a green task has waited, as its runtime reports them, or that a thread
 * has been asleep; null if that is not known, or the thread is not asleep.
 */
static json_t *
waiting_seconds(const struct view *view, uint32_t thread)
{
	const uint64_t ns = profile_thread(view_profile(view), thread)->waiting_ns;

	return ns > 0 ? json_real((double)ns / (double)NS_PER_SEC) : json_null();
}

static void
write_group(struct json_stream *json, const struct view *view, const struct dump_group *group)
{
	json_t *object = json_object(), *threads = json_array(), *stack = json_array();

	json_add_state(object, group->state, group->syscall);
	if (group->are_green)
		json_object_set_new(object, "tasks", json_stream_number(group->green_count));
	for (size_t i = 0; i < group->count; i++) {
		const struct dump_thread *thread = &group->thread[i];
		json_t *one = json_object();

		json_add_thread(json, view, thread->thread, one);
		json_object_set_new(one, "waiting_seconds", waiting_seconds(view, thread->thread));
		if (thread->count > 1)
			json_object_set_new(one, "count", json_stream_number(thread->count));
		if (thread->wait != 0)
			json_object_set_new(one, "waits_for", make_wait(json, view, group, thread));
		json_array_append_new(threads, one);
	}
	for (size_t i = 0; i < group->depth; i++)
		json_array_append_new(stack, make_frame(json, view, group->function[i]));
	if (profile_process_count(view_profile(view)) > 1)
		json_object_set_new(object, "processes", json_stream_number(group->processes));
	json_object_set_new(object, "threads", threads);
	json_object_set_new(object, "stack", stack);
	json_stream_put(json, NULL, object);
}

/* Returns as JSON how the process of a core file ended. */
static json_t *
make_end(const struct core_end *end)
{
	json_t *object = json_pack("{s:I, s:s, s:I}", "signal", (json_int_t)end->signal,
				   "description", strsignal(end->signal), "tid",
				   (json_int_t)end->tid);

	if (end->has_address)
		json_object_set_new(object, "address", json_sprintf("0x%" PRIx64, end->address));
	if (end->sender != 0)
		json_object_set_new(object, "sender", json_integer(end->sender));
	return object;
}

/* Writes the threads and processes that were excluded by their names, if there are any. */
static void
write_excluded(struct json_stream *json, const struct run_stats *stats)
{
	json_t *cost = json_object();

	json_set_excluded(cost, "excluded", &stats->excluded);
	json_set_excluded_processes(cost, "excluded_processes", &stats->excluded_processes);
	if (json_object_size(cost) > 0)
		json_stream_put(json, "cost", cost);
	else
		json_decref(cost);
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
	report_json_processes(input, &json);
	if (input->stats->runtimes[0] != '\0')
		json_stream_put(&json, "runtime", json_stream_text(&json, input->stats->runtimes));
	if (input->stats->unread[0] != '\0')
		json_stream_put(&json, "runtimes_not_read",
				json_stream_text(&json, input->stats->unread));
	json_stream_put(&json, "taken_ns", json_stream_number(input->began_ns));
	write_excluded(&json, input->stats);
	if (input->core_end != NULL && input->core_end->signal != 0)
		json_stream_put(&json, "ended_by", make_end(input->core_end));
	json_write_deadlocks(&json, input->view);
	json_stream_begin_list(&json, "groups");
	for (size_t i = 0; i < dump.count; i++)
		write_group(&json, input->view, &dump.group[i]);
	json_stream_end(&json);
	if (input->async != NULL)
		write_async_tasks(&json, input->async);
	json_stream_close(&json);
	dump_release(&dump);
}
