/* SPDX-License-Identifier: MIT */
/*
 * bench_calls.c - a program with known shares of CPU time: rounds of two thirds of US microseconds
 * in first(), a third in second(), and one short system call in call().
 *
 *     bench_calls US CALL SECONDS
 *
 * CALL: getppid, pwrite (4 KiB to a file in memory), zero (open, read 64 KiB and close /dev/zero).
 * Prints the process id, then at the end the CPU time and its shares in percent, from the number of
 * rounds and the duration of the work of one, measured before.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_AT_ONCE 64
#define TRIALS 30
#define TRIAL_STEPS 200000UL

static volatile unsigned long sink;
static char buffer[1 << 16];
static int file = -1;

#define WORK(name, factor)                                                                         \
	__attribute__((noinline)) static void name(unsigned long steps)                            \
	{                                                                                          \
		unsigned long x = steps;                                                           \
		for (unsigned long i = 0; i < steps; i++) {                                        \
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

__attribute__((noinline)) static void
call(char kind)
{
	if (kind == 'g') {
		sink = (unsigned long)syscall(SYS_getppid);
	} else if (kind == 'p') {
		sink = (unsigned long)pwrite(file, buffer, 4096, 0);
	} else {
		int zero = open("/dev/zero", O_RDONLY);

		sink = (unsigned long)read(zero, buffer, sizeof(buffer));
		close(zero);
	}
	__asm__ volatile("" ::: "memory");
}

/* Returns the shortest duration of a step of work, in seconds. */
static double
time_of_step(void)
{
	double best = 1;

	for (int i = 0; i < TRIALS; i++) {
		const double began = seconds_of(CLOCK_THREAD_CPUTIME_ID);
		double step;

		first(TRIAL_STEPS);
		step = (seconds_of(CLOCK_THREAD_CPUTIME_ID) - began) / (double)TRIAL_STEPS;
		best = step < best ? step : best;
	}
	return best;
}

int
main(int argc, char **argv)
{
	unsigned long steps;
	double step, end, rounds = 0, work, cpu;

	if (argc != 4)
		return 2;
	step = time_of_step();
	steps = (unsigned long)(atof(argv[1]) * 1e-6 / step);
	end = seconds_of(CLOCK_MONOTONIC) + atof(argv[3]);
	file = memfd_create("bench_calls", 0);
	printf("%ld\n", (long)getpid());
	fflush(stdout);
	cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID);
	while (seconds_of(CLOCK_MONOTONIC) < end) {
		for (int i = 0; i < ROUNDS_AT_ONCE; i++) {
			first(steps * 2 / 3);
			second(steps / 3);
			call(argv[2][0]);
		}
		rounds += ROUNDS_AT_ONCE;
	}
	cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu;
	work = 100 * rounds * (double)steps * step / cpu;
	printf("%.3f %.1f %.1f %.1f\n", cpu, work * 2 / 3, work / 3, 100 - work);
	return 0;
}
