/* SPDX-License-Identifier: MIT */
/*
 * bench_board.h - what a target of the bench shares with the one who measures it:
 * counters in a mapped file, a line when it is ready, and an end when its standard
 * input ends, so that no target outlives the bench.
 */
#ifndef BENCH_BOARD_H
#define BENCH_BOARD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BOARD_CELLS 256

/* One writer each, and a cache line each, so that counting costs the target nothing. */
struct board_cell {
	_Alignas(64) _Atomic uint64_t count;
};

struct board {
	struct board_cell cell[BOARD_CELLS];
};

/* Maps the file, which must exist; grows it to size. Ends the program on failure. */
struct board *board_open(const char *path);

/* One more unit of work done by the owner of the cell. */
void board_count(struct board *board, size_t cell);

uint64_t board_total(const struct board *board);

/* A number in [min, max] from the command line, or the end of the program. */
uint64_t bench_number(const char *text, uint64_t min, uint64_t max);

/* Says what failed, with errno's text, and ends the program. */
_Noreturn void bench_die(const char *what);

uint64_t bench_now_ns(void);

/* A thread with a small stack, joinable, or the end of the program. */
unsigned long bench_thread(void *(*begin)(void *), void *context);

/* Keeps the calling process to its first `cpus` CPUs; 0: as it is. */
void bench_limit_cpus(unsigned cpus);

/* Prints "ready PID TID,TID" for the bench, then waits for the end of standard input. */
_Noreturn void target_serve(const pid_t *busy, size_t count);

#endif
