/* SPDX-License-Identifier: MIT */
/* wait_call.c - classifies a wait by its system call. */
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "wait/wait_internal.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif
/* linux/io_uring.h; missing in the headers of some systems. */
#define ENTER_EXTENDED_ARGUMENT (1u << 3)
#define ENTER_REGISTERED_RING (1u << 4)

/* Handler for a call that its row does not describe fully. */
typedef void more_fn(const struct wait_source *source, const struct wait_call *call,
		     struct wait *out);

/* The call has no descriptor. */
#define NO_FD (-1)

struct call_row {
	const char *name;
	enum wait_kind kind;
	int fd; /* index of the argument that is the descriptor */
	bool writes;
	more_fn *more;
};

static int
argument_int(const struct wait_call *call, unsigned i)
{
	return (int)(int32_t)(uint32_t)call->args[i];
}

/* --- time ----------------------------------------------------------------------------- */

static void
more_clock_nanosleep(const struct wait_source *source, const struct wait_call *call,
		     struct wait *out)
{
	const bool absolute = (call->args[1] & TIMER_ABSTIME) != 0;
	/* A sleep in CPU time has no wall-clock end. */
	const clockid_t clock = argument_int(call, 0);

	wait_until_timespec(source, call->args[2], absolute ? clock : CLOCK_OF_LENGTH, out);
	if (clock < 0 || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID)
		out->left_ns = UINT64_MAX;
}

static void
more_nanosleep(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	wait_until_timespec(source, call->args[0], CLOCK_OF_LENGTH, out);
}

static void
more_timespec_at_2(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	wait_until_timespec(source, call->args[2], CLOCK_OF_LENGTH, out);
}

static void
more_timespec_at_3(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	wait_until_timespec(source, call->args[3], CLOCK_OF_LENGTH, out);
}

static void
more_timespec_at_4(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	wait_until_timespec(source, call->args[4], CLOCK_OF_LENGTH, out);
}

/* Message queues take an absolute time. */
static void
more_date_at_4(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	wait_until_timespec(source, call->args[4], CLOCK_REALTIME, out);
}

/* --- several descriptors ----------------------------------------------------------------- */

static void
more_poll(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	wait_until_ms(call->args[2], out);
	wait_of_poll(source, call, out);
}

static void
more_ppoll(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	more_timespec_at_2(source, call, out);
	wait_of_poll(source, call, out);
}

static void
more_select(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	wait_until_timeval(source, call->args[4], out);
	wait_of_select(source, call, out);
}

static void
more_pselect6(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	more_timespec_at_4(source, call, out);
	wait_of_select(source, call, out);
}

static void
more_epoll_wait(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	(void)source;
	wait_until_ms(call->args[3], out);
}

static void
more_io_uring_enter(const struct wait_source *source, const struct wait_call *call,
		    struct wait *out)
{
	struct {
		uint64_t mask;
		uint32_t mask_size, pad;
		uint64_t timespec;
	} extended; /* struct io_uring_getevents_arg */

	if ((call->args[3] & ENTER_REGISTERED_RING) != 0)
		out->fd = -1; /* an index */
	if ((call->args[3] & ENTER_EXTENDED_ARGUMENT) != 0 && call->args[4] != 0 &&
	    memory_read(&source->memory, call->args[4], &extended, sizeof(extended)))
		wait_until_timespec(source, extended.timespec, CLOCK_OF_LENGTH, out);
}

/* --- children ----------------------------------------------------------------------------- */

static void
more_wait4(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	(void)source;
	out->child = argument_int(call, 0);
}

static void
more_waitid(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	const int id = argument_int(call, 1);

	(void)source;
	switch (argument_int(call, 0)) {
	case P_PID:
		out->child = id;
		break;
	case P_PGID:
		out->child = id > 0 ? -id : 0;
		break;
	case P_PIDFD:
		out->child = -1;
		out->fd = id;
		break;
	default:
		out->child = -1;
		break;
	}
}

/* A parent of vfork sleeps until the child has called execve; nothing else in clone blocks. */
static void
wait_of_clone(uint64_t flags, struct wait *out)
{
	if ((flags & CLONE_VFORK) == 0)
		return;
	out->kind = WAIT_CHILD;
	out->child = -1;
}

static void
more_vfork(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	(void)source;
	(void)call;
	wait_of_clone(CLONE_VFORK, out);
}

static void
more_clone(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	(void)source;
	wait_of_clone(call->args[0], out);
}

static void
more_clone3(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	uint64_t flags; /* the first of struct clone_args */

	if (memory_read(&source->memory, call->args[0], &flags, sizeof(flags)))
		wait_of_clone(flags, out);
}

/* --- others ----------------------------------------------------------------------------- */

static void
more_fcntl(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	const int command = argument_int(call, 1);

	(void)source;
	if (command == F_SETLKW || command == F_OFD_SETLKW)
		out->kind = WAIT_FILE;
}

static void
more_futex_waitv(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	struct {
		uint64_t value, address;
	} first; /* of struct futex_waitv */

	/* One word of several does not identify the wait. */
	if (argument_int(call, 1) == 1 &&
	    memory_read(&source->memory, call->args[0], &first, sizeof(first)))
		out->object = first.address;
	wait_until_timespec(source, call->args[3], argument_int(call, 4), out);
}

/* Linux 6.7, not used by C libraries: word, value, bits, flags, deadline, clock. */
static void
more_futex_wait(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	out->object = call->args[0];
	wait_until_timespec(source, call->args[4], argument_int(call, 5), out);
}

/*
 * Sorted by strcmp. For a call between two descriptors the one that blocks more often is given: the
 * input of splice, the output of sendfile.
 */
static const struct call_row rows[] = {
	{ "accept", WAIT_ACCEPT, 0, false, NULL },
	{ "accept4", WAIT_ACCEPT, 0, false, NULL },
	{ "clock_nanosleep", WAIT_SLEEP, NO_FD, false, more_clock_nanosleep },
	{ "clone", WAIT_OTHER, NO_FD, false, more_clone },
	{ "clone3", WAIT_OTHER, NO_FD, false, more_clone3 },
	{ "connect", WAIT_CONNECT, 0, false, NULL },
	{ "copy_file_range", WAIT_FILE, 0, false, NULL },
	{ "epoll_pwait", WAIT_EPOLL, 0, false, more_epoll_wait },
	{ "epoll_pwait2", WAIT_EPOLL, 0, false, more_timespec_at_3 },
	{ "epoll_wait", WAIT_EPOLL, 0, false, more_epoll_wait },
	{ "fallocate", WAIT_FILE, 0, false, NULL },
	{ "fcntl", WAIT_DESCRIPTOR, 0, false, more_fcntl },
	{ "fdatasync", WAIT_FILE, 0, false, NULL },
	{ "flock", WAIT_FILE, 0, false, NULL },
	{ "fstat", WAIT_FILE, 0, false, NULL },
	{ "fsync", WAIT_FILE, 0, false, NULL },
	{ "ftruncate", WAIT_FILE, 0, false, NULL },
	{ "futex", WAIT_FUTEX, NO_FD, false, wait_of_futex },
	{ "futex_wait", WAIT_FUTEX, NO_FD, false, more_futex_wait },
	{ "futex_waitv", WAIT_FUTEX, NO_FD, false, more_futex_waitv },
	{ "getdents", WAIT_FILE, 0, false, NULL },
	{ "getdents64", WAIT_FILE, 0, false, NULL },
	{ "io_getevents", WAIT_OTHER, NO_FD, false, more_timespec_at_4 },
	{ "io_pgetevents", WAIT_OTHER, NO_FD, false, more_timespec_at_4 },
	{ "io_uring_enter", WAIT_IO_URING, 0, false, more_io_uring_enter },
	{ "ioctl", WAIT_DESCRIPTOR, 0, false, NULL },
	{ "mq_timedreceive", WAIT_DESCRIPTOR, 0, false, more_date_at_4 },
	{ "mq_timedsend", WAIT_DESCRIPTOR, 0, true, more_date_at_4 },
	{ "nanosleep", WAIT_SLEEP, NO_FD, false, more_nanosleep },
	{ "pause", WAIT_SIGNAL, NO_FD, false, NULL },
	{ "poll", WAIT_POLL, NO_FD, false, more_poll },
	{ "ppoll", WAIT_POLL, NO_FD, false, more_ppoll },
	{ "pread64", WAIT_DESCRIPTOR, 0, false, NULL },
	{ "preadv", WAIT_DESCRIPTOR, 0, false, NULL },
	{ "preadv2", WAIT_DESCRIPTOR, 0, false, NULL },
	{ "pselect6", WAIT_SELECT, NO_FD, false, more_pselect6 },
	{ "pwrite64", WAIT_DESCRIPTOR, 0, true, NULL },
	{ "pwritev", WAIT_DESCRIPTOR, 0, true, NULL },
	{ "pwritev2", WAIT_DESCRIPTOR, 0, true, NULL },
	{ "read", WAIT_DESCRIPTOR, 0, false, NULL },
	{ "readahead", WAIT_FILE, 0, false, NULL },
	{ "readv", WAIT_DESCRIPTOR, 0, false, NULL },
	{ "recvfrom", WAIT_SOCKET_READ, 0, false, NULL },
	{ "recvmmsg", WAIT_SOCKET_READ, 0, false, more_timespec_at_4 },
	{ "recvmsg", WAIT_SOCKET_READ, 0, false, NULL },
	{ "rt_sigsuspend", WAIT_SIGNAL, NO_FD, false, NULL },
	{ "rt_sigtimedwait", WAIT_SIGNAL, NO_FD, false, more_timespec_at_2 },
	{ "select", WAIT_SELECT, NO_FD, false, more_select },
	{ "semop", WAIT_OTHER, NO_FD, false, NULL },
	{ "semtimedop", WAIT_OTHER, NO_FD, false, more_timespec_at_3 },
	{ "sendfile", WAIT_DESCRIPTOR, 0, true, NULL },
	{ "sendmmsg", WAIT_SOCKET_WRITE, 0, true, NULL },
	{ "sendmsg", WAIT_SOCKET_WRITE, 0, true, NULL },
	{ "sendto", WAIT_SOCKET_WRITE, 0, true, NULL },
	{ "splice", WAIT_DESCRIPTOR, 0, false, NULL },
	{ "sync_file_range", WAIT_FILE, 0, false, NULL },
	{ "syncfs", WAIT_FILE, 0, false, NULL },
	{ "tee", WAIT_DESCRIPTOR, 0, false, NULL },
	{ "vfork", WAIT_OTHER, NO_FD, false, more_vfork },
	{ "vmsplice", WAIT_DESCRIPTOR, 0, true, NULL },
	{ "wait4", WAIT_CHILD, NO_FD, false, more_wait4 },
	{ "waitid", WAIT_CHILD, NO_FD, false, more_waitid },
	{ "write", WAIT_DESCRIPTOR, 0, true, NULL },
	{ "writev", WAIT_DESCRIPTOR, 0, true, NULL },
};

static int
compare_call_rows(const void *name, const void *row)
{
	return strcmp(name, ((const struct call_row *)row)->name);
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
	out->writes = row->writes;
	if (row->fd != NO_FD)
		out->fd = argument_int(call, (unsigned)row->fd);
	if (row->more != NULL)
		row->more(source, call, out);
}

/* In an uninterruptible sleep the thread waits for the kernel, not for the object of the call. */
static bool
stands_in_disk_sleep(const struct wait *wait)
{
	return wait->kind == WAIT_CHILD ||
	       (wait->fd >= 0 && wait->kind >= WAIT_FILE && wait->kind <= WAIT_DESCRIPTOR);
}

void
wait_classify(const struct wait_source *source, const struct wait_call *call, struct wait *out)
{
	const struct wait nothing = { .kind = WAIT_NONE, .fd = -1, .left_ns = UINT64_MAX };

	*out = nothing;
	switch (call->state) {
	case RUN_SLEEPING:
	case RUN_DISK:
		break;
	case RUN_STOPPED:
		out->kind = WAIT_STOPPED;
		return;
	default:
		return;
	}
	if (call->number == SYSCALL_NONE) {
		out->kind = WAIT_FAULT;
		return;
	}
	wait_of_call(source, call, out);
	if (call->state == RUN_DISK && !stands_in_disk_sleep(out)) {
		*out = nothing;
		out->kind = WAIT_DISK;
	}
}

enum wait_kind
wait_kind_of_descriptor(const struct wait *wait, enum descriptor_kind descriptor)
{
	if (wait->kind != WAIT_DESCRIPTOR)
		return wait->kind;
	switch (descriptor) {
	case DESCRIPTOR_FILE:
	case DESCRIPTOR_DIRECTORY:
		return WAIT_FILE;
	case DESCRIPTOR_PIPE:
		return wait->writes ? WAIT_PIPE_WRITE : WAIT_PIPE_READ;
	case DESCRIPTOR_TERMINAL:
		return WAIT_TERMINAL;
	case DESCRIPTOR_DEVICE:
		return WAIT_DEVICE;
	case DESCRIPTOR_SOCKET:
		return wait->writes ? WAIT_SOCKET_WRITE : WAIT_SOCKET_READ;
	case DESCRIPTOR_EVENTFD:
		return WAIT_EVENTFD;
	case DESCRIPTOR_TIMERFD:
		return WAIT_TIMERFD;
	case DESCRIPTOR_SIGNALFD:
		return WAIT_SIGNALFD;
	case DESCRIPTOR_INOTIFY:
		return WAIT_INOTIFY;
	case DESCRIPTOR_IO_URING:
		return WAIT_IO_URING;
	case DESCRIPTOR_GONE:
	case DESCRIPTOR_EPOLL:
	case DESCRIPTOR_OTHER:
		break;
	}
	return WAIT_DESCRIPTOR;
}
