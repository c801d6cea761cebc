/* SPDX-License-Identifier: MIT */
/*
 * call_clock.c - a library for LD_PRELOAD that measures the CPU time of some calls of the C library
 * by the clock of the calling thread, for accuracy_programs.py.
 *
 * CALL_CLOCK: a directory. Each process writes a file there, named after its PID: two 64-bit
 * numbers for each function, in the order of CALLS: the CPU time of its calls in ns, and their
 * number. The time of each call contains one reading of the clock. The last two numbers are the
 * length of such a reading in ns, and TRIALS.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define TRIALS 1000

/* X(result, name, parameters, arguments) */
#define CALLS(X)                                                                                   \
	X(ssize_t, read, (int fd, void *data, size_t size), (fd, data, size))                      \
	X(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size))               \
	X(ssize_t, writev, (int fd, const struct iovec *part, int count), (fd, part, count))       \
	X(ssize_t, recv, (int fd, void *data, size_t size, int flags), (fd, data, size, flags))    \
	X(ssize_t, send, (int fd, const void *data, size_t size, int flags),                       \
	  (fd, data, size, flags))                                                                 \
	X(int, poll, (struct pollfd *fd, nfds_t count, int ms), (fd, count, ms))                   \
	X(int, epoll_wait, (int fd, struct epoll_event *event, int count, int ms),                 \
	  (fd, event, count, ms))                                                                  \
	X(ssize_t, pread64, (int fd, void *data, size_t size, off_t at), (fd, data, size, at))     \
	X(ssize_t, pwrite64, (int fd, const void *data, size_t size, off_t at),                    \
	  (fd, data, size, at))                                                                    \
	X(int, fdatasync, (int fd), (fd))

enum call {
#define X(result, name, parameters, arguments) CALL_##name,
	CALLS(X)
#undef X
	CALL_COUNT
};

static struct sum {
	_Atomic uint64_t ns, calls;
} spare[CALL_COUNT + 1], *sums = spare;

static uint64_t
cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void
add(enum call call, uint64_t began_ns)
{
	atomic_fetch_add_explicit(&sums[call].ns, cpu_ns() - began_ns, memory_order_relaxed);
	atomic_fetch_add_explicit(&sums[call].calls, 1, memory_order_relaxed);
}

#define X(result, name, parameters, arguments)                                                     \
	result name parameters                                                                     \
	{                                                                                          \
		static result(*real) parameters;                                                   \
		uint64_t began;                                                                    \
		result value;                                                                      \
                                                                                                   \
		if (real == NULL)                                                                  \
			real = (result(*) parameters)dlsym(RTLD_NEXT, #name);                      \
		began = cpu_ns();                                                                  \
		value = real arguments;                                                            \
		add(CALL_##name, began);                                                           \
		return value;                                                                      \
	}
CALLS(X)
#undef X

/* The same calls by the names that programs use without _FILE_OFFSET_BITS. */
ssize_t
pread(int fd, void *data, size_t size, off_t at)
{
	return pread64(fd, data, size, at);
}

ssize_t
pwrite(int fd, const void *data, size_t size, off_t at)
{
	return pwrite64(fd, data, size, at);
}

/* Gives this process a file of its own. */
static void
begin(void)
{
	char path[4096];
	const char *folder = getenv("CALL_CLOCK");
	uint64_t began;
	void *map = MAP_FAILED;
	int fd = -1;

	sums = spare;
	if (folder == NULL)
		return;
	snprintf(path, sizeof(path), "%s/%d", folder, (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (fd >= 0 && ftruncate(fd, sizeof(spare)) == 0)
		map = mmap(NULL, sizeof(spare), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return;
	sums = map;
	began = cpu_ns();
	for (unsigned i = 0; i < TRIALS; i++)
		cpu_ns();
	sums[CALL_COUNT].ns = (cpu_ns() - began) / TRIALS;
	sums[CALL_COUNT].calls = TRIALS;
}

__attribute__((constructor)) static void
library_begin(void)
{
	pthread_atfork(NULL, NULL, begin);
	begin();
}
