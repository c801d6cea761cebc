/* SPDX-License-Identifier: MIT */
/* syscalls_aarch64.c - the system calls of aarch64: names and attributes. */
#include "thread/syscall_table_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/base/bytes.h"
#include "wallsample/thread/state.h"

enum {
#define X SYSCALL_NUMBER
#include "thread/syscall_names_aarch64.def"
#undef X
};

static const char *const names[] = {
#define X SYSCALL_NAME
#include "thread/syscall_names_aarch64.def"
#undef X
};

static const unsigned char attributes[ARRAY_SIZE(names)] = { SYSCALL_ATTRIBUTES(
	SYSCALL_ATTRIBUTE) };

const struct syscall_table syscall_table = {
	.name = names,
	.attributes = attributes,
	.count = ARRAY_SIZE(names),
};

/* The two instructions: mov x8, #NUMBER (or w8); svc #0 */
long
syscall_decode(const unsigned char code[SYSCALL_CODE_SIZE])
{
	const uint32_t move = bytes_u32(code);
	const uint32_t call = bytes_u32(code + 4);
	const long number = (long)(move >> 5 & 0xffff);

	if ((move & 0x7fe0001f) != 0x52800008 || call != 0xd4000001)
		return SYSCALL_UNKNOWN;
	return number;
}
