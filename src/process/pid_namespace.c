/* SPDX-License-Identifier: MIT */
/* pid_namespace.c - ids of threads in the pid namespaces of wallsample and of the target. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/process_internal.h"

/* NS_GET_PID_FROM_PIDNS of include/uapi/linux/nsfs.h, Linux 6.11: returns the id, in the caller's
 * pid namespace, of the thread whose id in the namespace of the descriptor is the argument.
 * Declared here because the headers of older systems lack it. */
#define GET_PID_FROM_NAMESPACE _IOR(0xb7, 0x6, int)

bool
process_shares_pid_namespace(const struct process *process)
{
	char own[64], its[64];
	const ssize_t length = readlink("/proc/self/ns/pid", own, sizeof(own));

	/* Without permission to read the links, the usual case of one pid namespace is assumed. */
	return length <= 0 || readlinkat(process->dirfd, "ns/pid", its, sizeof(its)) != length ||
	       memcmp(own, its, (size_t)length) == 0;
}

uint64_t
process_pid_namespace(const struct process *process)
{
	struct stat st;

	return fstatat(process->dirfd, "ns/pid", &st, 0) == 0 ? st.st_ino : 0;
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
	/* The line NSpid lists the thread's ids from wallsample's pid namespace to the innermost
	 * one. */
	at = strstr(text, "\nNSpid:");
	if (at != NULL) {
		at += strlen("\nNSpid:");
		while (*at == '\t' && parse_u64(&at, 10, &id))
			continue; /* parse_u64 skips the tab */
	}
	free(text);
	return id <= INT_MAX ? (pid_t)id : 0;
}

/* --- threads of any process ------------------------------------------------------------------- */

static bool
thread_is_alive(pid_t tid)
{
	struct task_stat stat;
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)tid);
	return task_read_stat(AT_FDCWD, name, &stat) && stat.state != 'Z' && stat.state != 'X';
}

pid_t
process_translate_tid(const struct process *process, pid_t inner)
{
	pid_t tid = inner;

	if (inner <= 0)
		return 0;
	if (!process_shares_pid_namespace(process)) {
		const int fd = openat(process->dirfd, "ns/pid", O_RDONLY | O_CLOEXEC);
		int error;

		if (fd < 0)
			return -1;
		tid = ioctl(fd, GET_PID_FROM_NAMESPACE, inner);
		error = errno;
		close(fd);
		if (tid < 0 && error != ESRCH)
			return -1;
	}
	return tid > 0 && thread_is_alive(tid) ? tid : 0;
}

/* Reads the command name of a process, without the newline at its end. */
static bool
read_comm(pid_t pid, char comm[PROCESS_COMM_SIZE])
{
	char name[32];
	size_t length;
	char *text;

	snprintf(name, sizeof(name), "/proc/%d/comm", (int)pid);
	text = file_read_text(AT_FDCWD, name, PROCESS_COMM_SIZE, &length);
	if (text == NULL)
		return false;
	if (length > 0 && text[length - 1] == '\n')
		text[length - 1] = '\0';
	snprintf(comm, PROCESS_COMM_SIZE, "%s", text);
	free(text);
	return true;
}

bool
process_of_thread(pid_t tid, pid_t *pid, char comm[PROCESS_COMM_SIZE])
{
	struct task_status status;
	char name[32];
	bool read;
	int fd;

	/* /proc/TID exists for every thread, although a listing of /proc contains only the first
	 * thread of each process. */
	snprintf(name, sizeof(name), "/proc/%d", (int)tid);
	fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	read = task_read_status(fd, &status) && status.tgid > 0 && status.state != 'Z' &&
	       status.state != 'X';
	close(fd);
	if (!read || !read_comm(status.tgid, comm))
		return false;
	*pid = status.tgid;
	return true;
}
