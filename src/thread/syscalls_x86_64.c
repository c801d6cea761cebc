/* SPDX-License-Identifier: MIT */
/* syscalls_x86_64.c - the system calls of x86-64: names and attributes. */
#include "thread/syscall_table_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/base/bytes.h"
#include "wallsample/thread/state.h"

enum {
#define X SYSCALL_NUMBER
#include "thread/syscall_names_x86_64.def"
#undef X
};

static const char *const names[] = {
#define X SYSCALL_NAME
#include "thread/syscall_names_x86_64.def"
#undef X
};

static const unsigned char attributes[ARRAY_SIZE(names)] = {
	SYSCALL_ATTRIBUTES(SYSCALL_ATTRIBUTE)[NR_poll] = SLEEPS,
	[NR_select] = SLEEPS,
	[NR_pause] = SLEEPS,
	[NR_epoll_wait] = BREAKS | TIMED | SLEEPS,
	[NR_open] = FILE_D,
	[NR_creat] = FILE_D,
	[NR_stat] = FILE_D,
	[NR_lstat] = FILE_D,
	[NR_access] = FILE_D,
	[NR_getdents] = FILE_D,
	[NR_readlink] = FILE_D,
	[NR_unlink] = FILE_D,
	[NR_rename] = FILE_D,
	[NR_mkdir] = FILE_D,
	[NR_rmdir] = FILE_D,
	[NR_mknod] = FILE_D,
	[NR_link] = FILE_D,
	[NR_symlink] = FILE_D,
	[NR_chmod] = FILE_D,
	[NR_chown] = FILE_D,
	[NR_lchown] = FILE_D,
	[NR_utime] = FILE_D,
	[NR_utimes] = FILE_D,
	[NR_futimesat] = FILE_D,
};

const struct syscall_table syscall_table = {
	.name = names,
	.attributes = attributes,
	.count = ARRAY_SIZE(names),
};

/* The two instructions: mov $NUMBER, %eax; syscall */
long
syscall_decode(const unsigned char code[SYSCALL_CODE_SIZE])
{
	const uint32_t number = bytes_u32(code + 2);

	if (code[1] != 0xb8 || code[6] != 0x0f || code[7] != 0x05)
		return SYSCALL_UNKNOWN;
	return (long)number;
}
