/* SPDX-License-Identifier: MIT */
/* c_library.c - the table of functions of glibc and musl that only lead to a system call. */
#include "wallsample/process/c_library.h"

#include <string.h>

#include "wallsample/base/base.h"

/* Names without leading underscores. */
static const struct {
	const char *name;
	bool cancels; /* the function is part of a cancellation point, and has no other purpose */
} plumbing[] = {
	/* glibc from 2.41 on: sysdeps/unix/sysv/linux/x86_64/syscall_cancel.S, nptl/cancellation.c.
	 * The labels start and end enclose the system call. */
	{ "syscall_cancel", true },
	{ "internal_syscall_cancel", true },
	{ "syscall_cancel_arch", true },
	{ "syscall_cancel_arch_start", true },
	{ "syscall_cancel_arch_end", true },
	/* musl: src/thread/x86_64/syscall_cp.s, src/thread/pthread_cancel.c,
	 * src/thread/__syscall_cp.c. The labels cp_begin and cp_end enclose the system call. */
	{ "syscall_cp", true },
	{ "syscall_cp_asm", true },
	{ "syscall_cp_c", true },
	{ "sccp", true },
	{ "cp_begin", true },
	{ "cp_end", true },
	/* lock functions of both */
	{ "syscall", false },
	{ "lll_lock_wait", false },
	{ "lll_lock_wait_private", false },
	{ "timedwait", false },
	{ "timedwait_cp", false },
	{ "wait", false },
};

bool
c_library_has_module(const char *name)
{
	static const char *const beginnings[] = { "libc.so.6", "libc-2.",         "libc.so",
						  "ld-musl-",  "libpthread.so.0", "libpthread-2." };

	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

/* Finds the row with the name in the first `length` bytes. Returns false when there is none. */
static bool
find_row(const char *name, size_t length, size_t *row)
{
	for (*row = 0; *row < ARRAY_SIZE(plumbing); (*row)++)
		if (strlen(plumbing[*row].name) == length &&
		    memcmp(plumbing[*row].name, name, length) == 0)
			return true;
	return false;
}

bool
c_library_leads_to_syscall(const char *function, size_t length)
{
	size_t row;

	return find_row(function, length, &row);
}

bool
c_library_only_calls(const char *function)
{
	const size_t underscores = strspn(function, "_");
	size_t row;

	/* Without underscores a name belongs to the program. */
	function += underscores;
	return underscores >= 2 && find_row(function, strcspn(function, ".@("), &row) &&
	       plumbing[row].cancels;
}
