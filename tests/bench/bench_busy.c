/* SPDX-License-Identifier: MIT */
/*
 * A target of the bench: busy threads that count units of work, and blocked ones
 * that sleep at the bottom of a stack of known depth.
 *
 * bench_busy BOARD BUSY BLOCKED DEPTH CPUS
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench_board.h"

#define MAX_BUSY 64
#define WORK_WORDS 2048 /* 16 KiB: lies in the first cache, where a stop shows */

static struct board *board;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static uint64_t blocked_now, busy_now;
static volatile bool released; /* never: but the compiler must not know */
static uint64_t depth;
static pid_t busy_tid[MAX_BUSY];

static uint64_t
unit_of_work(uint64_t *words, uint64_t hash)
{
	for (size_t i = 0; i < WORK_WORDS; i++) {
		hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
		words[i] += hash >> 32;
	}
	return hash;
}

static void *
busy_main(void *context)
{
	uint64_t words[WORK_WORDS] = { 0 };
	size_t cell = (size_t)(uintptr_t)context;
	uint64_t hash = cell;

	pthread_mutex_lock(&lock);
	busy_tid[cell] = (pid_t)syscall(SYS_gettid);
	busy_now++;
	pthread_cond_signal(&arrived);
	pthread_mutex_unlock(&lock);
	for (;;) {
		hash = unit_of_work(words, hash);
		__asm__ volatile("" : : "r"(hash));
		board_count(board, cell);
	}
	return NULL;
}

static void
wait_for_ever(void)
{
	pthread_mutex_lock(&lock);
	blocked_now++;
	pthread_cond_signal(&arrived);
	while (!released)
		pthread_cond_wait(&never, &lock);
	pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static uint64_t
descend(uint64_t left)
{
	uint64_t below = 0;

	if (left == 0)
		wait_for_ever();
	else
		below = descend(left - 1);
	/* Something to do on the way back, or the call would become a jump. */
	__asm__ volatile("" : "+r"(below));
	return below + left;
}

static void *
blocked_main(void *context)
{
	(void)context;
	descend(depth);
	return NULL;
}

/* Under the lock, "counted" means "asleep": the wait is what gives the lock back. */
static void
wait_until_all_stand(uint64_t busy, uint64_t blocked)
{
	pthread_mutex_lock(&lock);
	while (busy_now < busy || blocked_now < blocked)
		pthread_cond_wait(&arrived, &lock);
	pthread_mutex_unlock(&lock);
}

int
main(int argc, char **argv)
{
	uint64_t busy, blocked;

	if (argc != 6) {
		fprintf(stderr, "usage: bench_busy BOARD BUSY BLOCKED DEPTH CPUS\n");
		return 64;
	}
	board = board_open(argv[1]);
	busy = bench_number(argv[2], 0, MAX_BUSY);
	blocked = bench_number(argv[3], 0, 20000);
	depth = bench_number(argv[4], 1, 200);
	bench_limit_cpus((unsigned)bench_number(argv[5], 0, 1024));
	for (uint64_t i = 0; i < blocked; i++)
		bench_thread(blocked_main, NULL);
	for (uint64_t i = 0; i < busy; i++)
		bench_thread(busy_main, (void *)(uintptr_t)i);
	wait_until_all_stand(busy, blocked);
	target_serve(busy_tid, busy);
}
