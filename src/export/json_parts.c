/* SPDX-License-Identifier: MIT */
/* json_parts.c - processes and states as JSON. */
#include "json_parts.h"

#include <inttypes.h>

json_t *
json_process(struct json_stream *stream, const struct process *process)
{
	json_t *object = json_object();

	json_object_set_new(object, "pid", json_integer(process->pid));
	json_object_set_new(object, "name", json_stream_text(stream, process->comm));
	json_object_set_new(object, "command_line", json_stream_text(stream, process->cmdline));
	return object;
}

void
json_add_state(json_t *object, enum run_state state, int32_t syscall)
{
	const bool waits = state == RUN_SLEEPING || state == RUN_DISK;
	json_t *call = NULL;

	json_object_set_new(object, "state", json_string(run_state_text(state)));
	if (!waits || syscall == SYSCALL_NONE)
		call = json_null();
	else if (syscall == SYSCALL_UNKNOWN)
		call = json_string("unknown");
	else if (syscall_name(syscall) != NULL)
		call = json_string(syscall_name(syscall));
	else
		call = json_sprintf("%" PRId32, syscall);
	json_object_set_new(object, "syscall", call);
}
