/* SPDX-License-Identifier: MIT */
/*
 * calls_hot.c - threads that run a little, wait a millisecond in a system call that an
 * interruption by a tracer would break, and so on for ever.
 *
 * Many are caught on the way into the call, which is where the interruption does harm.
 * See calls.h.
 */
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>

#include "calls.h"

#define SHORT_TIMESPEC (&(const struct timespec){.tv_nsec = 1000000})

/* Between nothing and a fifth of a millisecond of work, different each time. */
static void
work(void)
{
	static __thread uint32_t state = 12345;

	state = state * 1664525 + 1013904223;
	for (uint32_t i = state >> 16; i > 0; i--)
		target_sink++;
}

static int
setup_epoll(void)
{
	return epoll_create1(EPOLL_CLOEXEC);
}

static int
wait_epoll(int fd)
{
	struct epoll_event event;

	work();
	return epoll_wait(fd, &event, 1, 1);
}

static int
wait_epoll_pwait(int fd)
{
	struct epoll_event event;
	sigset_t none;

	sigemptyset(&none);
	work();
	return epoll_pwait(fd, &event, 1, 1, &none);
}

static int
setup_receive(void)
{
	return setup_socket_pair(SO_RCVTIMEO, 1);
}

static int
wait_recv(int fd)
{
	char c;

	work();
	return (int)recv(fd, &c, 1, 0);
}

static int
setup_accept(void)
{
	return setup_listener("accept", 1);
}

static int
wait_accept(int fd)
{
	work();
	return accept(fd, NULL, NULL);
}

static int
setup_send(void)
{
	return setup_full_socket(1);
}

static int
wait_send(int fd)
{
	work();
	return (int)send(fd, "x", 1, MSG_NOSIGNAL);
}

static int
setup_connect(void)
{
	return setup_connecting("connect", 1);
}

static int
wait_connect(int fd)
{
	work();
	return wait_connecting(fd, "connect");
}

static int
wait_sigtimedwait(int unused)
{
	sigset_t set;

	(void)unused;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	work();
	return sigtimedwait(&set, NULL, SHORT_TIMESPEC);
}

static int
wait_semtimedop(int id)
{
	struct sembuf take = {.sem_op = -1};

	work();
	return semtimedop(id, &take, 1, SHORT_TIMESPEC);
}

static int
wait_aio_short(int context)
{
	work();
	return wait_aio(context, SHORT_TIMESPEC);
}

static int
wait_poll(int unused)
{
	(void)unused;
	work();
	return poll(NULL, 0, 1);
}

static int
wait_nanosleep(int unused)
{
	(void)unused;
	work();
	return nanosleep(SHORT_TIMESPEC, NULL);
}

static sem_t semaphore;

static int
setup_sem(void)
{
	return sem_init(&semaphore, 0, 0);
}

static int
wait_sem(int unused)
{
	struct timespec until;

	(void)unused;
	work();
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	return sem_timedwait(&semaphore, &until);
}

static const struct call table[] = {
	{"epoll_wait", setup_epoll, wait_epoll},
	{"epoll_pwait", setup_epoll, wait_epoll_pwait},
	{"recv", setup_receive, wait_recv},
	{"accept", setup_accept, wait_accept},
	{"send", setup_send, wait_send},
	{"connect", setup_connect, wait_connect},
	{"sigtimedwait", setup_nothing, wait_sigtimedwait},
	{"semtimedop", setup_semaphore, wait_semtimedop},
	{"io_getevents", setup_aio, wait_aio_short},
	{"poll", setup_nothing, wait_poll},
	{"nanosleep", setup_nothing, wait_nanosleep},
	{"sem_timedwait", setup_sem, wait_sem},
};

/* The wait has timed out, as it should. */
static bool
timed_out(int result)
{
	return result == 0 ||
	       (result == -1 && (errno == EAGAIN || errno == ETIMEDOUT));
}

int
main(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return calls_main(table, sizeof(table) / sizeof(table[0]), false, timed_out);
}
