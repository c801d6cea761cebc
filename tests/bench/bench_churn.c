/* SPDX-License-Identifier: MIT */
/*
 * A target of the bench: a thread that creates threads and joins them, as fast as
 * it can, and counts them.
 *
 * bench_churn BOARD
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench_board.h"

static struct board *board;

static void *
short_life(void *context)
{
	return context;
}

static void *
creator_main(void *context)
{
	for (;;) {
		pthread_t thread = (pthread_t)bench_thread(short_life, context);

		pthread_join(thread, NULL);
		board_count(board, 0);
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: bench_churn BOARD\n");
		return 64;
	}
	board = board_open(argv[1]);
	bench_thread(creator_main, NULL);
	target_serve(NULL, 0);
}
