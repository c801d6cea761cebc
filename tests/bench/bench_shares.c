/* SPDX-License-Identifier: MIT */
/*
 * bench_shares.c - a program that measures the shares of its functions.
 *
 *     bench_shares                                   prints the number of steps of 1 ms
 *     bench_shares STEPS THREADS SLEEP_US SECONDS
 *
 * Each thread repeats, for SECONDS seconds: 3/10 of STEPS in first(), 7/10 in second(), and if
 * SLEEP_US is not 0 a sleep. Prints the number of rounds, the CPU time of the process, and the time
 * in which its threads did not wait for a CPU, in seconds.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TRIALS 30
#define TRIAL_STEPS 200000UL
#define THREADS_MOST 1000

struct worker {
	pthread_t id;
	double rounds, life_s; /* results; life_s: without waits for a CPU */
};

static unsigned long steps; /* of one round */
static unsigned sleep_us;
static double seconds;
static volatile unsigned long sink;

#define WORK(name, factor)                                                                         \
	__attribute__((noinline)) static void name(unsigned long count)                            \
	{                                                                                          \
		unsigned long x = count;                                                           \
		for (unsigned long i = 0; i < count; i++) {                                        \
			x = x * (factor) + 1442695040888963407UL;                                  \
			__asm__ volatile("" : "+r"(x));                                            \
		}                                                                                  \
		sink = x;                                                                          \
	}
WORK(first, 6364136223846793005UL)
WORK(second, 3935559000370003845UL)

static double
seconds_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static unsigned long
steps_of_ms(void)
{
	double best = 1;

	for (int i = 0; i < TRIALS; i++) {
		const double began = seconds_of(CLOCK_THREAD_CPUTIME_ID);
		double step;

		first(TRIAL_STEPS);
		step = (seconds_of(CLOCK_THREAD_CPUTIME_ID) - began) / (double)TRIAL_STEPS;
		best = step < best ? step : best;
	}
	return (unsigned long)(1e-3 / best);
}

/* Returns the time for which the calling thread has waited for a CPU, in seconds. */
static double
waited_s(void)
{
	double cpu, waited = 0;
	FILE *counters = fopen("/proc/thread-self/schedstat", "r");

	if (counters == NULL)
		return 0;
	if (fscanf(counters, "%lf %lf", &cpu, &waited) != 2)
		waited = 0;
	fclose(counters);
	return waited * 1e-9;
}

static void *
work(void *context)
{
	struct worker *worker = context;
	const double began = seconds_of(CLOCK_MONOTONIC);

	while (seconds_of(CLOCK_MONOTONIC) < began + seconds) {
		first(steps * 3 / 10);
		second(steps * 7 / 10);
		worker->rounds++;
		if (sleep_us > 0)
			usleep(sleep_us);
	}
	worker->life_s = seconds_of(CLOCK_MONOTONIC) - began - waited_s();
	return NULL;
}

int
main(int argc, char **argv)
{
	static struct worker worker[THREADS_MOST];
	const int threads = argc == 5 ? atoi(argv[2]) : 0;
	struct worker sum = { .rounds = 0 };

	if (argc == 1) {
		printf("%lu\n", steps_of_ms());
		return 0;
	}
	if (threads < 1 || threads > THREADS_MOST)
		return 2;
	steps = strtoul(argv[1], NULL, 10);
	sleep_us = (unsigned)atoi(argv[3]);
	seconds = atof(argv[4]);
	for (int i = 1; i < threads; i++)
		if (pthread_create(&worker[i].id, NULL, work, &worker[i]) != 0)
			return 1;
	work(&worker[0]);
	for (int i = 0; i < threads; i++) {
		if (i > 0)
			pthread_join(worker[i].id, NULL);
		sum.rounds += worker[i].rounds;
		sum.life_s += worker[i].life_s;
	}
	printf("%.0f %.6f %.6f\n", sum.rounds, seconds_of(CLOCK_PROCESS_CPUTIME_ID), sum.life_s);
	return 0;
}
