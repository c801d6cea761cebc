/* SPDX-License-Identifier: MIT */
/* wait_call.c - classifies a wait by its system call. */
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "wait/wait_internal.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif
/* Flags of linux/io_uring.h, which the headers of some systems lack. */
#define ENTER_EXTENDED_ARGUMENT (1u << 3)
#define ENTER_REGISTERED_RING (1u << 4)

/* Most descriptors for which the arguments of poll and select are read. */
#define POLL_MOST 1024
#define SELECT_MOST 1024 /* FD_SETSIZE */
#define SELECT_WORDS (SELECT_MOST / 64)

/* Completes the classification of a system call that its row in rows[] does not describe fully. */
typedef void details_fn(const struct wait_source *source, const struct wait_call *call,
			struct wait *out);

/* The form of the argument that limits the duration of a system call. */
enum limit {
	NO_LIMIT,
	MILLISECONDS, /* a relative int; negative means no time-out */
	TIMESPEC,     /* address of a relative struct timespec, or NULL */
	TIMEVAL,      /* address of a relative struct timeval, or NULL */
	DATE,         /* address of a struct timespec of CLOCK_REALTIME, or NULL */
};

/*
 * The use of the first arguments: no descriptor (NO_FD), a descriptor to which the call writes
 * (WRITES_FD), or a descriptor for any other use (READS_FD); the path of a file (PATH); a
 * descriptor and a path relative to it (PATH_AT). A path is read only in uninterruptible sleep:
 * interruptible sleep in such a call is rarely for a file (open of a FIFO).
 */
enum use { NO_FD, READS_FD, WRITES_FD, PATH, PATH_AT };

struct call_row {
	const char *name;
	enum wait_kind kind;
	enum use use;
	enum limit limit;
	unsigned limit_at;   /* index of the argument with the time-out */
	details_fn *details; /* NULL when the row describes the call fully */
};

/* --- time ----------------------------------------------------------------------------- */

static void
set_time_out(const struct wait_source *source, const struct wait_call *call,
	     const struct call_row *row, struct wait *out)
{
	const uint64_t argument = call->args[row->limit_at];

	switch (row->limit) {
	case NO_LIMIT:
		break;
	case MILLISECONDS:
		wait_until_ms(argument, out);
		break;
	case TIMESPEC:
		wait_until_timespec(source, argument, CLOCK_OF_LENGTH, out);
		break;
	case TIMEVAL:
		wait_until_timeval(source, argument, out);
		break;
	case DATE:
		wait_until_timespec(source, argument, CLOCK_REALTIME, out);
		break;
	}
}

static void
of_clock_nanosleep(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	const bool absolute = (call->args[1] & TIMER_ABSTIME) != 0;
	const clockid_t clock = argument_int(call, 0);

	wait_until_timespec(source, call->args[2], absolute ? clock : CLOCK_OF_LENGTH, out);
	/* The wall-clock time at which a sleep measured in CPU time ends is unknown. */
	if (clock < 0 || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID)
		out->left_ns = UINT64_MAX;
}

/* --- several descriptors ----------------------------------------------------------------- */

/* Classifies a wait without descriptors: with a time-out it is a sleep, without one a wait for a
 * signal. */
static void
set_no_descriptor(struct wait *out)
{
	out->kind = out->timed ? WAIT_SLEEP : WAIT_SIGNAL;
}

static void
of_poll(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	struct pollfd fds[POLL_MOST];
	const uint64_t count = (uint32_t)call->args[1];

	if (count == 0)
		set_no_descriptor(out);
	if (count == 0 || count > POLL_MOST ||
	    !memory_read(&source->memory, call->args[0], fds, count * sizeof(fds[0])))
		return;
	for (uint64_t i = 0; i < count; i++) {
		if (fds[i].fd < 0)
			continue;
		out->fds++;
		out->fd = fds[i].fd;
		out->writes = (fds[i].events & POLLOUT) != 0 && (fds[i].events & POLLIN) == 0;
	}
	if (out->fds == 1)
		return;
	out->fd = -1;
	out->writes = false;
}

static void
of_select(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	/* The kernel reads the sets of select in units of unsigned long, which has 64 bits here. */
	uint64_t all[SELECT_WORDS] = { 0 }, writes = 0, others = 0;
	const int32_t most = (int32_t)(uint32_t)call->args[0];
	size_t words;

	if (most <= 0)
		set_no_descriptor(out);
	if (most <= 0 || most > SELECT_MOST)
		return;
	words = ((size_t)most + 63) / 64;
	for (unsigned set = 0; set < 3; set++) {
		uint64_t some[SELECT_WORDS];

		if (call->args[1 + set] == 0)
			continue;
		if (!memory_read(&source->memory, call->args[1 + set], some,
				 words * sizeof(some[0])))
			return;
		if (most % 64 != 0)
			some[words - 1] &= (UINT64_C(1) << (most % 64)) - 1;
		for (size_t i = 0; i < words; i++) {
			all[i] |= some[i];
			*(set == 1 ? &writes : &others) |= some[i];
		}
	}
	for (size_t i = 0; i < words; i++) {
		if (all[i] == 0)
			continue;
		out->fds += (uint32_t)__builtin_popcountll(all[i]);
		out->fd = (int)(i * 64) + __builtin_ctzll(all[i]);
	}
	if (out->fds == 0)
		set_no_descriptor(out);
	if (out->fds == 1)
		out->writes = writes != 0 && others == 0;
	else
		out->fd = -1;
}

static void
of_io_uring_enter(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	struct {
		uint64_t mask;
		uint32_t mask_size, pad;
		uint64_t timespec;
	} extended; /* the layout of struct io_uring_getevents_arg */

	if ((call->args[3] & ENTER_REGISTERED_RING) != 0)
		out->fd = -1; /* the descriptor argument is an index of registered rings */
	if ((call->args[3] & ENTER_EXTENDED_ARGUMENT) != 0 && call->args[4] != 0 &&
	    memory_read(&source->memory, call->args[4], &extended, sizeof(extended)))
		wait_until_timespec(source, extended.timespec, CLOCK_OF_LENGTH, out);
}

/* --- children ----------------------------------------------------------------------------- */

static void
of_wait4(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	(void)source;
	out->child = argument_int(call, 0);
}

static void
of_waitid(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	const int id = argument_int(call, 1);

	(void)source;
	out->child = -1;
	switch (argument_int(call, 0)) {
	case P_PID:
		out->child = id;
		break;
	case P_PGID:
		out->child = id > 0 ? -id : 0;
		break;
	case P_PIDFD:
		out->fd = id;
	}
}

/* vfork: the parent sleeps, uninterruptibly, until the child has called execve or exited. */
static void
of_vfork(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	(void)source;
	(void)call;
	out->kind = WAIT_VFORK;
}

/* clone blocks only with the flag CLONE_VFORK. */
static void
of_clone(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	if ((call->args[0] & CLONE_VFORK) != 0)
		of_vfork(source, call, out);
}

static void
of_clone3(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	uint64_t flags; /* first member of struct clone_args */

	if (memory_read(&source->memory, call->args[0], &flags, sizeof(flags)) &&
	    (flags & CLONE_VFORK) != 0)
		of_vfork(source, call, out);
}

/* --- others ----------------------------------------------------------------------------- */

static void
of_futex_waitv(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	struct {
		uint64_t value, address;
		uint32_t flags, reserved;
	} first; /* the first struct futex_waitv of the array */

	/* Only a wait for exactly one futex is classified: with several, no single one identifies
	 * the wait. */
	if (argument_int(call, 1) == 1 &&
	    memory_read(&source->memory, call->args[0], &first, sizeof(first))) {
		out->object = first.address;
		out->shared = (first.flags & FUTEX_PRIVATE_FLAG) == 0; /* FUTEX2_PRIVATE */
	}
	wait_until_timespec(source, call->args[3], argument_int(call, 4), out);
}

/* futex_wait(2), Linux 6.7, which no C library calls. Arguments: word, value, bits, flags,
 * deadline, clock. */
static void
of_futex_wait(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	out->object = call->args[0];
	out->shared = (call->args[3] & FUTEX_PRIVATE_FLAG) == 0; /* FUTEX2_PRIVATE has its value */
	wait_until_timespec(source, call->args[4], argument_int(call, 5), out);
}

/*
 * The system calls that wait, in ascending order of their names (strcmp). A call that uses two
 * descriptors is classified by the one that blocks more often: the input of splice, the output of
 * sendfile.
 */
static const struct call_row rows[] = {
	{ "accept", WAIT_ACCEPT, READS_FD, NO_LIMIT, 0, NULL },
	{ "accept4", WAIT_ACCEPT, READS_FD, NO_LIMIT, 0, NULL },
	{ "access", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "chdir", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "chmod", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "chown", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "clock_nanosleep", WAIT_SLEEP, NO_FD, NO_LIMIT, 0, of_clock_nanosleep },
	{ "clone", WAIT_OTHER, NO_FD, NO_LIMIT, 0, of_clone },
	{ "clone3", WAIT_OTHER, NO_FD, NO_LIMIT, 0, of_clone3 },
	{ "connect", WAIT_CONNECT, READS_FD, NO_LIMIT, 0, NULL },
	{ "copy_file_range", WAIT_FILE, READS_FD, NO_LIMIT, 0, NULL },
	{ "creat", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "epoll_pwait", WAIT_EPOLL, READS_FD, MILLISECONDS, 3, NULL },
	{ "epoll_pwait2", WAIT_EPOLL, READS_FD, TIMESPEC, 3, NULL },
	{ "epoll_wait", WAIT_EPOLL, READS_FD, MILLISECONDS, 3, NULL },
	{ "faccessat", WAIT_OTHER, PATH_AT, NO_LIMIT, 0, NULL },
	{ "faccessat2", WAIT_OTHER, PATH_AT, NO_LIMIT, 0, NULL },
	{ "fadvise64", WAIT_FILE, READS_FD, NO_LIMIT, 0, NULL },
	{ "fallocate", WAIT_FILE, READS_FD, NO_LIMIT, 0, NULL },
	{ "fchmod", WAIT_FILE, READS_FD, NO_LIMIT, 0, NULL },
	{ "fchmodat", WAIT_OTHER, PATH_AT, NO_LIMIT, 0, NULL },
	{ "fchown", WAIT_FILE, READS_FD, NO_LIMIT, 0, NULL },
	{ "fchownat", WAIT_OTHER, PATH_AT, NO_LIMIT, 0, NULL },
	{ "fcntl", WAIT_DESCRIPTOR, READS_FD, NO_LIMIT, 0, wait_of_fcntl },
	{ "fdatasync", WAIT_FILE, READS_FD, NO_LIMIT, 0, NULL },
	{ "fgetxattr", WAIT_FILE, READS_FD, NO_LIMIT, 0, NULL },
	{ "flistxattr", WAIT_FILE, READS_FD, NO_LIMIT, 0, NULL },
	{ "flock", WAIT_FILE, READS_FD, NO_LIMIT, 0, wait_of_flock },
	{ "fremovexattr", WAIT_FILE, READS_FD, NO_LIMIT, 0, NULL },
	{ "fsetxattr", WAIT_FILE, READS_FD, NO_LIMIT, 0, NULL },
	{ "fstat", WAIT_FILE, READS_FD, NO_LIMIT, 0, NULL },
	{ "fstatfs", WAIT_FILE, READS_FD, NO_LIMIT, 0, NULL },
	{ "fsync", WAIT_FILE, READS_FD, NO_LIMIT, 0, NULL },
	{ "ftruncate", WAIT_FILE, READS_FD, NO_LIMIT, 0, NULL },
	{ "futex", WAIT_FUTEX, NO_FD, NO_LIMIT, 0, wait_of_futex },
	{ "futex_wait", WAIT_FUTEX, NO_FD, NO_LIMIT, 0, of_futex_wait },
	{ "futex_waitv", WAIT_FUTEX, NO_FD, NO_LIMIT, 0, of_futex_waitv },
	{ "futimesat", WAIT_OTHER, PATH_AT, NO_LIMIT, 0, NULL },
	{ "getdents", WAIT_FILE, READS_FD, NO_LIMIT, 0, NULL },
	{ "getdents64", WAIT_FILE, READS_FD, NO_LIMIT, 0, NULL },
	{ "getxattr", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "io_getevents", WAIT_OTHER, NO_FD, TIMESPEC, 4, NULL },
	{ "io_pgetevents", WAIT_OTHER, NO_FD, TIMESPEC, 4, NULL },
	{ "io_uring_enter", WAIT_IO_URING, READS_FD, NO_LIMIT, 0, of_io_uring_enter },
	{ "ioctl", WAIT_DESCRIPTOR, READS_FD, NO_LIMIT, 0, NULL },
	{ "lchown", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "lgetxattr", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "link", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "linkat", WAIT_OTHER, PATH_AT, NO_LIMIT, 0, NULL },
	{ "listxattr", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "llistxattr", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "lremovexattr", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "lsetxattr", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "lstat", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "mkdir", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "mkdirat", WAIT_OTHER, PATH_AT, NO_LIMIT, 0, NULL },
	{ "mknod", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "mknodat", WAIT_OTHER, PATH_AT, NO_LIMIT, 0, NULL },
	{ "mq_timedreceive", WAIT_DESCRIPTOR, READS_FD, DATE, 4, NULL },
	{ "mq_timedsend", WAIT_DESCRIPTOR, WRITES_FD, DATE, 4, NULL },
	{ "msgrcv", WAIT_MESSAGE_RECEIVE, NO_FD, NO_LIMIT, 0, wait_of_message },
	{ "msgsnd", WAIT_MESSAGE_SEND, NO_FD, NO_LIMIT, 0, wait_of_message },
	{ "nanosleep", WAIT_SLEEP, NO_FD, TIMESPEC, 0, NULL },
	{ "newfstatat", WAIT_OTHER, PATH_AT, NO_LIMIT, 0, NULL },
	{ "open", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "openat", WAIT_OTHER, PATH_AT, NO_LIMIT, 0, NULL },
	{ "openat2", WAIT_OTHER, PATH_AT, NO_LIMIT, 0, NULL },
	{ "pause", WAIT_SIGNAL, NO_FD, NO_LIMIT, 0, NULL },
	{ "poll", WAIT_POLL, NO_FD, MILLISECONDS, 2, of_poll },
	{ "ppoll", WAIT_POLL, NO_FD, TIMESPEC, 2, of_poll },
	{ "pread64", WAIT_DESCRIPTOR, READS_FD, NO_LIMIT, 0, NULL },
	{ "preadv", WAIT_DESCRIPTOR, READS_FD, NO_LIMIT, 0, NULL },
	{ "preadv2", WAIT_DESCRIPTOR, READS_FD, NO_LIMIT, 0, NULL },
	{ "pselect6", WAIT_SELECT, NO_FD, TIMESPEC, 4, of_select },
	{ "pwrite64", WAIT_DESCRIPTOR, WRITES_FD, NO_LIMIT, 0, NULL },
	{ "pwritev", WAIT_DESCRIPTOR, WRITES_FD, NO_LIMIT, 0, NULL },
	{ "pwritev2", WAIT_DESCRIPTOR, WRITES_FD, NO_LIMIT, 0, NULL },
	{ "read", WAIT_DESCRIPTOR, READS_FD, NO_LIMIT, 0, NULL },
	{ "readahead", WAIT_FILE, READS_FD, NO_LIMIT, 0, NULL },
	{ "readlink", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "readlinkat", WAIT_OTHER, PATH_AT, NO_LIMIT, 0, NULL },
	{ "readv", WAIT_DESCRIPTOR, READS_FD, NO_LIMIT, 0, NULL },
	{ "recvfrom", WAIT_SOCKET_READ, READS_FD, NO_LIMIT, 0, NULL },
	{ "recvmmsg", WAIT_SOCKET_READ, READS_FD, TIMESPEC, 4, NULL },
	{ "recvmsg", WAIT_SOCKET_READ, READS_FD, NO_LIMIT, 0, NULL },
	{ "removexattr", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "rename", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "renameat", WAIT_OTHER, PATH_AT, NO_LIMIT, 0, NULL },
	{ "renameat2", WAIT_OTHER, PATH_AT, NO_LIMIT, 0, NULL },
	{ "rmdir", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "rt_sigsuspend", WAIT_SIGNAL, NO_FD, NO_LIMIT, 0, NULL },
	{ "rt_sigtimedwait", WAIT_SIGNAL, NO_FD, TIMESPEC, 2, NULL },
	{ "select", WAIT_SELECT, NO_FD, TIMEVAL, 4, of_select },
	{ "semop", WAIT_SYSTEM_SEMAPHORE, NO_FD, NO_LIMIT, 0, wait_of_semop },
	{ "semtimedop", WAIT_SYSTEM_SEMAPHORE, NO_FD, TIMESPEC, 3, wait_of_semop },
	{ "sendfile", WAIT_DESCRIPTOR, WRITES_FD, NO_LIMIT, 0, NULL },
	{ "sendmmsg", WAIT_SOCKET_WRITE, WRITES_FD, NO_LIMIT, 0, NULL },
	{ "sendmsg", WAIT_SOCKET_WRITE, WRITES_FD, NO_LIMIT, 0, NULL },
	{ "sendto", WAIT_SOCKET_WRITE, WRITES_FD, NO_LIMIT, 0, NULL },
	{ "setxattr", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "splice", WAIT_DESCRIPTOR, READS_FD, NO_LIMIT, 0, NULL },
	{ "stat", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "statfs", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "statx", WAIT_OTHER, PATH_AT, NO_LIMIT, 0, NULL },
	{ "sync_file_range", WAIT_FILE, READS_FD, NO_LIMIT, 0, NULL },
	{ "syncfs", WAIT_FILE, READS_FD, NO_LIMIT, 0, NULL },
	{ "tee", WAIT_DESCRIPTOR, READS_FD, NO_LIMIT, 0, NULL },
	{ "truncate", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "unlink", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "unlinkat", WAIT_OTHER, PATH_AT, NO_LIMIT, 0, NULL },
	{ "utime", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "utimensat", WAIT_OTHER, PATH_AT, NO_LIMIT, 0, NULL },
	{ "utimes", WAIT_OTHER, PATH, NO_LIMIT, 0, NULL },
	{ "vfork", WAIT_OTHER, NO_FD, NO_LIMIT, 0, of_vfork },
	{ "vmsplice", WAIT_DESCRIPTOR, WRITES_FD, NO_LIMIT, 0, NULL },
	{ "wait4", WAIT_CHILD, NO_FD, NO_LIMIT, 0, of_wait4 },
	{ "waitid", WAIT_CHILD, NO_FD, NO_LIMIT, 0, of_waitid },
	{ "write", WAIT_DESCRIPTOR, WRITES_FD, NO_LIMIT, 0, NULL },
	{ "writev", WAIT_DESCRIPTOR, WRITES_FD, NO_LIMIT, 0, NULL },
};

static int
compare_call_rows(const void *name, const void *row)
{
	return strcmp(name, ((const struct call_row *)row)->name);
}

/* Sets kind, path and descriptor for uninterruptible sleep in a call that uses a path. */
static void
set_path(const struct wait_call *call, enum use use, struct wait *out)
{
	out->kind = WAIT_FILE;
	out->path = call->args[use == PATH_AT];
	if (use == PATH_AT)
		out->fd = argument_int(call, 0);
}

static void
wait_of_call(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	const char *name = syscall_name(call->number);
	const struct call_row *row = NULL;

	if (name != NULL)
		row = bsearch(name, rows, ARRAY_SIZE(rows), sizeof(rows[0]), compare_call_rows);
	out->kind = WAIT_OTHER;
	if (row == NULL)
		return;
	out->kind = row->kind;
	out->writes = row->use == WRITES_FD;
	if (row->use == READS_FD || row->use == WRITES_FD)
		out->fd = argument_int(call, 0);
	else if (row->use != NO_FD && call->state == RUN_UNINTERRUPTIBLE)
		set_path(call, row->use, out);
	set_time_out(source, call, row, out);
	if (row->details != NULL)
		row->details(source, call, out);
}

/* Returns true when a thread in uninterruptible sleep may wait for the object of its system call.
 * Other objects, such as a futex, are only waited for in interruptible sleep. */
static bool
keeps_kind_uninterruptible(const struct wait *wait)
{
	return wait->kind == WAIT_CHILD || wait->kind == WAIT_VFORK || wait->path != 0 ||
	       (wait->fd >= 0 && wait->kind >= WAIT_FILE && wait->kind <= WAIT_DESCRIPTOR);
}

void
wait_classify(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	const struct wait unknown = {
		.kind = WAIT_NONE, .fd = -1, .semaphore = -1, .left_ns = UINT64_MAX
	};

	*out = unknown;
	if (call->state == RUN_STOPPED)
		out->kind = WAIT_STOPPED;
	if (call->state != RUN_SLEEPING && call->state != RUN_UNINTERRUPTIBLE)
		return;
	if (call->number == SYSCALL_NONE) {
		out->kind = WAIT_FAULT;
		return;
	}
	wait_of_call(source, call, out);
	if (call->state == RUN_UNINTERRUPTIBLE && !keeps_kind_uninterruptible(out)) {
		*out = unknown;
		out->kind = WAIT_OTHER;
	}
}
