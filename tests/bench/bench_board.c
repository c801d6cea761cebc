/* SPDX-License-Identifier: MIT */
/* The part that all targets of the bench have in common. */
#include "bench_board.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Thousands of threads must fit: 64 KiB hold 30 frames many times over. */
#define STACK_BYTES ((size_t)64 << 10)

_Noreturn void
bench_die(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

uint64_t
bench_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * UINT64_C(1000000000) + (uint64_t)ts.tv_nsec;
}

uint64_t
bench_number(const char *text, uint64_t min, uint64_t max)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0 || value < min || value > max) {
		fprintf(stderr, "bench: '%s' is not a number from %llu to %llu\n", text,
			(unsigned long long)min, (unsigned long long)max);
		exit(64);
	}
	return value;
}

struct board *
board_open(const char *path)
{
	struct board *board;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0 || ftruncate(fd, sizeof(*board)) < 0)
		bench_die(path);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (board == MAP_FAILED)
		bench_die(path);
	close(fd);
	return board;
}

void
board_count(struct board *board, size_t cell)
{
	_Atomic uint64_t *count = &board->cell[cell % BOARD_CELLS].count;

	/* One writer: a plain load and store do, without a locked instruction. */
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

uint64_t
board_total(const struct board *board)
{
	uint64_t total = 0;

	for (size_t i = 0; i < BOARD_CELLS; i++)
		total += atomic_load_explicit(&board->cell[i].count, memory_order_relaxed);
	return total;
}

unsigned long
bench_thread(void *(*begin)(void *), void *context)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	errno = pthread_create(&thread, &attr, begin, context);
	if (errno != 0)
		bench_die("a thread cannot be created");
	pthread_attr_destroy(&attr);
	return (unsigned long)thread;
}

void
bench_limit_cpus(unsigned cpus)
{
	cpu_set_t allowed, wanted;
	unsigned taken = 0;

	if (cpus == 0 || sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return;
	CPU_ZERO(&wanted);
	for (int cpu = 0; cpu < CPU_SETSIZE && taken < cpus; cpu++) {
		if (CPU_ISSET(cpu, &allowed)) {
			CPU_SET(cpu, &wanted);
			taken++;
		}
	}
	if (sched_setaffinity(0, sizeof(wanted), &wanted) < 0)
		bench_die("sched_setaffinity");
}

_Noreturn void
target_serve(const pid_t *busy, size_t count)
{
	char byte;

	printf("ready %d ", (int)getpid());
	for (size_t i = 0; i < count; i++)
		printf("%s%d", i > 0 ? "," : "", (int)busy[i]);
	printf("%s\n", count == 0 ? "-" : "");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0 || errno == EINTR)
		continue;
	_exit(0);
}
