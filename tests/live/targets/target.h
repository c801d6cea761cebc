/* SPDX-License-Identifier: MIT */
/*
 * target.h - what every target program of the live tests needs: functions whose frames
 * stay, threads with names, a word that all is in place, counters that the test can
 * read while the target runs, and an end when the test goes away.
 *
 * Everything is static inline: a target is one file, because the same file is built in
 * a dozen ways (see ../local.mk).
 */
#ifndef LIVE_TARGET_H
#define LIVE_TARGET_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The test hands a file of counters down under this number. */
#define TARGET_COUNTERS_FD 3
#define TARGET_COUNTERS 64

struct target_counters {
	_Atomic uint64_t value[TARGET_COUNTERS];
};

static volatile unsigned long target_sink;
static volatile int target_over; /* never set: the compiler must not know that */

/* A function of a known shape. */
#define FRAME __attribute__((noinline))
/*
 * Behind a call: the call is no tail call, and no two functions have the same body, which
 * the compiler would fold into one.
 */
#define KEEP_FRAME()                                                           \
	do {                                                                   \
		target_sink = __LINE__;                                        \
		__asm__ volatile("" ::: "memory");                             \
	} while (0)

struct target_thread {
	const char *name;
	void (*run)(void);
	bool sleeps;          /* is in place once it sleeps in a system call */
	pthread_t thread;
	_Atomic int tid;
	_Atomic int here;     /* it has reached its leaf, or is about to sleep there */
};

static __thread struct target_thread *target_self;

__attribute__((noreturn)) static inline void
target_fail(const char *what)
{
	fprintf(stderr, "target: %s: %s\n", what, strerror(errno));
	_exit(99);
}

static inline struct target_counters *
target_counters(void)
{
	void *p = mmap(NULL, sizeof(struct target_counters), PROT_READ | PROT_WRITE,
		       MAP_SHARED, TARGET_COUNTERS_FD, 0);

	if (p == MAP_FAILED) /* run by hand */
		p = mmap(NULL, sizeof(struct target_counters), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		target_fail("mmap");
	return p;
}

static inline uint64_t
target_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The calling thread is in its leaf, or its next system call is the one it sleeps in. */
static inline void
target_here(void)
{
	target_self->here = 1;
}

static inline void *
target_thread_main(void *arg)
{
	target_self = arg;
	prctl(PR_SET_NAME, target_self->name);
	target_self->tid = (int)syscall(SYS_gettid);
	target_self->run();
	KEEP_FRAME();
	return NULL;
}

/* `stack_size` 0: the usual. */
static inline void
target_start(struct target_thread *threads, size_t count, size_t stack_size)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	if (stack_size != 0)
		pthread_attr_setstacksize(&attr, stack_size);
	for (size_t i = 0; i < count; i++)
		if (pthread_create(&threads[i].thread, &attr, target_thread_main,
				   &threads[i]) != 0)
			target_fail("pthread_create");
	pthread_attr_destroy(&attr);
}

/* Reads a file of /proc/self/task/TID; "" if it has gone. */
static inline void
target_read_task(int tid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n = -1;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, size - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
}

/* The state letter of a thread of this process; 0 if it has gone. */
static inline char
target_task_state(int tid)
{
	char text[512];

	target_read_task(tid, "stat", text, sizeof(text));
	const char *paren = strrchr(text, ')');
	return paren != NULL && paren[1] == ' ' ? paren[2] : '\0';
}

/*
 * Sleeps in a system call, not in a page fault. No thread can say of itself that it is
 * asleep: somebody has to look.
 */
static inline bool
target_is_asleep(int tid)
{
	char text[256];

	target_read_task(tid, "syscall", text, sizeof(text));
	if (text[0] < '0' || text[0] > '9') /* "running", or -1 outside a system call */
		return false;
	char state = target_task_state(tid);
	return state == 'S' || state == 'D';
}

static inline void
target_wait(struct target_thread *threads, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		while (!threads[i].here)
			sched_yield();
		while (threads[i].sleeps && !target_is_asleep(threads[i].tid))
			sched_yield();
	}
}

static inline void
target_say(const char *line)
{
	size_t length = strlen(line);

	if (write(STDOUT_FILENO, line, length) != (ssize_t)length)
		_exit(98);
}

static inline void
target_ready(void)
{
	target_say("ready\n");
}

/* Waits until the test says a line (true) or has closed its end (false). */
static inline bool
target_told(void)
{
	char c;
	ssize_t n;

	do
		n = read(STDIN_FILENO, &c, 1);
	while ((n == 1 && c != '\n') || (n < 0 && errno == EINTR));
	return n == 1;
}

/* Starts the threads, says "ready" when all are in place, ends with the test. */
static inline int
target_main(struct target_thread *threads, size_t count, size_t stack_size)
{
	target_start(threads, count, stack_size);
	target_wait(threads, count);
	target_ready();
	while (target_told())
		;
	_exit(0);
}

#endif
