/* SPDX-License-Identifier: MIT */
/* proc_memory.c - reads amounts of memory from files of /proc. */
#include "wallsample/base/proc_memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"

uint64_t
memory_field(const char *path, const char *label)
{
	char *text = file_read_text(AT_FDCWD, path, 8192, NULL);
	const char *at = text != NULL ? strstr(text, label) : NULL;
	uint64_t kib, bytes = UINT64_MAX;

	if (at != NULL) {
		at += strlen(label);
		if (parse_u64(&at, 10, &kib) && kib <= UINT64_MAX / 1024)
			bytes = kib * 1024;
	}
	free(text);
	return bytes;
}

uint64_t
memory_available(void)
{
	return memory_field("/proc/meminfo", "MemAvailable:");
}
