/* SPDX-License-Identifier: MIT */
/*
 * calls_parked.c - a thread parked in each of the calls that an interruption by a tracer
 * would make return EINTR. None of the waits ends in time: whatever comes back was
 * caused by somebody from outside. See calls.h.
 */
#include <linux/io_uring.h>
#include <sys/epoll.h>

#include "calls.h"

#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#define SYS_io_uring_enter 426
#endif
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

static int
setup_epoll(void)
{
	return epoll_create1(EPOLL_CLOEXEC);
}

static int
wait_epoll_forever(int fd)
{
	struct epoll_event event;

	return epoll_wait(fd, &event, 1, -1);
}

static int
wait_epoll_timed(int fd)
{
	struct epoll_event event;

	return epoll_wait(fd, &event, 1, CALLS_LONG_MS);
}

static int
wait_epoll_pwait(int fd)
{
	struct epoll_event event;
	sigset_t none;

	sigemptyset(&none);
	return epoll_pwait(fd, &event, 1, -1, &none);
}

static int
wait_epoll_pwait2(int fd)
{
	struct epoll_event event;

	return (int)syscall(SYS_epoll_pwait2, fd, &event, 1, CALLS_LONG, NULL, 0);
}

static int
setup_receive_timed(void)
{
	return setup_socket_pair(SO_RCVTIMEO, CALLS_LONG_MS);
}

static int
wait_recv(int fd)
{
	char c;

	return (int)recv(fd, &c, 1, 0);
}

static int
wait_recvmsg(int fd)
{
	char c;
	struct iovec part = {.iov_base = &c, .iov_len = 1};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	return (int)recvmsg(fd, &message, 0);
}

static int
wait_read(int fd)
{
	char bytes[64];

	return (int)read(fd, bytes, sizeof(bytes));
}

static int
setup_accept_timed(void)
{
	return setup_listener("accept-timed", CALLS_LONG_MS);
}

static int
wait_accept(int fd)
{
	return accept(fd, NULL, NULL);
}

static int
setup_send_timed(void)
{
	return setup_full_socket(CALLS_LONG_MS);
}

static int
wait_send(int fd)
{
	return (int)send(fd, "x", 1, MSG_NOSIGNAL);
}

static int
setup_connect_timed(void)
{
	return setup_connecting("connect-timed", CALLS_LONG_MS);
}

static int
wait_connect(int fd)
{
	return wait_connecting(fd, "connect-timed");
}

static int
wait_sigtimedwait(int unused)
{
	sigset_t set;

	(void)unused;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return sigtimedwait(&set, NULL, CALLS_LONG);
}

static int
wait_sigwaitinfo(int unused)
{
	sigset_t set;

	(void)unused;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return sigwaitinfo(&set, NULL);
}

static int
wait_semop(int id)
{
	struct sembuf take = {.sem_op = -1};

	return semop(id, &take, 1);
}

static int
wait_semtimedop(int id)
{
	struct sembuf take = {.sem_op = -1};

	return semtimedop(id, &take, 1, CALLS_LONG);
}

static int
wait_aio_forever(int context)
{
	return wait_aio(context, NULL);
}

static int
wait_aio_timed(int context)
{
	return wait_aio(context, CALLS_LONG);
}

static int
setup_uring(void)
{
	struct io_uring_params parameters = {0};

	return (int)syscall(SYS_io_uring_setup, 4, &parameters);
}

static int
wait_uring(int fd)
{
	return (int)syscall(SYS_io_uring_enter, fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}

static const struct call table[] = {
	{"epoll_wait", setup_epoll, wait_epoll_forever},
	{"epoll_timed", setup_epoll, wait_epoll_timed},
	{"epoll_pwait", setup_epoll, wait_epoll_pwait},
	{"epoll_pwait2", setup_epoll, wait_epoll_pwait2},
	{"recv_timed", setup_receive_timed, wait_recv},
	{"recvmsg_timed", setup_receive_timed, wait_recvmsg},
	{"read_timed", setup_receive_timed, wait_read},
	{"accept_timed", setup_accept_timed, wait_accept},
	{"send_timed", setup_send_timed, wait_send},
	{"connect_timed", setup_connect_timed, wait_connect},
	{"sigtimedwait", setup_nothing, wait_sigtimedwait},
	{"sigwaitinfo", setup_nothing, wait_sigwaitinfo},
	{"semop", setup_semaphore, wait_semop},
	{"semtimedop", setup_semaphore, wait_semtimedop},
	{"io_getevents", setup_aio, wait_aio_forever},
	{"io_get_timed", setup_aio, wait_aio_timed},
	{"io_uring", setup_uring, wait_uring},
};

int
main(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return calls_main(table, sizeof(table) / sizeof(table[0]), true, nothing_is_good);
}
