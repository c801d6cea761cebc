/* SPDX-License-Identifier: MIT */
/*
 * waits.h - system calls to wait in, for waits.c: of descriptors, time, signals and children.
 */
#ifndef LIVE_WAITS_H
#define LIVE_WAITS_H

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/wait.h>

#include "calls.h"

#define FAR_S 100000

static inline struct timespec
far(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	time.tv_sec += FAR_S;
	return time;
}

static inline int
pipe_end(int which)
{
	char bytes[4096] = {0};
	int ends[2];

	if (pipe2(ends, O_NONBLOCK) != 0)
		target_fail("pipe2");
	while (which == 1 && write(ends[1], bytes, sizeof(bytes)) > 0)
		;
	fcntl(ends[which], F_SETFL, 0);
	return ends[which];
}

static inline int
do_read(int fd)
{
	uint64_t value;

	return (int)read(fd, &value, sizeof(value));
}

static inline int
do_write(int fd)
{
	return (int)write(fd, "x", 1);
}

static inline int
do_recv(int fd)
{
	char c;

	return (int)recv(fd, &c, 1, 0);
}

static inline int
do_send(int fd)
{
	return (int)send(fd, "x", 1, MSG_NOSIGNAL);
}

static inline int
do_accept(int fd)
{
	return accept(fd, NULL, NULL);
}

static inline int
do_connect(int fd)
{
	return wait_connecting(fd, "waits");
}

static inline int
do_poll_one(int fd)
{
	struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = -1}};

	return poll(fds, 2, FAR_S * 1000);
}

static inline int
do_poll_two(int fd)
{
	struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};

	return ppoll(fds, 2, NULL, NULL);
}

static inline int
do_poll_none(int unused)
{
	return poll(NULL, (nfds_t)unused, FAR_S * 1000);
}

static inline int
do_select(int fd)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	return select(fd + 1, &set, NULL, NULL, &(struct timeval){.tv_sec = FAR_S});
}

static inline int
do_epoll(int fd)
{
	struct epoll_event event;

	return epoll_wait(fd, &event, 1, FAR_S * 1000);
}

static inline int
do_nanosleep(int unused)
{
	(void)unused;
	return nanosleep(&(struct timespec){.tv_sec = FAR_S}, NULL);
}

static inline int
do_sleep_until(int clock)
{
	const struct timespec until = far(clock);

	/* It returns the error. */
	errno = clock_nanosleep(clock, TIMER_ABSTIME, &until, NULL);
	return errno == 0 ? 0 : -1;
}

static inline int
do_sigtimedwait(int unused)
{
	sigset_t set;

	(void)unused;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return sigtimedwait(&set, NULL, CALLS_LONG);
}

static inline int
do_waitpid(int pid)
{
	return waitpid(pid, NULL, 0);
}

static inline int
do_waitid(int unused)
{
	siginfo_t info;

	(void)unused;
	return waitid(P_ALL, 0, &info, WEXITED);
}

static inline int
do_flock(int fd)
{
	return flock(fd, LOCK_EX);
}

/* A child that lives as long as this process. */
static inline int
start_child(void)
{
	const pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		pause();
	_exit(0);
}

/* A file that is locked, through another description of it. */
static inline int
locked_file(void)
{
	char path[64];
	int fd = (int)syscall(SYS_memfd_create, "waits", 0);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || flock(fd, LOCK_EX) != 0)
		target_fail("flock");
	return open(path, O_RDWR);
}

static const struct descriptor_wait {
	const char *name, *kind;
	bool has_fd, timed;
	int (*wait)(int);
} descriptor_waits[] = {
	{ "read", "DESCRIPTOR", true, false, do_read },
	{ "write", "DESCRIPTOR", true, false, do_write },
	{ "eventfd", "DESCRIPTOR", true, false, do_read },
	{ "recv", "SOCKET_READ", true, false, do_recv },
	{ "send", "SOCKET_WRITE", true, false, do_send },
	{ "accept", "ACCEPT", true, false, do_accept },
	{ "connect", "CONNECT", true, false, do_connect },
	{ "poll-one", "POLL", true, true, do_poll_one },
	{ "poll-two", "POLL", false, false, do_poll_two },
	{ "poll-none", "SLEEP", false, true, do_poll_none },
	{ "select", "SELECT", true, true, do_select },
	{ "epoll", "EPOLL", true, true, do_epoll },
	{ "nanosleep", "SLEEP", false, true, do_nanosleep },
	{ "until-mono", "SLEEP", false, true, do_sleep_until },
	{ "until-date", "SLEEP", false, true, do_sleep_until },
	{ "sigtimedwait", "SIGNAL", false, true, do_sigtimedwait },
	{ "waitpid", "CHILD", false, false, do_waitpid },
	{ "waitid", "CHILD", false, false, do_waitid },
	{ "flock", "FILE_LOCK", true, false, do_flock },
};

static inline int
handle_of(const char *name)
{
	if (strcmp(name, "write") == 0)
		return pipe_end(1);
	if (strcmp(name, "eventfd") == 0)
		return eventfd(0, 0);
	if (strcmp(name, "recv") == 0)
		return setup_socket_pair(SO_RCVTIMEO, 0);
	if (strcmp(name, "send") == 0)
		return setup_full_socket(0);
	if (strcmp(name, "accept") == 0)
		return setup_listener("waits-accept", 0);
	if (strcmp(name, "connect") == 0)
		return setup_connecting("waits", 0);
	if (strcmp(name, "epoll") == 0)
		return epoll_create1(0);
	if (strcmp(name, "until-mono") == 0)
		return CLOCK_MONOTONIC;
	if (strcmp(name, "waitpid") == 0)
		return start_child();
	if (strcmp(name, "flock") == 0)
		return locked_file();
	if (strncmp(name, "until", 5) == 0 || strcmp(name, "poll-none") == 0)
		return 0; /* CLOCK_REALTIME; no descriptors */
	return pipe_end(0);
}

#endif
