/* SPDX-License-Identifier: MIT */
/*
 * test_sums.c - what the weights add up to: Wall to the threads' time, CPU to the CPU time
 * that the kernel has counted, Latency to the time that passed, and the parallelism histogram to
 * the same CPU time; alone, and among rivals for the CPUs.
 */
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness.h"

#define RATE 400
#define SECONDS 4

/* What a report says that it is of, in seconds. */
struct sums {
	double wall, overhead, latency, average;
	double sampled; /* how long it was sampled: on a busy machine more than SECONDS */
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
		.latency = number_behind(text, "of CPU time, "),
		.average = number_behind(text, "threads on a CPU at once, "),
		.sampled = number_behind(text, "Sampled "),
	};
}

/* The CPU time of the process, in seconds. */
static double
read_cpu(const struct target *target)
{
	struct timespec time = { 0, 0 };
	clockid_t clock;

	if (clock_getcpuclockid(target->pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
		harness_die("the clock of process %d cannot be read", (int)target->pid);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/*
 * What a report says of the process meanwhile, sampling with so many percent of a CPU; *cpu is
 * the kernel's count for the same time.
 */
static struct sums
sample(const struct target *target, unsigned percent, double *cpu)
{
	char program[] = "wallsample", overhead[32], rate[16], seconds[16], pid[16],
	     stopped[] = "--max-stopped=100", full[] = "--full";
	char *const words[] = { program, pid, rate, seconds, overhead, stopped, full, NULL };
	struct sums sums;
	struct run run;
	double began;

	snprintf(overhead, sizeof(overhead), "--max-overhead=%u", percent);
	snprintf(pid, sizeof(pid), "-p%d", (int)target->pid);
	snprintf(rate, sizeof(rate), "-r%d", RATE);
	snprintf(seconds, sizeof(seconds), "-d%d", SECONDS);
	run_start_words(&run, words, NULL);
	CHECK(run_wait_sampling(&run), "wallsample has ended: %s", run.err);
	began = (double)harness_now_ns() / 1e9;
	*cpu = read_cpu(target);
	run_finish(&run);
	/* The run lasts a little longer than it samples. */
	*cpu = (read_cpu(target) - *cpu) * SECONDS / ((double)harness_now_ns() / 1e9 - began);
	/* Lines are broken anywhere. */
	for (char *at = run.out; at != NULL && *at != '\0'; at++)
		if (*at == '\n')
			*at = ' ';
	sums = read_sums(run.out);
	run_release(&run);
	return sums;
}

/*
 * With rivals for its CPU a thread is taken for one that runs too often, see BIASES in
 * wallsample-theory(7): this much at most. What this is to find made it three to nine times as
 * much. Ticks that weighed the time since the one before, up to 1.45 times, are not found: of a
 * thread with a quarter of a CPU chance is allowed 0.3 s of 1, and the bound lies at 1.5 times.
 */
#define AMONG_RIVALS 0.2

/*
 * `at_once` threads that do the same at worst: their CPU time is known as well as so many ticks
 * tell. Which of two threads has a CPU when the sampler takes one is not always seen.
 */
static double
cpu_bound(double cpu, unsigned at_once, bool rivals)
{
	const double share = fmin(cpu / SECONDS / at_once, 1);

	return SECONDS * at_once * harness_share_bound(share, RATE * SECONDS) +
	       (rivals ? AMONG_RIVALS * cpu : 0.05 * SECONDS * at_once);
}

/* The sums, and whether those of CPU time are right as far as is asked for. */
static void
check_sums(const struct target *target, unsigned at_once, unsigned threads, bool overhead,
	   bool rivals)
{
	double cpu, bound;
	const struct sums sums = sample(target, 100, &cpu);

	bound = cpu_bound(cpu, at_once, rivals);
	printf("  %u threads: %.2f s of Wall, %.2f of CPU time, %.2f of Latency, %.2f on CPUs; "
	       "in truth %.2f of CPU time +- %.2f\n", threads, sums.wall, sums.overhead,
	       sums.latency, sums.average * sums.latency, cpu, bound);
	/* Two ticks, and the two digits that are printed. */
	CHECK(fabs(sums.latency - sums.sampled) < 0.01 * sums.sampled,
	      "%.2f s of Latency, %.2f s sampled", sums.latency, sums.sampled);
	CHECK(fabs(sums.average * sums.latency - cpu) <= bound,
	      "the histogram has %.2f s, in truth %.2f +- %.2f of CPU time",
	      sums.average * sums.latency, cpu, bound);
	if (!overhead)
		return;
	CHECK(fabs(sums.wall - sums.latency * threads) < 0.02 * threads,
	      "%.2f s of Wall, %u threads for %.2f s", sums.wall, threads, sums.latency);
	CHECK(fabs(sums.overhead - cpu) <= bound, "%.2f s of CPU time, %.2f +- %.2f of CPU time",
	      sums.overhead, cpu, bound);
}

static void
alone(void)
{
	struct target target;

	harness_case("threads that run, wake often, and sleep");
	target_start(&target, "crowd", "1", "2", "5", NULL);
	check_sums(&target, 3, 9, true, false);
	target_finish(&target, NULL);
}

/* Whatever is started from now on has one CPU. False when that cannot be. */
static bool
take_one_cpu(cpu_set_t *all)
{
	cpu_set_t one;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(*all), all) != 0) {
		harness_skip("the CPUs are not known");
		return false;
	}
	while (!CPU_ISSET(cpu, all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	return true;
}

/* It waits for a CPU most of the time, which is no parallelism: late stops counted as such. */
static void
among_rivals(void)
{
	struct target target, rival;
	cpu_set_t all;

	harness_case("rivals for its CPU");
	if (!take_one_cpu(&all))
		return;
	target_start(&target, "crowd", "1", "0", "1", NULL);
	target_start(&rival, "crowd", "3", "0", "0", NULL);
	sched_setaffinity(0, sizeof(all), &all);
	check_sums(&target, 1, 3, true, true);
	target_finish(&rival, NULL);
	target_finish(&target, NULL);
}

/*
 * One of many runs at any time, and most of them are not looked at then: the time in which it
 * was one of these counted as time in which nobody could run. What each of them used is
 * known only roughly, so that the sum of CPU is not tested.
 */
static void
in_turns(void)
{
	struct target target;

	harness_case("many threads that take turns");
	target_start(&target, "ring", "600", NULL);
	check_sums(&target, 1, 601, false, false);
	target_finish(&target, NULL);
}

/*
 * Threads that are late and not looked at each tick have been charged for the ticks at which they
 * were; when what they did at the others was charged as well, there was more real time than
 * had passed, by 4 to 45 %.
 */
static void
thinned(void)
{
	struct target target;
	cpu_set_t all;
	struct sums sums;
	double cpu;

	harness_case("late threads that are seldom looked at");
	if (!take_one_cpu(&all))
		return;
	target_start(&target, "crowd", "60", "0", "0", NULL);
	sched_setaffinity(0, sizeof(all), &all);
	sums = sample(&target, 1, &cpu);
	printf("  %.2f s of Latency\n", sums.latency);
	CHECK(fabs(sums.latency - sums.sampled) < 0.01 * sums.sampled,
	      "%.2f s of Latency, %.2f s sampled", sums.latency, sums.sampled);
	target_finish(&target, NULL);
}

int
main(void)
{
	harness_begin(90);
	alone();
	among_rivals();
	thinned();
	in_turns();
	return harness_end();
}
