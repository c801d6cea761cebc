/* SPDX-License-Identifier: MIT */
/* pid_namespace.c - ids of the target's threads in its own pid namespace. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/process/process.h"

#define STATUS_LIMIT (16 << 10)

bool
process_shares_pid_namespace(const struct process *process)
{
	char own[64], its[64];
	const ssize_t length = readlink("/proc/self/ns/pid", own, sizeof(own));

	/* Without permission to read the link the same namespace is assumed, the usual case. */
	return length <= 0 || readlinkat(process->dirfd, "ns/pid", its, sizeof(its)) != length ||
	       memcmp(own, its, (size_t)length) == 0;
}

pid_t
process_inner_tid(const struct process *process, pid_t tid)
{
	char name[48];
	const char *at;
	uint64_t id = 0;
	char *text;

	snprintf(name, sizeof(name), "%d/status", (int)tid);
	text = file_read_text(process->taskfd, name, STATUS_LIMIT, NULL);
	if (text == NULL)
		return 0;
	/* The ids in wallsample's namespace, …, in the innermost one. */
	at = strstr(text, "\nNSpid:");
	if (at != NULL) {
		at += strlen("\nNSpid:");
		while (*at == '\t' && parse_u64(&at, 10, &id))
			continue; /* parse_u64 skips the tab */
	}
	free(text);
	return id <= INT_MAX ? (pid_t)id : 0;
}
