/* SPDX-License-Identifier: MIT */
/*
 * accounted.c SECONDS - threads that run in bursts. Waits for a line on stdin, runs its threads for
 * SECONDS, writes for each of them "tid NAME CPU_NS DELAY_NS", as its schedstat file has counted
 * during that time, then "done", and waits for the end of stdin.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS 12

static int pipes[2][2];
static uint64_t end_ns;
static pthread_barrier_t ready, started;
static volatile unsigned sink;

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void
spin_us(uint64_t us)
{
	const uint64_t end = now_ns() + us * 1000;

	while (now_ns() < end)
		for (unsigned i = 0; i < 200; i++)
			sink += i;
}

static void
sleep_us(long us)
{
	const struct timespec time = { 0, us * 1000 };

	nanosleep(&time, NULL);
}

/* Each function is one round of a thread's work. */

static void
on_off(void)
{
	spin_us(400);
	sleep_us(600);
}

static void
seldom(void)
{
	spin_us(80);
	sleep_us(20000);
}

static void
write_record(void)
{
	static _Thread_local int fd = -1;
	char record[400] = { 0 };
	char name[] = "/tmp/bursts.XXXXXX";

	if (fd < 0) {
		fd = mkstemp(name);
		unlink(name);
	}
	if (pwrite(fd, record, sizeof(record), 0) < 0 || fdatasync(fd) != 0)
		exit(1);
}

static void
read_byte(void)
{
	static _Thread_local int fd = -1;
	char byte;

	if (fd < 0)
		fd = open("/dev/zero", O_RDONLY);
	if (read(fd, &byte, 1) != 1)
		exit(1);
}

static void
hand_over(void)
{
	char byte = 0;

	if (write(pipes[0][1], &byte, 1) != 1 || read(pipes[1][0], &byte, 1) != 1)
		exit(1);
}

/* Until the other thread has closed its end. */
static void
hand_back(void)
{
	char byte = 0;

	while (read(pipes[0][0], &byte, 1) == 1)
		if (write(pipes[1][1], &byte, 1) != 1)
			exit(1);
}

static const struct {
	const char *name;
	void (*round)(void);
} works[THREADS] = {
	{ "on_off", on_off },   { "record", write_record }, { "record", write_record },
	{ "byte", read_byte },  { "over", hand_over },	    { "back", hand_back },
	{ "seldom", seldom },   { "seldom", seldom },	    { "seldom", seldom },
	{ "seldom", seldom },   { "seldom", seldom },	    { "seldom", seldom },
};

static long tids[THREADS];
static _Atomic int asleep; /* number of threads that only have to sleep */

static void
read_text(long tid, const char *file, char *text, size_t size)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/%s", tid, file);
	fd = open(path, O_RDONLY);
	got = read(fd, text, size - 1);
	close(fd);
	if (got <= 0)
		exit(1);
	text[got] = '\0';
}

static void
read_counters(long tid, uint64_t counters[2])
{
	char text[128];

	read_text(tid, "schedstat", text, sizeof(text));
	counters[0] = strtoull(text, NULL, 10);
	counters[1] = strtoull(strchr(text, ' '), NULL, 10);
}

static bool
sleeps(long tid)
{
	char text[512];

	read_text(tid, "stat", text, sizeof(text));
	return strstr(text, ") S ") != NULL;
}

static void *
work(void *of)
{
	const size_t at = (size_t)(uintptr_t)of;

	prctl(PR_SET_NAME, works[at].name);
	tids[at] = syscall(SYS_gettid);
	pthread_barrier_wait(&ready);
	pthread_barrier_wait(&started);
	while (now_ns() < end_ns)
		works[at].round();
	if (works[at].round == hand_over)
		close(pipes[0][1]);
	asleep++;
	for (;;)
		pause();
	return NULL;
}

/* The counters of a thread are exact while it sleeps. */
static void
read_all(uint64_t counters[THREADS][2])
{
	for (size_t i = 0; i < THREADS; i++) {
		while (!sleeps(tids[i]))
			sleep_us(1000);
		read_counters(tids[i], counters[i]);
	}
}

int
main(int argc, char **argv)
{
	static uint64_t before[THREADS][2], after[THREADS][2];
	pthread_t thread[THREADS];
	char line[16];

	if (argc != 2 || pipe(pipes[0]) != 0 || pipe(pipes[1]) != 0)
		return 2;
	pthread_barrier_init(&ready, NULL, THREADS + 1);
	pthread_barrier_init(&started, NULL, THREADS + 1);
	for (size_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)i) != 0)
			return 1;
	pthread_barrier_wait(&ready);
	read_all(before);
	printf("ready\n");
	fflush(stdout);
	if (fgets(line, sizeof(line), stdin) == NULL)
		return 1;
	end_ns = now_ns() + (uint64_t)atoi(argv[1]) * 1000000000;
	pthread_barrier_wait(&started);
	while (asleep < THREADS)
		sleep_us(10000);
	read_all(after);
	for (size_t i = 0; i < THREADS; i++)
		printf("%ld %s %llu %llu\n", tids[i], works[i].name,
		       (unsigned long long)(after[i][0] - before[i][0]),
		       (unsigned long long)(after[i][1] - before[i][1]));
	printf("done\n");
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) == NULL ? 0 : 1;
}
