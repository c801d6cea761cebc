/* SPDX-License-Identifier: MIT */
/* capability.c - reads and sets the capabilities of a thread: capget(2), capset(2). */
#include "wallsample/base/capability.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

bool
capability_read(uint64_t *permitted)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	if (syscall(SYS_capget, &head, data) != 0)
		return false;
	*permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
	return true;
}

bool
capability_set(uint64_t effective, uint64_t permitted)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].effective = (uint32_t)(effective >> 32 * i);
		data[i].permitted = (uint32_t)(permitted >> 32 * i);
	}
	return syscall(SYS_capset, &head, data) == 0;
}

void
capability_drop_all(void)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)capability_set(0, 0);
}
