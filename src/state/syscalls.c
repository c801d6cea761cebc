/* SPDX-License-Identifier: MIT */
/* syscalls.c - answers questions about system calls from the table of the architecture. */
#include <string.h>

#include "syscall_table.h"
#include "wallsample/state.h"

static const struct syscall_row *
find_row(long number)
{
	if (number < 0 || (size_t)number >= syscall_table.count)
		return NULL;
	return syscall_table.row[number].name != NULL ? &syscall_table.row[number] : NULL;
}

const char *
syscall_name(long number)
{
	const struct syscall_row *row = find_row(number);

	return row != NULL ? row->name : NULL;
}

long
syscall_number(const char *name)
{
	for (size_t i = 0; i < syscall_table.count; i++) {
		const struct syscall_row *row = find_row((long)i);

		if (row != NULL && strcmp(row->name, name) == 0)
			return (long)i;
	}
	return SYSCALL_UNKNOWN;
}

bool
syscall_breaks_on_stop(long number)
{
	const struct syscall_row *row = find_row(number);

	return row != NULL && (row->flags & BREAKS) != 0;
}

bool
syscall_minds_a_stop(long number)
{
	const struct syscall_row *row = find_row(number);

	return row != NULL && (row->flags & TIMED) != 0;
}

bool
syscall_sleeps_interruptible(long number)
{
	const struct syscall_row *row = find_row(number);

	return row != NULL && (row->flags & SLEEPS) != 0;
}

bool
syscall_only_waits(long number)
{
	const struct syscall_row *row = find_row(number);

	return row != NULL && (row->flags & (SLEEPS | WORKS)) == SLEEPS;
}

bool
syscall_is_restart(long number)
{
	const char *name = syscall_name(number);

	return name != NULL && strcmp(name, "restart_syscall") == 0;
}
