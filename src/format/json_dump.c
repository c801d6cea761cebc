/* SPDX-License-Identifier: MIT */
/*
 * json_dump.c - writes a dump as JSON: each thread once, see wallsample-formats(5).
 */
#include <inttypes.h>
#include <string.h>

#include "format/format_internal.h"
#include "wallsample/analysis/dump.h"
#include "wallsample/analysis/task_groups.h"

/* Incremented when a reader of the previous version would misread the output. */
#define SCHEMA 1

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
write_task_group(struct json_stream *json, const struct async_tasks *tasks,
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

static void
write_tasks(struct json_stream *json, const struct async_tasks *tasks)
{
	struct task_groups groups;
	const char *missing;

	task_groups_make(tasks, &groups);
	json_stream_begin_list(json, "tasks");
	for (size_t g = 0; g < groups.count; g++)
		write_task_group(json, tasks, &groups.group[g]);
	json_stream_end(json);
	json_stream_begin_list(json, "tasks_missing");
	for (size_t i = 0; (missing = async_tasks_missing(tasks, i)) != NULL; i++)
		json_stream_put(json, NULL, json_stream_text(json, missing));
	json_stream_end(json);
	task_groups_release(&groups);
}

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

/* Adds the awaited object, and its holder. */
static void
add_wait(struct json_stream *json, const struct view *view, const struct dump_group *group,
	 const struct dump_thread *thread, json_t *to)
{
	const struct profile *profile = view_profile(view);
	const struct profile_wait *wait = profile_wait(profile, thread->wait);
	const enum wait_kind kind = view_wait_kind(view, thread->wait, group->function,
						   group->depth);
	const char *object = view_wait_object(view, thread->wait);
	json_t *waits = json_object(), *holder = json_object();

	json_object_set_new(waits, "kind", json_string(wait_kind_text(kind)));
	if (object[0] != '\0')
		json_object_set_new(waits, "object", json_stream_text(json, object));
	json_object_set_new(waits, "timed", json_boolean(wait->timed));
	if (thread->holder != NULL) {
		const struct profile_thread *of = profile_thread(profile, thread->holder->thread);
		const uint32_t *function;
		size_t depth;

		if (of->tid > 0 || of->is_task)
			json_add_thread(json, view, thread->holder->thread, holder);
		view_stack(view, thread->holder->stack, &function, &depth);
		if (of->tid <= 0 && !of->is_task && depth > 0)
			json_object_set_new(holder, "why",
					    json_stream_text(json, view_function(view, function[0])
									   ->name));
		json_object_set(waits, "holder", holder);
	}
	json_decref(holder);
	json_object_set_new(to, "waits_for", waits);
}

/* The state in its runtime, or null. */
static json_t *
waiting(const struct view *view, uint32_t thread)
{
	const uint64_t ns = profile_thread(view_profile(view), thread)->waiting_ns;

	return ns > 0 ? json_real((double)ns / (double)NS_PER_SEC) : json_null();
}

static void
write_group(struct json_stream *json, const struct view *view, const struct dump_group *group)
{
	json_t *object = json_object(), *threads = json_array(), *stack = json_array();

	json_add_state(object, group->state, group->syscall);
	if (group->are_tasks)
		json_object_set_new(object, "tasks", json_stream_number(group->tasks));
	for (size_t i = 0; i < group->count; i++) {
		json_t *one = json_object();

		json_add_thread(json, view, group->thread[i].thread, one);
		if (group->are_tasks)
			json_object_set_new(one, "waiting_seconds",
					    waiting(view, group->thread[i].thread));
		if (group->thread[i].count > 1)
			json_object_set_new(one, "count",
					    json_stream_number(group->thread[i].count));
		if (group->thread[i].wait != 0)
			add_wait(json, view, group, &group->thread[i], one);
		json_array_append_new(threads, one);
	}
	for (size_t i = 0; i < group->depth; i++)
		json_array_append_new(stack, frame(json, view, group->function[i]));
	json_object_set_new(object, "threads", threads);
	json_object_set_new(object, "stack", stack);
	json_stream_put(json, NULL, object);
}

/* How the process of a core file ended. */
static json_t *
end(const struct core_end *core_end)
{
	json_t *object = json_object();

	json_object_set_new(object, "signal", json_integer(core_end->signal));
	json_object_set_new(object, "description", json_string(strsignal(core_end->signal)));
	json_object_set_new(object, "tid", json_integer(core_end->tid));
	if (core_end->has_address)
		json_object_set_new(object, "address",
				    json_sprintf("0x%" PRIx64, core_end->address));
	if (core_end->sender != 0)
		json_object_set_new(object, "sender", json_integer(core_end->sender));
	return object;
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
	if (input->stats->runtimes[0] != '\0')
		json_stream_put(&json, "runtime", json_stream_text(&json, input->stats->runtimes));
	json_stream_put(&json, "taken_ns", json_stream_number(input->began_ns));
	if (input->stats->excluded.threads > 0) {
		json_t *cost = json_object();

		json_set_excluded(cost, "excluded", &input->stats->excluded);
		json_stream_put(&json, "cost", cost);
	}
	if (input->core_end != NULL && input->core_end->signal != 0)
		json_stream_put(&json, "ended_by", end(input->core_end));
	json_write_deadlocks(&json, input->view);
	json_stream_begin_list(&json, "groups");
	for (size_t i = 0; i < dump.count; i++)
		write_group(&json, input->view, &dump.group[i]);
	json_stream_end(&json);
	if (input->tasks != NULL)
		write_tasks(&json, input->tasks);
	json_stream_close(&json);
	dump_release(&dump);
}
