/* SPDX-License-Identifier: MIT */
/* watch.c - reads a thread's files in /proc through descriptors kept open. */
#include <errno.h>
#include <fcntl.h>

#include "wallsample/thread/state.h"

/* "schedstat" and "syscall" fit in 256 bytes; "status" needs more: its switch
 * counts stand at the end, after masks that grow with the CPUs. */
#define STATUS_MAX 8192

void
watch_init(struct watch *watch, pid_t tid, enum sched_source source, bool keep_open)
{
	watch->tid = tid;
	watch->sched_fd = -1;
	watch->syscall_fd = -1;
	watch->source = source;
	watch->keep_open = keep_open;
	watch->stack_start = 0;
	watch->stack_end = 0;
}

static void
close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void
watch_release(struct watch *watch)
{
	close_fd(&watch->sched_fd);
	close_fd(&watch->syscall_fd);
}

static enum watch_end
look_from_errno(int error)
{
	switch (error) {
	case ESRCH:
	case ENOENT:
		return WATCH_GONE;
	case EAGAIN:
		return WATCH_MOVING;
	case EPERM:
	case EACCES:
		return WATCH_DENIED;
	default:
		return WATCH_FAILED;
	}
}

/* Reads `name` of the thread into text, zero-terminated. */
static enum watch_end
read_file(struct watch *watch, const struct process *process, int *fd, const char *name, char *text,
	  size_t size)
{
	ssize_t got;
	int error;

	if (*fd < 0) {
		char path[64];

		snprintf(path, sizeof(path), "%d/%s", (int)watch->tid, name);
		*fd = openat(process->taskfd, path, O_RDONLY | O_CLOEXEC);
		if (*fd < 0)
			return look_from_errno(errno);
	}
	do
		got = pread(*fd, text, size - 1, 0);
	while (got < 0 && errno == EINTR);
	error = errno;
	if (!watch->keep_open)
		close_fd(fd);
	if (got < 0)
		return look_from_errno(error);
	text[got] = '\0';
	return got == 0 ? WATCH_GONE : WATCH_OK;
}

enum watch_end
watch_read_sched(struct watch *watch, const struct process *process, struct sched *out)
{
	char text[STATUS_MAX];
	enum watch_end look;

	if (watch->source == SCHED_FROM_STATUS) {
		look = read_file(watch, process, &watch->sched_fd, "status", text, sizeof(text));
		if (look == WATCH_OK && !sched_parse_status(text, out))
			look = WATCH_FAILED;
		return look;
	}
	look = read_file(watch, process, &watch->sched_fd, "schedstat", text, 256);
	if (look == WATCH_OK && !sched_parse_schedstat(text, out))
		look = WATCH_FAILED;
	return look;
}

enum watch_end
watch_read_syscall(struct watch *watch, const struct process *process, struct syscall_info *out)
{
	char text[256];
	enum watch_end look = read_file(watch, process, &watch->syscall_fd, "syscall", text,
					sizeof(text));

	if (look == WATCH_OK && !syscall_parse(text, out))
		look = WATCH_FAILED;
	return look;
}
