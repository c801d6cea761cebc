/* SPDX-License-Identifier: MIT */
/*
 * calls.h - one thread in each system call of a table, counting what comes back.
 *
 * Used by calls_parked.c and calls_restart.c, whose waits last longer than any test, and
 * calls_hot.c, whose waits end every millisecond. At the end of its input the target
 * prints, for each call, "NAME entered N eintr N other N" or "NAME absent", then "end".
 */
#ifndef LIVE_CALLS_H
#define LIVE_CALLS_H

#include <sched.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "target.h"

struct call {
	const char *name;
	int (*setup)(void);    /* a handle for wait, or -1: not to be had here */
	int (*wait)(int handle);
};

#define CALLS_MOST 64

/* Longer than any test. */
#define CALLS_LONG_S 100000
#define CALLS_LONG_MS (CALLS_LONG_S * 1000)
#define CALLS_LONG (&(const struct timespec){.tv_sec = CALLS_LONG_S})

static struct calls_state {
	const struct call *call;
	int handle;
	_Atomic uint64_t entered, eintr, other;
} calls_state[CALLS_MOST];
static struct target_thread calls_thread[CALLS_MOST];
/* Objects that outlive their process: removed at the end. */
#define CALLS_IPC_MOST 8
static struct {
	int id[CALLS_IPC_MOST];
	size_t count;
} calls_semaphores, calls_queues;
/* What a wait that ended in its own time returned; see calls_main. */
static bool (*calls_is_good)(int result);

static inline void
calls_run(void)
{
	struct calls_state *own = &calls_state[target_self - calls_thread];

	while (!target_over) {
		own->entered++;
		target_here();
		int result = own->call->wait(own->handle);
		int why = errno;
		if (result == -1 && why == EINTR)
			own->eintr++;
		else if (!calls_is_good(result))
			own->other++;
	}
}

static inline int
calls_main(const struct call *table, size_t count, bool sleeps, bool (*is_good)(int))
{
	size_t threads = 0;
	char line[128];

	calls_is_good = is_good;
	/* If the test dies, what is left behind goes with the namespace. Needs root. */
	if (unshare(CLONE_NEWIPC) != 0)
		errno = 0;
	for (size_t i = 0; i < count && threads < CALLS_MOST; i++) {
		int handle = table[i].setup();
		if (handle == -1) {
			snprintf(line, sizeof(line), "%s absent\n", table[i].name);
			target_say(line);
			continue;
		}
		calls_state[threads].call = &table[i];
		calls_state[threads].handle = handle;
		calls_thread[threads] = (struct target_thread){
			.name = table[i].name, .run = calls_run, .sleeps = sleeps};
		threads++;
	}
	target_start(calls_thread, threads, 0);
	target_wait(calls_thread, threads);
	target_ready();
	while (target_told())
		;
	for (size_t i = 0; i < threads; i++) {
		const struct calls_state *own = &calls_state[i];
		snprintf(line, sizeof(line), "%s entered %llu eintr %llu other %llu\n",
			 own->call->name, (unsigned long long)own->entered,
			 (unsigned long long)own->eintr, (unsigned long long)own->other);
		target_say(line);
	}
	target_say("end\n");
	for (size_t i = 0; i < calls_semaphores.count; i++)
		semctl(calls_semaphores.id[i], 0, IPC_RMID);
	for (size_t i = 0; i < calls_queues.count; i++)
		msgctl(calls_queues.id[i], IPC_RMID, NULL);
	_exit(0);
}

/* Nothing may come back from a wait that is longer than any test. */
static inline bool
nothing_is_good(int result)
{
	(void)result;
	return false;
}

/* --- setups that several tables use ------------------------------------------------- */

static inline int
setup_nothing(void)
{
	return 0;
}

/* A socket with the given time-outs (ms, 0 none), its peer silent. */
static inline int
setup_socket_pair(int option, long ms)
{
	const struct timeval limit = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		return -1;
	if (ms != 0 && setsockopt(ends[0], SOL_SOCKET, option, &limit, sizeof(limit)) != 0)
		return -1;
	return ends[0];
}

/* A listening socket nobody connects to; `ms` as above. Abstract name: no file stays. */
static inline int
setup_listener(const char *name, long ms)
{
	const struct timeval limit = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "wallsample-%d-%s",
		 (int)getpid(), name);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(fd, 0) != 0)
		return -1;
	if (ms != 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) != 0)
		return -1;
	return fd;
}

/* A socket whose connect has to wait: the listener's queue is full. */
static inline int
setup_connecting(const char *name, long ms)
{
	const struct timeval limit = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
	struct sockaddr_un address;
	socklen_t length = sizeof(address);
	int listener = setup_listener(name, 0);

	if (listener < 0 || getsockname(listener, (struct sockaddr *)&address, &length) != 0)
		return -1;
	for (int i = 0; i < 8; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (fd >= 0 && connect(fd, (struct sockaddr *)&address, length) != 0 &&
		    errno == EAGAIN)
			break;
	}
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) != 0)
		return -1;
	return fd;
}

static inline int
wait_connecting(int fd, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "wallsample-%d-%s",
		 (int)getpid(), name);
	return connect(fd, (struct sockaddr *)&address, sizeof(address));
}

/* A socket that takes no more: send has to wait. */
static inline int
setup_full_socket(long ms)
{
	int fd = setup_socket_pair(SO_SNDTIMEO, ms);
	char bytes[4096] = {0};

	while (fd >= 0 && send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	return fd;
}

static inline int
setup_semaphore(void)
{
	int id = semget(IPC_PRIVATE, 1, 0600);

	if (id >= 0 && calls_semaphores.count < CALLS_IPC_MOST)
		calls_semaphores.id[calls_semaphores.count++] = id;
	return id;
}

static inline int
setup_queue(void)
{
	int id = msgget(IPC_PRIVATE, 0600);

	if (id >= 0 && calls_queues.count < CALLS_IPC_MOST)
		calls_queues.id[calls_queues.count++] = id;
	return id;
}

/* Raw calls: libaio need not be there. The handle is the number of a context. */
static unsigned long aio_context[4];

static inline int
setup_aio(void)
{
	static int next;

	if (next == 4 || syscall(SYS_io_setup, 4, &aio_context[next]) != 0)
		return -1;
	return next++;
}

static inline int
wait_aio(int handle, const struct timespec *limit)
{
	char event[32]; /* struct io_event */

	return (int)syscall(SYS_io_getevents, aio_context[handle], 1, 1, event, limit);
}

#endif
