/* SPDX-License-Identifier: MIT */
/*
 * throng.c - throng N: so many threads, "throng", that wait for ever, or as many as the
 * system permits; counter 0 says how many there are.
 */
#include <limits.h>

#include "target.h"

void *throng_f0(void *), throng_leaf(void);

FRAME void
throng_leaf(void)
{
	while (!target_over)
		pause();
	KEEP_FRAME();
}

FRAME void *
throng_f0(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "throng");
	throng_leaf();
	KEEP_FRAME();
	return NULL;
}

int
main(int argc, char **argv)
{
	struct target_counters *counters = target_counters();
	long wanted = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384 + (size_t)PTHREAD_STACK_MIN);
	for (long i = 0; i < wanted; i++) {
		pthread_t thread;

		if (pthread_create(&thread, &attr, throng_f0, NULL) != 0)
			break;
		counters->value[0]++;
	}
	target_ready();
	while (target_told())
		;
	return 0;
}
