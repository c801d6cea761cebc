/* SPDX-License-Identifier: MIT */
/*
 * crowd.c - crowd SPINNERS HOT PARKED [NAPPERS]: threads that spin, threads that wake once a
 * millisecond out of epoll_wait, threads that stay blocked in read(2), threads that wake every 20
 * milliseconds out of epoll_wait.
 *
 * Every spinner, hot thread and napper counts its rounds in a counter of its own, in this order
 * from 0 on; each EINTR of a hot thread or napper counts in counter 62, each return of a parked
 * thread in 63.
 */
#include <sys/epoll.h>

#include "target.h"

void spin(void), spin_leaf(_Atomic uint64_t *), hot(void), hot_leaf(int, _Atomic uint64_t *);
void nap(void);
void park_f0(void), park_f1(void), park_f2(void), work(uint64_t);

#define MOST 128

static struct target_counters *counters;
static struct target_thread threads[MOST];

static _Atomic uint64_t *
own_counter(void)
{
	return &counters->value[target_self - threads];
}

FRAME void
spin_leaf(_Atomic uint64_t *counter)
{
	target_here();
	while (!target_over)
		(*counter)++;
	KEEP_FRAME();
}

FRAME void
spin(void)
{
	spin_leaf(own_counter());
	KEEP_FRAME();
}

FRAME void
work(uint64_t rounds)
{
	while (rounds-- > 0)
		target_sink++;
	KEEP_FRAME();
}

FRAME void
hot_leaf(int fd, _Atomic uint64_t *counter)
{
	struct epoll_event event;

	while (!target_over) {
		if (epoll_wait(fd, &event, 1, 1) < 0)
			counters->value[62]++;
		uint64_t round = (*counter)++;
		/* Busy for between nothing and about a quarter of a millisecond. */
		work(round * 7919 % 100000);
		target_here();
	}
	KEEP_FRAME();
}

FRAME void
hot(void)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		target_fail("epoll_create1");
	hot_leaf(fd, own_counter());
	KEEP_FRAME();
}

FRAME void
nap(void)
{
	_Atomic uint64_t *const counter = own_counter();
	const int fd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event;

	if (fd < 0)
		target_fail("epoll_create1");
	while (!target_over) {
		if (epoll_wait(fd, &event, 1, 20) < 0)
			counters->value[62]++;
		(*counter)++;
		target_here();
	}
	KEEP_FRAME();
}

FRAME void
park_f2(void)
{
	int ends[2];
	char c;

	if (pipe(ends) != 0)
		target_fail("pipe");
	target_here();
	target_sink += (unsigned long)read(ends[0], &c, 1);
	counters->value[63]++;
}

FRAME void
park_f1(void)
{
	park_f2();
	KEEP_FRAME();
}

FRAME void
park_f0(void)
{
	park_f1();
	KEEP_FRAME();
}

int
main(int argc, char **argv)
{
	if (argc != 4 && argc != 5)
		return 64;
	const size_t spinners = strtoul(argv[1], NULL, 10), hots = strtoul(argv[2], NULL, 10),
		     parked = strtoul(argv[3], NULL, 10),
		     nappers = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
	const size_t counted = spinners + hots + nappers;
	if (counted > 60 || counted + parked > MOST)
		return 64;

	counters = target_counters();
	for (size_t i = 0; i < counted + parked; i++) {
		if (i < spinners)
			threads[i] = (struct target_thread){.name = "spinner", .run = spin};
		else if (i < spinners + hots)
			threads[i] = (struct target_thread){.name = "hot", .run = hot};
		else if (i < counted)
			threads[i] = (struct target_thread){.name = "napper", .run = nap};
		else
			threads[i] = (struct target_thread){
				.name = "parked", .run = park_f0, .sleeps = true};
	}
	return target_main(threads, counted + parked, 65536);
}
