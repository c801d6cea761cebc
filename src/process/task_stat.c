/* SPDX-License-Identifier: MIT */
/*
 * task_stat.c - parses the stat line of a thread.
 */
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/process/process.h"

/*
 * The fields that are kept, by their number in proc_pid_stat(5). Field 2, the
 * command name, ends at the last ')': it may itself hold any byte.
 */
enum {
	FIELD_STATE = 3,
	FIELD_PPID = 4,
	FIELD_FLAGS = 9,
	FIELD_USER_TICKS = 14,
	FIELD_SYSTEM_TICKS = 15,
	FIELD_NUM_THREADS = 20,
	FIELD_START_TIME = 22,
	FIELD_START_STACK = 28,
	FIELD_PROCESSOR = 39,
	FIELD_ARG_START = 48,
};

/* Stores one field if it is needed; false when its value is invalid. */
static bool
store_field(struct task_stat *stat, unsigned field, uint64_t value)
{
	switch (field) {
	case FIELD_PPID:
		stat->ppid = (pid_t)value;
		return value <= INT32_MAX;
	case FIELD_FLAGS:
		stat->flags = value;
		return true;
	case FIELD_USER_TICKS:
		stat->user_ticks = value;
		return true;
	case FIELD_SYSTEM_TICKS:
		stat->system_ticks = value;
		return true;
	case FIELD_NUM_THREADS:
		stat->num_threads = (uint32_t)value;
		return value <= UINT32_MAX;
	case FIELD_START_TIME:
		stat->start_time = value;
		return true;
	case FIELD_START_STACK:
		stat->start_stack = value;
		return true;
	case FIELD_PROCESSOR:
		stat->processor = (uint32_t)value;
		return value <= UINT32_MAX;
	case FIELD_ARG_START:
		stat->arg_start = value;
		return true;
	default:
		return true;
	}
}

/* Parses fields 4 and up. Old kernels lack field 48, which then stays 0. */
static bool
parse_numbers(const char *at, struct task_stat *stat)
{
	for (unsigned field = FIELD_PPID; field <= FIELD_ARG_START; field++) {
		uint64_t value = 0;
		int64_t negative;

		if (parse_u64(&at, 10, &value)) {
			if (!store_field(stat, field, value))
				return false;
		} else if (!parse_i64(&at, &negative)) {
			return field > FIELD_START_TIME;
		}
		if (*at != ' ' && *at != '\n' && *at != '\0')
			return false;
	}
	return true;
}

bool
task_stat_parse(const char *line, struct task_stat *stat)
{
	const char *at = line;
	const char *close = strrchr(line, ')');
	uint64_t tid;
	size_t length;

	memset(stat, 0, sizeof(*stat));
	if (!close || !parse_u64(&at, 10, &tid) || tid == 0 || tid > INT32_MAX)
		return false;
	if (at[0] != ' ' || at[1] != '(' || close < at + 2 || close[1] != ' ')
		return false;
	stat->tid = (pid_t)tid;
	at += 2;
	length = (size_t)(close - at);
	if (length >= sizeof(stat->comm))
		length = sizeof(stat->comm) - 1;
	memcpy(stat->comm, at, length);

	stat->state = close[2];
	if (stat->state < 'A' || stat->state > 'z' || close[3] != ' ')
		return false;
	return parse_numbers(close + 3, stat);
}
