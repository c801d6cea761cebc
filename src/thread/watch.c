/* SPDX-License-Identifier: MIT */
/* watch.c - reads a thread's counters and system call from its files in /proc. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/thread/state.h"

/* Sizes of buffers: SHORT_MAX for the files "schedstat" and "syscall"; STATUS_MAX for "status",
 * whose switch counts are at its end, behind masks that grow with the number of CPUs. */
#define SHORT_MAX 256
#define STATUS_MAX 8192

/* The file "syscall" of a runnable thread: proc_pid_syscall(5). */
#define RUNNING_TEXT "running"

void
watch_init(struct watch *watch, pid_t tid, enum sched_source source, bool keep_open)
{
	watch->tid = tid;
	watch->sched_fd = -1;
	watch->syscall_fd = -1;
	watch->switch_fd = -1;
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
	close_fd(&watch->switch_fd);
}

static enum watch_end
watch_end_of(int error)
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

/* Reads the file `name` of the thread into `text`, zero-terminated. Opens it if *fd is -1. */
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
			return watch_end_of(errno);
	}
	do
		got = pread(*fd, text, size - 1, 0);
	while (got < 0 && errno == EINTR);
	error = errno;
	if (!watch->keep_open)
		close_fd(fd);
	if (got < 0)
		return watch_end_of(error);
	text[got] = '\0';
	return got == 0 ? WATCH_GONE : WATCH_OK;
}

enum watch_end
watch_read_sched(struct watch *watch, const struct process *process, struct sched *out)
{
	const bool status = watch->source == SCHED_FROM_STATUS;
	char text[STATUS_MAX];
	enum watch_end end = read_file(watch, process, &watch->sched_fd,
				       status ? "status" : "schedstat", text,
				       status ? sizeof(text) : SHORT_MAX);

	if (end == WATCH_OK &&
	    !(status ? sched_parse_status(text, out) : sched_parse_schedstat(text, out)))
		end = WATCH_FAILED;
	return end;
}

enum watch_end
watch_read_syscall(struct watch *watch, const struct process *process, struct syscall_info *out)
{
	char text[SHORT_MAX];
	enum watch_end end = read_file(watch, process, &watch->syscall_fd, "syscall", text,
				       sizeof(text));

	if (end == WATCH_OK && !syscall_parse(text, out))
		end = WATCH_FAILED;
	return end;
}

bool
watch_is_runnable(struct watch *watch, const struct process *process)
{
	char text[sizeof(RUNNING_TEXT)];

	return read_file(watch, process, &watch->syscall_fd, "syscall", text, sizeof(text)) ==
		       WATCH_OK &&
	       strcmp(text, RUNNING_TEXT) == 0;
}

bool
watch_read_switch(struct watch *watch, const struct process *process, uint64_t *switched_ns)
{
	char text[SWITCH_TEXT_SIZE];

	return read_file(watch, process, &watch->switch_fd, "sched", text, sizeof(text)) ==
		       WATCH_OK &&
	       switch_parse(text, switched_ns);
}

/* --- parsers ----------------------------------------------------------------------------- */

/* Parses "CPU_NS DELAY_NS SWITCHES\n": Documentation/scheduler/sched-stats.rst. */
bool
sched_parse_schedstat(const char *text, struct sched *out)
{
	return parse_u64(&text, 10, &out->cpu_ns) && parse_u64(&text, 10, &out->delay_ns) &&
	       parse_u64(&text, 10, &out->switches);
}

static bool
find_field(const char *text, const char *field, uint64_t *value)
{
	const char *at = strstr(text, field);

	if (at == NULL || (at != text && at[-1] != '\n'))
		return false;
	at += strlen(field);
	while (*at == '\t')
		at++;
	return parse_u64(&at, 10, value);
}

/* Parses " : MS.NS", where NS has six digits. */
static bool
parse_ms(const char *at, uint64_t *ns)
{
	uint64_t ms, rest;
	const char *point;

	at += strspn(at, " ");
	if (*at++ != ':')
		return false;
	at += strspn(at, " ");
	if (!parse_u64(&at, 10, &ms) || ms > UINT64_MAX / NS_PER_MS - 1 || *at != '.')
		return false;
	point = at++;
	if (!parse_u64(&at, 10, &rest) || at - point != 7)
		return false;
	*ns = ms * NS_PER_MS + rest;
	return true;
}

/* The first line of the file has the thread's name, which may contain the field's, but has no room
 * for its value. */
bool
switch_parse(const char *text, uint64_t *switched_ns)
{
	static const char field[] = "\nse.exec_start";

	while ((text = strstr(text, field)) != NULL) {
		text += sizeof(field) - 1;
		if (parse_ms(text, switched_ns))
			return true;
	}
	return false;
}

/*
 * Parses a status file, the fallback where the kernel keeps no schedstat. The file counts how often
 * the thread was switched *out*, voluntarily and involuntarily. A thread that is scheduled in is
 * also switched out before it can sleep again, so that the sum of both counts changes whenever the
 * thread has run between two sleeps.
 */
bool
sched_parse_status(const char *text, struct sched *out)
{
	uint64_t voluntary, forced;

	if (!find_field(text, "voluntary_ctxt_switches:", &voluntary) ||
	    !find_field(text, "nonvoluntary_ctxt_switches:", &forced))
		return false;
	out->cpu_ns = 0;
	out->delay_ns = 0;
	out->switches = voluntary + forced;
	return true;
}

/*
 * Chooses the schedstat file if that of wallsample's own thread counts switches. A kernel without
 * CONFIG_SCHED_INFO has no such file; with the accounting switched off, the file has "0 0 0" even
 * for a thread that runs.
 */
enum sched_source
sched_source_probe(void)
{
	struct sched own = { 0 };
	size_t length;
	char *text = file_read_text(-1, "/proc/thread-self/schedstat", 256, &length);
	bool works = text != NULL && sched_parse_schedstat(text, &own) && own.switches > 0;

	free(text);
	return works ? SCHED_FROM_SCHEDSTAT : SCHED_FROM_STATUS;
}

static bool
parse_hex(const char **at, uint64_t *value)
{
	while (**at == ' ')
		(*at)++;
	if ((*at)[0] == '0' && (*at)[1] == 'x')
		*at += 2;
	else
		return false;
	/* parse_u64 skips spaces, but "0x 12" is not a number. */
	return **at != ' ' && parse_u64(at, 16, value);
}

/*
 * Parses one of these (fs/proc/base.c, proc_pid_syscall):
 *   running
 *   -1 0xSP 0xPC                              asleep, not in a system call
 *   NR 0xA0 0xA1 0xA2 0xA3 0xA4 0xA5 0xSP 0xPC
 */
bool
syscall_parse(const char *text, struct syscall_info *out)
{
	int64_t number;

	memset(out, 0, sizeof(*out));
	out->number = SYSCALL_NONE;
	if (strncmp(text, RUNNING_TEXT, sizeof(RUNNING_TEXT) - 1) == 0) {
		out->running = true;
		return true;
	}
	if (!parse_i64(&text, &number) || number < -1 || number > 1 << 20)
		return false;
	out->number = number == -1 ? SYSCALL_NONE : (long)number;
	if (out->number != SYSCALL_NONE) {
		for (size_t i = 0; i < ARRAY_SIZE(out->args); i++)
			if (!parse_hex(&text, &out->args[i]))
				return false;
	}
	return parse_hex(&text, &out->sp) && parse_hex(&text, &out->pc);
}
