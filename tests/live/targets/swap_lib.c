/* SPDX-License-Identifier: MIT */
/*
 * swap_lib.c - a library with one function that computes for a while and one around it, built
 * under two names as two libraries of the same size.
 */
#include <stdint.h>
#include <time.h>

#define PASTE(a, b) a##b
#define NAME(library, rest) PASTE(library, rest)
#define OUTER NAME(LIBRARY, _outer)
#define INNER NAME(LIBRARY, _inner)

uint64_t swap_run(uint64_t until_ns);
uint64_t OUTER(uint64_t until_ns);
uint64_t INNER(uint64_t until_ns);

/* Between looks at the clock, which would be samples of its own. */
#define ROUNDS 20000

__attribute__((noinline)) uint64_t
INNER(uint64_t until_ns)
{
	volatile uint64_t sink = 0;
	struct timespec now;

	do {
		for (unsigned i = 0; i < ROUNDS; i++)
			sink += i;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec < until_ns);
	return sink;
}

__attribute__((noinline)) uint64_t
OUTER(uint64_t until_ns)
{
	return INNER(until_ns) + 1;
}

uint64_t
swap_run(uint64_t until_ns)
{
	return OUTER(until_ns) + 2;
}
