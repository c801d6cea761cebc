/* SPDX-License-Identifier: MIT */
/*
 * task_file.c - reads stat and status of processes, and walks up to ancestors.
 */
#include "process/process_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "wallsample/base/base.h"

/* include/linux/sched.h: set for threads of the kernel. */
#define PF_KTHREAD UINT64_C(0x00200000)

/* 52 numbers of at most 20 digits and a command name. */
#define STAT_LINE_SIZE 2048

#define STATUS_LIMIT (64 << 10)

/* Uses no heap memory, because it is called for each new thread. */
static bool
read_line(int dirfd, const char *name, char *to, size_t size)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
	size_t done = 0;
	ssize_t n = 0;
	int saved;

	if (fd < 0)
		return false;
	while (done < size - 1) {
		n = read(fd, to + done, size - 1 - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	saved = errno;
	close(fd);
	errno = saved;
	to[done] = '\0';
	return n >= 0;
}

bool
task_read_stat(int dirfd, const char *name, struct task_stat *stat)
{
	char line[STAT_LINE_SIZE];

	memset(stat, 0, sizeof(*stat));
	if (!read_line(dirfd, name, line, sizeof(line)))
		return false;
	if (task_stat_parse(line, stat))
		return true;
	errno = EPROTO;
	return false;
}

bool
task_is_kernel_thread(const struct task_stat *stat)
{
	return (stat->flags & PF_KTHREAD) != 0;
}

bool
task_is_zombie_process(const struct task_stat *stat)
{
	return stat->state == 'X' || (stat->state == 'Z' && stat->num_threads <= 1);
}

/* The first number behind "\nKey:\t"; 0 when there is none. */
static uint64_t
status_number(const char *text, const char *key, int base)
{
	const char *at = strstr(text, key);
	uint64_t value = 0;

	if (!at)
		return 0;
	at += strlen(key);
	while (*at == '\t' || *at == ' ')
		at++;
	return parse_u64(&at, base, &value) ? value : 0;
}

static pid_t
status_pid(const char *text, const char *key)
{
	uint64_t value = status_number(text, key, 10);

	return value <= INT32_MAX ? (pid_t)value : 0;
}

/*
 * Name, the first line, cannot forge a line: the kernel writes a newline in it as
 * "\n". That is why every key below begins with a real one.
 */
void
task_parse_status(const char *text, struct task_status *status)
{
	status->tgid = status_pid(text, "\nTgid:");
	status->ppid = status_pid(text, "\nPPid:");
	status->tracer = status_pid(text, "\nTracerPid:");
	status->uid = (uid_t)status_number(text, "\nUid:", 10);
	status->cap_effective = status_number(text, "\nCapEff:", 16);
	status->seccomp = (unsigned)status_number(text, "\nSeccomp:", 10);
}

bool
task_read_status(int dirfd, struct task_status *status)
{
	size_t length;
	char *text = file_read_text(dirfd, "status", STATUS_LIMIT, &length);

	memset(status, 0, sizeof(*status));
	if (!text)
		return false;
	task_parse_status(text, status);
	free(text);
	return true;
}

const char *
task_printable(const char *text, char *to, size_t size)
{
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_escaped(&sb, text);
	if (sb.length >= size) {
		size_t cut = size - 1;

		/* Bytes 10xxxxxx are in the middle of a UTF-8 character. */
		while (cut > 0 && (sb.data[cut] & 0xc0) == 0x80)
			cut--;
		sb.data[cut] = '\0';
	}
	snprintf(to, size, "%s", sb.data ? sb.data : "");
	strbuf_release(&sb);
	return to;
}

static bool
read_stat_of(pid_t pid, struct task_stat *stat)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
	return task_read_stat(AT_FDCWD, name, stat);
}

const char *
task_name_of(pid_t pid, char *to, size_t size)
{
	struct task_stat stat;

	return task_printable(read_stat_of(pid, &stat) ? stat.comm : "?", to, size);
}

void
lineage_read(struct lineage *lineage, pid_t pid)
{
	lineage->count = 0;
	/* A parent outside of wallsample's pid namespace is 0, as is that of the first process. */
	while (pid > 0 && lineage->count < LINEAGE_MAX) {
		struct task_stat stat;

		lineage->pid[lineage->count++] = pid;
		pid = read_stat_of(pid, &stat) ? stat.ppid : 0;
	}
}

bool
lineage_holds(const struct lineage *lineage, pid_t pid)
{
	for (size_t i = 0; i < lineage->count; i++)
		if (lineage->pid[i] == pid)
			return true;
	return false;
}
