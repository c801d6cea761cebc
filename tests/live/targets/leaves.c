/* SPDX-License-Identifier: MIT */
/*
 * leaves.c - the first thread ends by pthread_exit, the others go on.
 *
 * leaves now: before it says "ready"; leaves later: when told, and then "gone". One of the
 * others runs and counts its rounds in counter 0.
 */
#include "target.h"

void stay_f0(void), stay_leaf(void), keep(void);

static int gate[2];
static bool now;
static struct target_counters *counters;

FRAME void
stay_leaf(void)
{
	target_here();
	while (!target_over)
		counters->value[0]++;
	KEEP_FRAME();
}

FRAME void
stay_f0(void)
{
	stay_leaf();
	KEEP_FRAME();
}

/* The first thread has ended when only its remains are there. */
static void
send_off(void)
{
	if (write(gate[1], "", 1) != 1)
		target_fail("write");
	while (target_task_state((int)getpid()) != 'Z')
		sched_yield();
}

/* Speaks with the test in the first thread's stead. */
FRAME void
keep(void)
{
	target_here();
	if (now)
		send_off();
	target_ready();
	while (target_told())
		if (!now) {
			send_off();
			target_say("gone\n");
		}
	_exit(0);
}

static struct target_thread threads[] = {
	{.name = "stays", .run = stay_f0},
	{.name = "keeper", .run = keep},
};

int
main(int argc, char **argv)
{
	char c;

	now = argc > 1 && strcmp(argv[1], "now") == 0;
	counters = target_counters();
	if (pipe(gate) != 0)
		target_fail("pipe");
	target_start(threads, 2, 0);
	if (read(gate[0], &c, 1) != 1)
		target_fail("read");
	pthread_exit(NULL);
}
