/* SPDX-License-Identifier: MIT */
/*
 * shares.c - threads that divide their time in known shares.
 *
 * shares twins N: N threads "twin", each 7 ms of CPU time in f70, 3 ms in f30, and so on.
 * shares half [US]: one thread "half", US microseconds (default: 20,000) asleep in rest, then as
 * long busy in toil, and so on.
 * At the end of its input it prints "f70 NS", "f30 NS" (CPU time) or "rest NS", "toil NS"
 * (wall time) and "cpu NS" (the thread's own clock), summed over the threads; and of each
 * twin "wall70_TID NS", "wall30_TID NS": on a busy machine waiting for a CPU counts, too.
 */
#include "target.h"

void twin(void), f70(uint64_t), f30(uint64_t), half(void), rest(uint64_t), toil(uint64_t);

#define MS UINT64_C(1000000)

static uint64_t half_ns = 20 * MS;
static _Atomic uint64_t first_ns, second_ns, cpu_ns;
static _Atomic bool asked;
static _Atomic int answered;

/* Busy until the thread's CPU clock says so; most of the time is not in the clock. */
__attribute__((always_inline)) static inline void
burn(uint64_t until_ns)
{
	while (target_clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		for (int i = 0; i < 20000; i++)
			target_sink++;
}

FRAME void
f70(uint64_t until_ns)
{
	burn(until_ns);
	target_sink = 70;
}

FRAME void
f30(uint64_t until_ns)
{
	burn(until_ns);
	target_sink = 30;
}

FRAME void
twin(void)
{
	uint64_t now = target_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t wall[2] = {0, 0}, began = target_clock_ns(CLOCK_MONOTONIC);

	target_here();
	while (!asked) {
		f70(now + 7 * MS);
		uint64_t middle = target_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		uint64_t between = target_clock_ns(CLOCK_MONOTONIC);
		f30(middle + 3 * MS);
		uint64_t end = target_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		uint64_t ended = target_clock_ns(CLOCK_MONOTONIC);
		wall[0] += between - began;
		wall[1] += ended - between;
		began = ended;
		first_ns += middle - now;
		second_ns += end - middle;
		now = end;
	}
	printf("wall70_%d %llu\nwall30_%d %llu\n", (int)gettid(), (unsigned long long)wall[0],
	       (int)gettid(), (unsigned long long)wall[1]);
	cpu_ns += target_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	answered++;
	KEEP_FRAME();
}

FRAME void
rest(uint64_t until_ns)
{
	const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000u),
				       .tv_nsec = (long)(until_ns % 1000000000u)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
	KEEP_FRAME();
}

FRAME void
toil(uint64_t until_ns)
{
	while (target_clock_ns(CLOCK_MONOTONIC) < until_ns)
		for (int i = 0; i < 2000; i++)
			target_sink++;
	target_sink = 20;
}

FRAME void
half(void)
{
	uint64_t now = target_clock_ns(CLOCK_MONOTONIC);

	target_here();
	while (!asked) {
		rest(now + half_ns);
		uint64_t middle = target_clock_ns(CLOCK_MONOTONIC);
		toil(middle + half_ns);
		uint64_t end = target_clock_ns(CLOCK_MONOTONIC);
		first_ns += middle - now;
		second_ns += end - middle;
		now = end;
	}
	cpu_ns += target_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	answered++;
	KEEP_FRAME();
}

int
main(int argc, char **argv)
{
	struct target_thread threads[8];
	size_t count = 1;

	if (argc < 2)
		return 64;
	const bool twins = strcmp(argv[1], "twins") == 0;
	if (twins && argc > 2)
		count = strtoul(argv[2], NULL, 10);
	if (!twins && argc > 2)
		half_ns = strtoul(argv[2], NULL, 10) * (MS / 1000);
	if (count < 1 || count > 8)
		return 64;
	for (size_t i = 0; i < count; i++)
		threads[i] = (struct target_thread){.name = twins ? "twin" : "half",
						    .run = twins ? twin : half};
	target_start(threads, count, 0);
	target_wait(threads, count);
	target_ready();
	while (target_told())
		;
	asked = true;
	for (size_t i = 0; i < count; i++)
		pthread_join(threads[i].thread, NULL);
	printf("%s %llu\n%s %llu\ncpu %llu\n", twins ? "f70" : "rest",
	       (unsigned long long)first_ns, twins ? "f30" : "toil",
	       (unsigned long long)second_ns, (unsigned long long)cpu_ns);
	return 0;
}
