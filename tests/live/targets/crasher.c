/* SPDX-License-Identifier: MIT */
/*
 * crasher.c - a process of five threads at known places, which it announces by a line with its
 * pid on stdout; then it ends by a signal, or does not.
 *
 *   crasher segv    writes to address 0x10, in crash
 *   crasher null    calls a null pointer, in call_nothing
 *   crasher abort   calls abort, in give_up
 *   crasher stay    waits, in stay, for the end of the shell that started it
 *
 * The others: one waits for a lock in take_lock, one sleeps in take_nap, one waits for a signal in
 * await_signal, one computes in spin.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* pause(3) is another call on some architectures. */
#ifndef SYS_pause
#define SYS_pause SYS_ppoll
#endif

#define NOINLINE __attribute__((noinline, noclone))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long work;
static void (*volatile nothing)(void);
static volatile int *volatile nowhere = (volatile int *)0x10;

struct thread {
	void (*run)(void);
	long call;            /* that it sleeps in; -1: none */
	volatile pid_t tid;
};

NOINLINE static void
take_lock(void)
{
	pthread_mutex_lock(&lock);
	work++;
}

NOINLINE static void
take_nap(void)
{
	const struct timespec long_time = { .tv_sec = 100000 };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, NULL);
	work++;
}

NOINLINE static void
await_signal(void)
{
	pause();
	work++;
}

NOINLINE static void
spin(void)
{
	for (;;)
		work++;
}

static void *
begin(void *argument)
{
	struct thread *thread = argument;

	thread->tid = (pid_t)syscall(SYS_gettid);
	thread->run();
	return NULL;
}

/* Is the thread where it is to be? The kernel says. */
static bool
has_arrived(const struct thread *thread)
{
	char name[64], text[64] = "";
	FILE *file;

	if (thread->tid == 0)
		return false;
	snprintf(name, sizeof(name), "/proc/self/task/%d/syscall", (int)thread->tid);
	file = fopen(name, "re");
	if (file == NULL)
		exit(77);
	if (fgets(text, sizeof(text), file) == NULL)
		text[0] = '\0';
	fclose(file);
	if (thread->call < 0)
		return strncmp(text, "running", 7) == 0;
	return text[0] >= '0' && text[0] <= '9' && strtol(text, NULL, 10) == thread->call;
}

NOINLINE static void
crash(void)
{
	*nowhere = 1;
	work++;
}

NOINLINE static void
call_nothing(void)
{
	nothing();
	work++;
}

NOINLINE static void
give_up(void)
{
	abort();
}

NOINLINE static void
stay(void)
{
	pause();
	work++;
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ends[] = {
		{ "segv", crash }, { "null", call_nothing }, { "abort", give_up }, { "stay", stay },
	};
	static struct thread thread[] = {
		{ take_lock, SYS_futex, 0 },
		{ take_nap, SYS_clock_nanosleep, 0 },
		{ await_signal, SYS_pause, 0 },
		{ spin, -1, 0 },
	};
	pthread_t id;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < sizeof(thread) / sizeof(thread[0]); i++) {
		if (pthread_create(&id, NULL, begin, &thread[i]) != 0)
			return 99;
		while (!has_arrived(&thread[i]))
			sched_yield();
	}
	printf("%d\n", (int)getpid());
	fflush(stdout);
	for (size_t i = 0; argc == 2 && i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strcmp(argv[1], ends[i].name) == 0)
			ends[i].run();
	return 64;
}
