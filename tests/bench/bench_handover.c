/* SPDX-License-Identifier: MIT */
/*
 * A target of the bench: threads in rings that hand work to their neighbour through
 * a mutex and a condition variable. Rings of two are pairs.
 *
 * bench_handover BOARD THREADS RING TOKENS DEPTH
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench_board.h"

#define WORK_WORDS 128 /* some 100 ns a handover: the switch is what counts */

struct seat {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	uint64_t tokens;
	struct seat *next;
	size_t cell;
};

static struct board *board;
static uint64_t depth;
static volatile bool released; /* never: but the compiler must not know */

static void
take_work(struct seat *seat)
{
	pthread_mutex_lock(&seat->lock);
	while (seat->tokens == 0)
		pthread_cond_wait(&seat->filled, &seat->lock);
	seat->tokens--;
	pthread_mutex_unlock(&seat->lock);
}

static void
hand_work(struct seat *seat)
{
	pthread_mutex_lock(&seat->lock);
	seat->tokens++;
	pthread_cond_signal(&seat->filled);
	pthread_mutex_unlock(&seat->lock);
}

static uint64_t
hand_on(struct seat *seat)
{
	uint64_t hash = seat->cell;

	while (!released) {
		take_work(seat);
		for (size_t i = 0; i < WORK_WORDS; i++)
			hash = (hash ^ i) * UINT64_C(0x9e3779b97f4a7c15);
		__asm__ volatile("" : : "r"(hash));
		board_count(board, seat->cell);
		hand_work(seat->next);
	}
	return hash;
}

__attribute__((noinline)) static uint64_t
descend(struct seat *seat, uint64_t left)
{
	uint64_t below = left > 0 ? descend(seat, left - 1) : hand_on(seat);

	/* Something to do on the way back, or the call would become a jump. */
	__asm__ volatile("" : "+r"(below));
	return below + left;
}

static void *
seat_main(void *context)
{
	descend(context, depth);
	return NULL;
}

int
main(int argc, char **argv)
{
	uint64_t threads, ring, tokens;
	struct seat *seats;

	if (argc != 6) {
		fprintf(stderr, "usage: bench_handover BOARD THREADS RING TOKENS DEPTH\n");
		return 64;
	}
	board = board_open(argv[1]);
	threads = bench_number(argv[2], 2, BOARD_CELLS);
	ring = bench_number(argv[3], 2, threads);
	tokens = bench_number(argv[4], 1, ring);
	depth = bench_number(argv[5], 0, 200);
	seats = calloc(threads, sizeof(*seats));
	if (seats == NULL || threads % ring != 0)
		bench_die("the threads do not make whole rings");
	for (uint64_t i = 0; i < threads; i++) {
		uint64_t place = i % ring, first = i - place;

		pthread_mutex_init(&seats[i].lock, NULL);
		pthread_cond_init(&seats[i].filled, NULL);
		seats[i].cell = i;
		seats[i].next = &seats[first + (place + 1) % ring];
		seats[i].tokens = place < tokens;
	}
	for (uint64_t i = 0; i < threads; i++)
		bench_thread(seat_main, &seats[i]);
	target_serve(NULL, 0);
}
