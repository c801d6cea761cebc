/* SPDX-License-Identifier: MIT */
/* syscall_info.c - the text of /proc/PID/task/TID/syscall. */
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/thread/state.h"

static bool
parse_hex(const char **at, uint64_t *value)
{
	while (**at == ' ')
		(*at)++;
	if ((*at)[0] == '0' && (*at)[1] == 'x')
		*at += 2;
	else
		return false;
	/* parse_u64 would skip spaces again: "0x 12" is not a number */
	return **at != ' ' && parse_u64(at, 16, value);
}

/*
 * One of (fs/proc/base.c, proc_pid_syscall):
 *   running
 *   -1 0xSP 0xPC                              asleep, not in a system call
 *   NR 0xA0 0xA1 0xA2 0xA3 0xA4 0xA5 0xSP 0xPC
 */
bool
syscall_parse(const char *text, struct syscall_info *out)
{
	int64_t number;

	memset(out, 0, sizeof(*out));
	out->number = SYSCALL_NONE;
	if (strncmp(text, "running", 7) == 0) {
		out->running = true;
		return true;
	}
	if (!parse_i64(&text, &number) || number < -1 || number > 1 << 20)
		return false;
	out->number = number == -1 ? SYSCALL_NONE : (long)number;
	if (out->number != SYSCALL_NONE) {
		for (size_t i = 0; i < ARRAY_SIZE(out->args); i++)
			if (!parse_hex(&text, &out->args[i]))
				return false;
	}
	return parse_hex(&text, &out->sp) && parse_hex(&text, &out->pc);
}
