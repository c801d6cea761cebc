/* SPDX-License-Identifier: MIT */
/*
 * channel.c - channel N: so many threads take from one channel, which is fed an item each ten
 * milliseconds.
 */
#include <limits.h>

#include "target.h"

#define MOST 4096
#define FEED_US 10000

struct {
	pthread_mutex_t mutex;
	pthread_cond_t fed;
	unsigned items;
} channel = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };

void take(void), feed(void);

FRAME void
take(void)
{
	pthread_mutex_lock(&channel.mutex);
	while (channel.items == 0)
		pthread_cond_wait(&channel.fed, &channel.mutex);
	channel.items--;
	pthread_mutex_unlock(&channel.mutex);
	KEEP_FRAME();
}

FRAME void
feed(void)
{
	usleep(FEED_US);
	pthread_mutex_lock(&channel.mutex);
	channel.items++;
	pthread_cond_signal(&channel.fed);
	pthread_mutex_unlock(&channel.mutex);
	KEEP_FRAME();
}

static void
take_all(void)
{
	target_here();
	while (!target_over)
		take();
}

static void
feed_all(void)
{
	target_here();
	while (!target_over)
		feed();
}

int
main(int argc, char **argv)
{
	static struct target_thread threads[1 + MOST] = { { .name = "feeder", .run = feed_all } };
	const size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

	if (count == 0 || count > MOST)
		return 64;
	for (size_t i = 1; i <= count; i++)
		threads[i] = (struct target_thread){ .name = "taker", .run = take_all };
	return target_main(threads, 1 + count, 65536 + (size_t)PTHREAD_STACK_MIN);
}
