/* SPDX-License-Identifier: MIT */
/*
 * inspect.c - a process from outside: what /proc says of its threads.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

#define THREADS_MOST 4096

/* A file of one thread; false if it has gone. */
static bool
read_task(pid_t pid, pid_t tid, const char *name, char *text, size_t size)
{
	char path[96];
	ssize_t n = -1;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, size - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static int
compare_tids(const void *a, const void *b)
{
	return (int)(*(const pid_t *)a - *(const pid_t *)b);
}

size_t
inspect_threads(pid_t pid, pid_t *tids, size_t size)
{
	char path[64];
	const struct dirent *entry;
	size_t count = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *folder = opendir(path);
	if (folder == NULL)
		return 0;
	while ((entry = readdir(folder)) != NULL && count < size)
		if (entry->d_name[0] != '.')
			tids[count++] = (pid_t)strtol(entry->d_name, NULL, 10);
	closedir(folder);
	qsort(tids, count, sizeof(*tids), compare_tids);
	return count;
}

pid_t
inspect_thread_named(pid_t pid, const char *name, size_t nth)
{
	static pid_t tids[THREADS_MOST];
	const size_t count = inspect_threads(pid, tids, THREADS_MOST);
	char comm[64];

	for (size_t i = 0; i < count; i++) {
		if (!read_task(pid, tids[i], "comm", comm, sizeof(comm)))
			continue;
		comm[strcspn(comm, "\n")] = '\0';
		if (strcmp(comm, name) == 0 && nth-- == 0)
			return tids[i];
	}
	return 0;
}

char
inspect_state(pid_t pid, pid_t tid)
{
	char text[1024];

	if (!read_task(pid, tid, "stat", text, sizeof(text)))
		return '\0';
	const char *paren = strrchr(text, ')');
	return paren != NULL && paren[1] == ' ' ? paren[2] : '\0';
}

long long
inspect_status(pid_t pid, pid_t tid, const char *field)
{
	const size_t length = strlen(field);
	char text[8192];

	if (!read_task(pid, tid, "status", text, sizeof(text)))
		return -1;
	for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, field, length) == 0 && line[length] == ':')
			return strtoll(line + length + 1, NULL, 10);
	}
	harness_die("no field %s in the status of a thread", field);
}

uint64_t
inspect_blocked_signals(pid_t pid)
{
	char text[8192];
	const char *at = NULL;

	if (read_task(pid, pid, "status", text, sizeof(text)))
		at = strstr(text, "\nSigBlk:");
	if (at == NULL)
		harness_die("no SigBlk in the status of a thread");
	return strtoull(at + strlen("\nSigBlk:"), NULL, 16);
}

long long
inspect_switches(pid_t pid, pid_t tid)
{
	const long long voluntary = inspect_status(pid, tid, "voluntary_ctxt_switches");

	if (voluntary < 0)
		return -1;
	return voluntary + inspect_status(pid, tid, "nonvoluntary_ctxt_switches");
}

struct sched_time
inspect_sched_time(pid_t pid, pid_t tid)
{
	struct sched_time time = {0, 0, 0};
	char text[128];
	char *rest;

	if (read_task(pid, tid, "schedstat", text, sizeof(text))) {
		time.ran_ns = strtoull(text, &rest, 10);
		time.waited_ns = strtoull(rest, &rest, 10);
		time.turns = strtoull(rest, NULL, 10);
	}
	return time;
}

double
inspect_waited(pid_t pid, pid_t tid)
{
	const struct sched_time time = inspect_sched_time(pid, tid);
	const double wanted = (double)(time.ran_ns + time.waited_ns);

	return wanted > 0 ? (double)time.waited_ns / wanted : 0;
}

bool
inspect_is_in_call(pid_t pid, long number)
{
	char path[64], text[32] = "";
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 && strtol(text, NULL, 10) == number && text[0] != 'r';
}

bool
inspect_is_free(pid_t pid)
{
	static pid_t tids[THREADS_MOST];
	const size_t count = inspect_threads(pid, tids, THREADS_MOST);
	bool all = CHECK(count > 0, "process %d has no threads any more", (int)pid);

	for (size_t i = 0; i < count; i++) {
		const long long tracer = inspect_status(pid, tids[i], "TracerPid");
		const char letter = inspect_state(pid, tids[i]);

		/* -1 and 0: it has ended in the meantime */
		all &= CHECK(tracer <= 0, "thread %d is traced by %lld", (int)tids[i], tracer);
		all &= CHECK(letter != 't' && letter != 'T', "thread %d is left in state %c",
			     (int)tids[i], letter);
	}
	return all;
}
