/* SPDX-License-Identifier: MIT */
/*
 * cancel_calls.c - three threads that sleep in poll(), read() and nanosleep(). c_library.sh
 * compiles it with musl-gcc, and with the compiler for glibc and -DOWN_PLUMBING: then read() is a
 * function of this program, which makes its system call through functions with the names of those
 * in glibc 2.41. With -DOWN_LIBRARY the call is that of cancel_library.c.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int in;
static volatile int sink;

#ifdef OWN_LIBRARY
long wait_byte(int fd, char *byte);
#define read(fd, to, size) wait_byte(fd, to)
#endif

#ifdef OWN_PLUMBING
#define FRAME __attribute__((noinline, noclone))

FRAME long
__syscall_cancel_arch(int fd, char *byte)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_read), "D"(fd), "S"(byte), "d"(1)
			 : "rcx", "r11", "memory");
	return result;
}

FRAME long
__internal_syscall_cancel(int fd, char *byte)
{
	const long result = __syscall_cancel_arch(fd, byte);

	sink = 1;
	return result;
}

FRAME long
__syscall_cancel(int fd, char *byte)
{
	const long result = __internal_syscall_cancel(fd, byte);

	sink = 2;
	return result;
}

FRAME ssize_t
read(int fd, void *to, size_t size)
{
	const long result = __syscall_cancel(fd, to);

	sink = (int)size;
	return result;
}
#endif

static void *
reader(void *unused)
{
	char byte;

	sink = (int)read(in, &byte, 1);
	return unused;
}

static void *
sleeper(void *unused)
{
	const struct timespec day = { .tv_sec = 86400 };

	sink = nanosleep(&day, NULL);
	return unused;
}

int
main(void)
{
	struct pollfd wait;
	pthread_t thread;
	int ends[2];

	if (pipe(ends) != 0)
		return 1;
	in = ends[0];
	if (pthread_create(&thread, NULL, reader, NULL) != 0 ||
	    pthread_create(&thread, NULL, sleeper, NULL) != 0)
		return 1;
	puts("ready");
	fflush(stdout);
	wait = (struct pollfd){ .fd = in, .events = POLLIN };
	sink = poll(&wait, 1, -1);
	return 0;
}
