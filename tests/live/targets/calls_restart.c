/* SPDX-License-Identifier: MIT */
/*
 * calls_restart.c - a thread parked in each of many calls that the kernel restarts after an
 * interruption by a tracer. None of the waits ends in time. See calls.h.
 */
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "calls.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

static struct timespec
far_away(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_sec += CALLS_LONG_S;
	return t;
}

static int
wait_recv(int fd)
{
	char c;

	return (int)recv(fd, &c, 1, 0);
}

static int
wait_read(int fd)
{
	char bytes[64];

	return (int)read(fd, bytes, sizeof(bytes));
}

static int
wait_accept(int fd)
{
	return accept(fd, NULL, NULL);
}

static int
setup_pipe(void)
{
	int ends[2];

	return pipe(ends) == 0 ? ends[0] : -1;
}

static int
setup_full_pipe(void)
{
	int ends[2];
	char bytes[4096] = {0};

	if (pipe(ends) != 0)
		return -1;
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	while (write(ends[1], bytes, sizeof(bytes)) > 0)
		;
	fcntl(ends[1], F_SETFL, 0);
	return ends[1];
}

static int
wait_write(int fd)
{
	return (int)write(fd, "x", 1);
}

static int
wait_splice(int fd)
{
	static int other[2];

	if (other[1] == 0 && pipe(other) != 0)
		return 0;
	return (int)splice(fd, NULL, other[1], NULL, 1, 0);
}

static int
wait_poll_forever(int fd)
{
	struct pollfd one = {.fd = fd, .events = POLLIN};

	return poll(&one, 1, -1);
}

static int
wait_poll_timed(int fd)
{
	struct pollfd one = {.fd = fd, .events = POLLIN};

	return poll(&one, 1, CALLS_LONG_MS);
}

static int
wait_ppoll(int fd)
{
	struct pollfd one = {.fd = fd, .events = POLLIN};

	return ppoll(&one, 1, CALLS_LONG, NULL);
}

static int
wait_select(int fd)
{
	struct timeval limit = {.tv_sec = CALLS_LONG_S};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	return select(fd + 1, &set, NULL, NULL, &limit);
}

static int
wait_pselect(int fd)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	return pselect(fd + 1, &set, NULL, NULL, NULL, NULL);
}

static int
wait_nanosleep(int unused)
{
	(void)unused;
	return nanosleep(CALLS_LONG, NULL);
}

/* clock_nanosleep returns its error instead of setting errno. */
static int
wait_clock_nanosleep(int unused)
{
	(void)unused;
	errno = clock_nanosleep(CLOCK_MONOTONIC, 0, CALLS_LONG, NULL);
	return errno == 0 ? 0 : -1;
}

static int
wait_clock_nanosleep_until(int unused)
{
	const struct timespec until = far_away(CLOCK_REALTIME);

	(void)unused;
	errno = clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
	return errno == 0 ? 0 : -1;
}

static int
setup_eventfd(void)
{
	return eventfd(0, EFD_CLOEXEC);
}

static int
setup_timerfd(void)
{
	const struct itimerspec once = {.it_value = {.tv_sec = CALLS_LONG_S}};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	return fd >= 0 && timerfd_settime(fd, 0, &once, NULL) == 0 ? fd : -1;
}

static int
setup_inotify(void)
{
	return inotify_init1(IN_CLOEXEC);
}

static int
setup_receive(void)
{
	return setup_socket_pair(0, 0);
}

static int
setup_accept(void)
{
	return setup_listener("accept", 0);
}

static int
wait_futex(int unused)
{
	static int word;

	(void)unused;
	return (int)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static int
wait_futex_waitv(int unused)
{
	static uint32_t word;
	struct {
		uint64_t val, uaddr;
		uint32_t flags, reserved;
	} waiter = {.uaddr = (uintptr_t)&word, .flags = 2 /* 32 bits */};

	(void)unused;
	return (int)syscall(SYS_futex_waitv, &waiter, 1, 0, NULL, CLOCK_MONOTONIC);
}

/* The C library's waits hide an EINTR of the futex: an early return would be a 0. */
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, free_mutex = PTHREAD_MUTEX_INITIALIZER;

static int
setup_held_mutex(void)
{
	return pthread_mutex_lock(&held) == 0 ? 0 : -1;
}

static int
wait_mutex(int unused)
{
	(void)unused;
	return pthread_mutex_lock(&held);
}

static int
wait_condition(bool timed)
{
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	const struct timespec until = far_away(CLOCK_REALTIME);

	pthread_mutex_lock(&free_mutex);
	int result = timed ? pthread_cond_timedwait(&never, &free_mutex, &until)
			   : pthread_cond_wait(&never, &free_mutex);
	pthread_mutex_unlock(&free_mutex);
	return result;
}

static int
wait_cond_forever(int unused)
{
	(void)unused;
	return wait_condition(false);
}

static int
wait_cond_timed(int unused)
{
	(void)unused;
	return wait_condition(true);
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
	(void)unused;
	return sem_wait(&semaphore);
}

static int
wait_sem_timed(int unused)
{
	const struct timespec until = far_away(CLOCK_REALTIME);

	(void)unused;
	return sem_timedwait(&semaphore, &until);
}

struct message {
	long type;
	char text[1024];
};

static int
wait_msgrcv(int id)
{
	struct message message;

	return (int)msgrcv(id, &message, sizeof(message.text), 0, 0);
}

static int
setup_full_messages(void)
{
	struct message message = {.type = 1};
	int id = setup_queue();

	while (id >= 0 && msgsnd(id, &message, sizeof(message.text), IPC_NOWAIT) == 0)
		;
	return id;
}

static int
wait_msgsnd(int id)
{
	struct message message = {.type = 1};

	return msgsnd(id, &message, sizeof(message.text), 0);
}

static int
setup_mq(void)
{
	struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
	char name[64];

	snprintf(name, sizeof(name), "/wallsample-%d", (int)getpid());
	mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
	mq_unlink(name);
	return (int)queue;
}

static int
wait_mq(int queue)
{
	char bytes[8];

	return (int)mq_receive(queue, bytes, sizeof(bytes), NULL);
}

static int
wait_mq_timed(int queue)
{
	const struct timespec until = far_away(CLOCK_REALTIME);
	char bytes[8];

	return (int)mq_timedreceive(queue, bytes, sizeof(bytes), NULL, &until);
}

/* A child that lives as long as this process. */
static int
setup_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return (int)pid;
}

static int
wait_waitpid(int pid)
{
	return waitpid(pid, NULL, 0);
}

static int
wait_waitid(int pid)
{
	siginfo_t info;

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
}

static int
wait_pause(int unused)
{
	(void)unused;
	return pause();
}

static int
wait_sigsuspend(int unused)
{
	sigset_t none;

	(void)unused;
	sigemptyset(&none);
	return sigsuspend(&none);
}

static int
wait_sigwait(int unused)
{
	sigset_t set;
	int number;

	(void)unused;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigwait(&set, &number);
}

/* A second description of a file whose first one holds both kinds of lock. */
static int
setup_locked(void)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char path[64];
	int fd = memfd_create("locked", MFD_CLOEXEC);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || flock(fd, LOCK_EX) != 0 || fcntl(fd, F_OFD_SETLK, &whole) != 0)
		return -1;
	return open(path, O_RDWR | O_CLOEXEC);
}

static int
wait_flock(int fd)
{
	return flock(fd, LOCK_EX);
}

static int
wait_ofd_lock(int fd)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	return fcntl(fd, F_OFD_SETLKW, &whole);
}

static const struct call table[] = {
	{"poll", setup_pipe, wait_poll_forever},
	{"poll_timed", setup_pipe, wait_poll_timed},
	{"ppoll", setup_pipe, wait_ppoll},
	{"select", setup_pipe, wait_select},
	{"pselect", setup_pipe, wait_pselect},
	{"nanosleep", setup_nothing, wait_nanosleep},
	{"clock_nanosleep", setup_nothing, wait_clock_nanosleep},
	{"clock_until", setup_nothing, wait_clock_nanosleep_until},
	{"read_pipe", setup_pipe, wait_read},
	{"write_pipe", setup_full_pipe, wait_write},
	{"splice", setup_pipe, wait_splice},
	{"read_eventfd", setup_eventfd, wait_read},
	{"read_timerfd", setup_timerfd, wait_read},
	{"read_inotify", setup_inotify, wait_read},
	{"recv", setup_receive, wait_recv},
	{"accept", setup_accept, wait_accept},
	{"futex", setup_nothing, wait_futex},
	{"futex_waitv", setup_nothing, wait_futex_waitv},
	{"mutex", setup_held_mutex, wait_mutex},
	{"cond_wait", setup_nothing, wait_cond_forever},
	{"cond_timedwait", setup_nothing, wait_cond_timed},
	{"sem_wait", setup_sem, wait_sem},
	{"sem_timedwait", setup_nothing, wait_sem_timed},
	{"msgrcv", setup_queue, wait_msgrcv},
	{"msgsnd", setup_full_messages, wait_msgsnd},
	{"mq_receive", setup_mq, wait_mq},
	{"mq_timed", setup_mq, wait_mq_timed},
	{"waitpid", setup_child, wait_waitpid},
	{"waitid", setup_child, wait_waitid},
	{"pause", setup_nothing, wait_pause},
	{"sigsuspend", setup_nothing, wait_sigsuspend},
	{"sigwait", setup_nothing, wait_sigwait},
	{"flock", setup_locked, wait_flock},
	{"ofd_lock", setup_locked, wait_ofd_lock},
};

int
main(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return calls_main(table, sizeof(table) / sizeof(table[0]), true, nothing_is_good);
}
