/* SPDX-License-Identifier: MIT */
/*
 * gdbjit_code.c - the code that the target gdbjit loads as a compiler at run time would: as an
 * object file, and linked to a fixed address. It calls nothing but itself and what it is handed.
 */
#include "gdbjit.h"

/* Compiled with -O1: neither inlined nor cloned, each has a frame and its name. */
#define CODE __attribute__((noinline))

static CODE long
inside_leaf(struct gdbjit_host *host, long x)
{
	volatile char room[72];

	room[x & 63] = (char)x;
	while (!host->waits && !*host->over) {
		host->counter++;
		x = x * 3 + room[x & 63];
	}
	if (host->waits)
		x += host->wait(host);
	return x + room[1];
}

static CODE long
inside_middle(struct gdbjit_host *host, long a, long b, long c)
{
	volatile long room[37];

	room[a & 31] = b;
	room[0] += inside_leaf(host, a) + inside_leaf(host, b * c);
	return room[0] + a * b - c;
}

CODE long
inside_top(struct gdbjit_host *host)
{
	long sum = 0;

	for (long i = 0; i < 3; i++)
		sum += inside_middle(host, i, sum, i * sum) + i;
	return sum;
}
