/* SPDX-License-Identifier: MIT */
/*
 * test_sums.c - what the weights add up to: Wall to the threads' time, Overhead to the CPU time
 * that the kernel has counted, Latency to the time that passed, and the parallelism histogram to
 * the same CPU time; alone, and among rivals for the CPUs.
 */
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define RATE 400
#define SECONDS 4
#define THREADS_MOST 16u

/* What a report says that it is of, in seconds. */
struct sums {
	double wall, overhead, latency, average;
};

/* The number behind the words, in seconds if it is a time. */
static double
number_behind(const char *text, const char *words)
{
	const char *at = strstr(text, words);
	char *end;
	double number;

	if (at == NULL)
		harness_die("the report does not say \"%s\"", words);
	number = strtod(at + strlen(words), &end);
	if (strncmp(end, "ms", 2) == 0)
		number /= 1e3;
	else if (strncmp(end, "us", 2) == 0)
		number /= 1e6;
	return number;
}

static struct sums
read_sums(const char *text)
{
	return (struct sums){
		.wall = number_behind(text, "100% is "),
		.overhead = number_behind(text, "of Wall (all threads together), "),
		.latency = number_behind(text, "of Overhead (CPU time), "),
		.average = number_behind(text, "threads on a CPU at once, "),
	};
}

/* The CPU time of each thread, in seconds, and when it was read. */
static size_t
read_cpu(const struct target *target, double *cpu, double *at)
{
	pid_t tids[THREADS_MOST];
	const size_t count = inspect_threads(target->pid, tids, THREADS_MOST);

	*at = (double)harness_now_ns() / 1e9;
	for (size_t i = 0; i < count; i++)
		cpu[i] = (double)inspect_sched_time(target->pid, tids[i]).ran_ns / 1e9;
	return count;
}

/*
 * Each thread's share of a CPU is known as well as so many ticks tell; at worst all are wrong
 * together. Which of two threads has a CPU when the sampler takes one is not always seen.
 */
static double
cpu_bound(const double *share, size_t threads)
{
	double bound = 0.05;

	for (size_t i = 0; i < threads; i++)
		bound += harness_share_bound(fmin(share[i], 1), RATE * SECONDS);
	return bound * SECONDS;
}

static void
check_sums(const struct target *target)
{
	double before[THREADS_MOST], share[THREADS_MOST], began, ended, cpu = 0, bound;
	struct sums sums;
	struct run run;
	size_t threads;
	char program[] = "wallsample", overhead[] = "--max-overhead=100", rate[16], seconds[16],
	     pid[16];
	char *const words[] = { program, pid, rate, seconds, overhead, NULL };

	snprintf(pid, sizeof(pid), "-p%d", (int)target->pid);
	snprintf(rate, sizeof(rate), "-r%d", RATE);
	snprintf(seconds, sizeof(seconds), "-d%d", SECONDS);
	run_start_words(&run, words, NULL);
	CHECK(run_wait_sampling(&run), "wallsample has ended: %s", run.err);
	threads = read_cpu(target, before, &began);
	run_finish(&run);
	CHECK(read_cpu(target, share, &ended) == threads, "threads come and go");
	/* Lines are broken anywhere. */
	for (char *at = run.out; at != NULL && *at != '\0'; at++)
		if (*at == '\n')
			*at = ' ';
	sums = read_sums(run.out);
	/* The run lasts a little longer than it samples. */
	for (size_t i = 0; i < threads; i++) {
		share[i] = (share[i] - before[i]) / (ended - began);
		cpu += share[i] * SECONDS;
	}
	bound = cpu_bound(share, threads);
	printf("  %zu threads: %.2f s of Wall, %.2f of Overhead, %.2f of Latency, %.2f on CPUs; "
	       "in truth %.2f of CPU time +- %.2f\n", threads, sums.wall, sums.overhead,
	       sums.latency, sums.average * sums.latency, cpu, bound);
	/* Two ticks, and the two digits that are printed. */
	CHECK(fabs(sums.latency - SECONDS) < 0.05 * SECONDS, "%.2f s of Latency", sums.latency);
	CHECK(fabs(sums.wall - sums.latency * (double)threads) < 0.02 * (double)threads,
	      "%.2f s of Wall, %zu threads for %.2f s", sums.wall, threads, sums.latency);
	CHECK(fabs(sums.overhead - cpu) <= bound, "%.2f s of Overhead, %.2f +- %.2f of CPU time",
	      sums.overhead, cpu, bound);
	CHECK(fabs(sums.average * sums.latency - cpu) <= bound,
	      "the histogram has %.2f s, in truth %.2f +- %.2f of CPU time",
	      sums.average * sums.latency, cpu, bound);
	run_release(&run);
}

static void
alone(void)
{
	struct target target;

	harness_case("threads that run, wake often, and sleep");
	target_start(&target, "crowd", "1", "2", "5", NULL);
	check_sums(&target);
	target_finish(&target, NULL);
}

/* It waits for a CPU most of the time, which is no parallelism: late stops counted as such. */
static void
among_rivals(void)
{
	struct target target, rival;
	cpu_set_t all, one;
	int cpu = 0;

	harness_case("rivals for its CPU");
	if (sched_getaffinity(0, sizeof(all), &all) != 0) {
		harness_skip("the CPUs are not known");
		return;
	}
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	target_start(&target, "crowd", "1", "0", "1", NULL);
	target_start(&rival, "crowd", "3", "0", "0", NULL);
	sched_setaffinity(0, sizeof(all), &all);
	check_sums(&target);
	target_finish(&rival, NULL);
	target_finish(&target, NULL);
}

int
main(void)
{
	harness_begin(60);
	alone();
	among_rivals();
	return harness_end();
}
