/* SPDX-License-Identifier: MIT */
/* json_parts.c - processes, threads and states as JSON. */
#include "wallsample/report/report.h"

#include <inttypes.h>

json_t *
json_process(struct json_stream *stream, const struct process *process)
{
	return json_pack("{s:I, s:o, s:o}", "pid", (json_int_t)process->pid, "name",
			 json_stream_text(stream, process->comm), "command_line",
			 json_stream_text(stream, process->cmdline));
}

json_t *
json_profile_process(struct json_stream *stream, const struct profile *profile, uint32_t id)
{
	const struct profile_process *process = profile_process(profile, id);

	return json_pack("{s:I, s:o, s:o}", "pid", (json_int_t)process->pid, "name",
			 json_stream_text(stream, profile_text(profile, process->name)),
			 "command_line",
			 json_stream_text(stream, profile_text(profile, process->cmdline)));
}

json_t *
json_profile_processes(struct json_stream *stream, const struct profile *profile)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < profile_process_count(profile); i++)
		json_array_append_new(list, json_profile_process(stream, profile, i));
	return list;
}

void
json_set_excluded(json_t *object, const char *key, const struct run_excluded *excluded)
{
	if (excluded->threads > 0)
		json_object_set_new(object, key,
				    json_pack("{s:I, s:I, s:I}", "threads",
					      (json_int_t)excluded->threads, "ended",
					      (json_int_t)excluded->ended, "cpu_ns",
					      (json_int_t)excluded->cpu_ns));
}

void
json_set_excluded_processes(json_t *object, const char *key,
			    const struct run_excluded_processes *excluded)
{
	if (excluded->count > 0)
		json_object_set_new(object, key,
				    json_pack("{s:I, s:I}", "processes",
					      (json_int_t)excluded->count, "cpu_ns",
					      (json_int_t)excluded->cpu_ns));
}

/* Returns a new string; NULL if `text` is NULL, as the format "o?" of json_pack() expects. */
static json_t *
text_value(struct json_stream *stream, const char *text)
{
	return text != NULL ? json_stream_text(stream, text) : NULL;
}

void
json_add_process(const struct view *view, uint32_t thread, json_t *to)
{
	const struct profile *profile = view_profile(view);
	const uint32_t process = process_of_record(profile, thread);

	if (profile_process_count(profile) > 1 && process != PROCESS_NONE)
		json_object_set_new(to, "process", json_integer(process));
}

void
json_add_thread(struct json_stream *stream, const struct view *view, uint32_t thread, json_t *to)
{
	const struct profile *profile = view_profile(view);
	const struct profile_thread *of = profile_thread(profile, thread);
	const char *name = profile_text(profile, of->name);
	struct strbuf whole = STRBUF_INIT;

	json_object_set_new(to, "tid", of->tid > 0 ? json_integer(of->tid) : json_null());
	json_add_process(view, thread, to);
	if (!of->is_green) {
		json_object_set_new(to, "name", json_stream_text(stream, name));
		return;
	}
	view_add_thread(view, thread, &whole);
	json_object_update_new(to,
			       json_pack("{s:o, s:o, s:o?, s:o?, s:o?, s:o?, s:b}", "name",
					 json_stream_text(stream, whole.data), "noun",
					 json_stream_text(stream, name), "task",
					 of->green_id != 0 ? json_stream_number(of->green_id) :
							     NULL,
					 "entry",
					 text_value(stream, view_green_entry(view, thread)),
					 "created_at",
					 text_value(stream, view_green_creator(view, thread)),
					 "creator",
					 of->creator != 0 ? json_stream_number(of->creator) : NULL,
					 "system", (int)of->system));
	strbuf_release(&whole);
}

void
json_add_state(json_t *object, enum run_state state, int32_t syscall)
{
	const bool waits = state == RUN_SLEEPING || state == RUN_UNINTERRUPTIBLE;
	json_t *call = NULL;

	json_object_set_new(object, "state", json_string(run_state_text(state)));
	if (!waits || syscall == SYSCALL_NONE || syscall == SYSCALL_GREEN)
		call = json_null();
	else if (syscall == SYSCALL_UNKNOWN)
		call = json_string("unknown");
	else if (syscall_name(syscall) != NULL)
		call = json_string(syscall_name(syscall));
	else
		call = json_sprintf("%" PRId32, syscall);
	json_object_set_new(object, "syscall", call);
}
