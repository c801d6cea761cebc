/* SPDX-License-Identifier: MIT */
/*
 * slow_calls.c - a library for LD_PRELOAD that slows a function of another library by a known
 * amount, for accuracy_slowed.py.
 *
 * SLOW_FUNCTION: compress2 or sqlite3_step. SLOW_PERCENT: after each call, slow_burn() uses this
 * share of the CPU time of the call. SLOW_FILE: a file of two 64-bit numbers in which the CPU time
 * of the calls, without and with that of slow_burn(), is added up, in ns, by the clock of the
 * calling thread.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#define TRIALS 30
#define TRIAL_STEPS 100000UL

static _Atomic uint64_t spare[2], *sums = spare;
static double steps_per_ns, factor;
static const char *slowed = "";
static int (*real_compress2)(Bytef *, uLongf *, const Bytef *, uLong, int);
static int (*real_step)(void *);

static uint64_t
cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) void slow_burn(unsigned long steps);

void
slow_burn(unsigned long steps)
{
	unsigned long x = steps;

	for (unsigned long i = 0; i < steps; i++) {
		x = x * 6364136223846793005UL + 1442695040888963407UL;
		__asm__ volatile("" : "+r"(x));
	}
}

/* Slows a call of `function` that began at began_ns of CPU time and is over. */
static void
slow(const char *function, uint64_t began_ns)
{
	const uint64_t own_ns = cpu_ns() - began_ns;

	if (strcmp(function, slowed) != 0)
		return;
	if (factor > 0)
		slow_burn((unsigned long)((double)own_ns * factor * steps_per_ns));
	atomic_fetch_add(&sums[0], own_ns);
	atomic_fetch_add(&sums[1], cpu_ns() - began_ns);
}

__attribute__((constructor)) static void
prepare(void)
{
	const char *path = getenv("SLOW_FILE"), *percent = getenv("SLOW_PERCENT");
	const int file = path != NULL ? open(path, O_RDWR) : -1;
	void *memory = MAP_FAILED;

	*(void **)&real_compress2 = dlsym(RTLD_NEXT, "compress2");
	*(void **)&real_step = dlsym(RTLD_NEXT, "sqlite3_step");
	if (file >= 0)
		memory = mmap(NULL, sizeof(spare), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (memory != MAP_FAILED)
		sums = memory;
	for (int i = 0; i < TRIALS; i++) {
		const uint64_t began = cpu_ns();
		double speed;

		slow_burn(TRIAL_STEPS);
		speed = (double)TRIAL_STEPS / (double)(cpu_ns() - began);
		steps_per_ns = speed > steps_per_ns ? speed : steps_per_ns;
	}
	factor = percent != NULL ? atof(percent) / 100 : 0;
	if (getenv("SLOW_FUNCTION") != NULL)
		slowed = getenv("SLOW_FUNCTION");
}

int
compress2(Bytef *to, uLongf *length, const Bytef *from, uLong size, int level)
{
	const uint64_t began = cpu_ns();
	const int result = real_compress2(to, length, from, size, level);

	slow("compress2", began);
	return result;
}

int sqlite3_step(void *statement);

int
sqlite3_step(void *statement)
{
	const uint64_t began = cpu_ns();
	const int result = real_step(statement);

	slow("sqlite3_step", began);
	return result;
}
