/* SPDX-License-Identifier: MIT */
/*
 * test_latency.c - real time and CPU time of a program with a serial part, a parallel part and
 * sleeps, against what the program measures for itself.
 */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folded.h"

/* Counters of the target: see targets/amdahl.c. */
enum { SERIAL, PARALLEL, SLEEP, SERIAL_CPU, PARALLEL_CPU, PARTS };

struct seen {
	double serial, parallel, waiting, all; /* microseconds */
	double ticks;
};

static void
read_counters(const struct target *target, uint64_t *to)
{
	for (int i = 0; i < PARTS; i++)
		to[i] = target->counter[i];
}

static struct seen
sample(const struct target *target, const char *weight, double *truth)
{
	uint64_t before[PARTS], after[PARTS];
	struct folded folded;
	struct seen seen;
	struct run run;

	run_start(&run, target->pid, "-r", "400", "-d", "5", "--sort", weight, NULL);
	CHECK(run_wait_sampling(&run), "wallsample has ended: %s", run.err);
	read_counters(target, before);
	run_finish(&run);
	read_counters(target, after);
	for (int i = 0; i < PARTS; i++)
		truth[i] = (double)(after[i] - before[i]) / 1000;
	folded_of_run(&folded, &run);
	seen.serial = (double)folded_weight(&folded, 0, "serial_work");
	seen.parallel = (double)folded_weight(&folded, 0, "parallel_work");
	seen.waiting = (double)folded_weight(&folded, 0, "^[waiting];...;idle_sleep");
	seen.all = (double)folded_weight(&folded, 0, NULL);
	seen.ticks = 400 * 5;
	folded_release(&folded);
	return seen;
}

/* Strangers who take a CPU make a thread wait that ran alone: real time stays as it is. */
static void
real_time(const struct target *target)
{
	double truth[PARTS];

	harness_case("real time");
	const struct seen seen = sample(target, "latency", truth);
	const double all = truth[SERIAL] + truth[PARALLEL] + truth[SLEEP];
	if (harness_stolen() > HARNESS_STOLEN_MOST) {
		harness_skip("a hypervisor used %.0f %% of the CPU time", 100 * harness_stolen());
		return;
	}
	/* The run's span, but for the time between its own clock and ours. */
	CHECK(fabs(seen.all / 5e6 - 1) < 0.02, "together %.0f us of 5 s", seen.all);
	CHECK_SHARE("serial", seen.serial / seen.all, truth[SERIAL] / all, seen.ticks);
	/* The one that is done first waits for the other: that is the parallel part, too. */
	CHECK_SHARE("asleep", seen.waiting / seen.all, truth[SLEEP] / all, seen.ticks);
	CHECK_SHARE("parallel", (seen.all - seen.serial - seen.waiting) / seen.all,
		    truth[PARALLEL] / all, seen.ticks);
}

static void
cpu_time(const struct target *target)
{
	double truth[PARTS];

	harness_case("CPU time");
	const struct seen seen = sample(target, "cpu", truth);
	const double all = truth[SERIAL_CPU] + truth[PARALLEL_CPU];

	/* The sampler, too, has to wait then, and its ticks are those at which somebody left. */
	if (truth[SERIAL] > 1.1 * truth[SERIAL_CPU]) {
		harness_skip("others use the CPUs");
		return;
	}
	CHECK_SHARE("serial", seen.serial / seen.all, truth[SERIAL_CPU] / all, seen.ticks);
	CHECK(seen.waiting == 0, "a wait has %.0f us of CPU time", seen.waiting);
}

/* --- others want the CPUs, too ------------------------------------------------------------ */

#define STRANGERS 3
#define STRANGE_RATE 400
#define STRANGE_SECONDS 4

static void
start_strangers(pid_t *strangers)
{
	const pid_t parent = getpid();

	for (int i = 0; i < STRANGERS; i++) {
		strangers[i] = fork();
		if (strangers[i] != 0)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent)
			continue;
		_exit(0);
	}
}

static void
end_strangers(const pid_t *strangers)
{
	for (int i = 0; i < STRANGERS; i++) {
		if (strangers[i] <= 0)
			continue;
		kill(strangers[i], SIGKILL);
		waitpid(strangers[i], NULL, 0);
	}
}

/* The number that ends where the words begin, in seconds if it has a unit; NAN: not there. */
static double
number_before(const char *text, const char *words)
{
	const char *at = strstr(text, words), *begin = at;
	char *unit;
	double value;

	if (at == NULL)
		return NAN;
	while (begin > text && strchr("0123456789.,mus", begin[-1]) != NULL)
		begin--;
	value = strtod(begin, &unit);
	return strncmp(unit, "ms", 2) == 0 ? value / 1e3 : value;
}

/*
 * A thread that waits for a CPU is none of the threads on one, also when it could not be stopped
 * within its tick for just that reason: the histogram has the CPU time that samples have.
 */
static void
strangers_on_the_cpus(const struct target *target)
{
	char pid[16];
	const char *words[] = { "wallsample", "--full", "-d", "4", "-r", "400", "--max-stopped",
			      "100",	    "-p", pid, NULL };
	const double ticks = STRANGE_RATE * STRANGE_SECONDS;
	/* What is made up for at another tick has its span: they differ as exponential ones do. */
	const double bound = 5 * sqrt(2 / ticks);
	pid_t strangers[STRANGERS];
	double at_once, overhead, latency;
	struct run run;

	harness_case("strangers on the CPUs");
	snprintf(pid, sizeof(pid), "%d", (int)target->pid);
	start_strangers(strangers);
	run_start_words(&run, (char *const *)(uintptr_t)words, NULL);
	run_finish(&run);
	end_strangers(strangers);
	at_once = number_before(run.out, " on average");
	overhead = number_before(run.out, " of CPU time");
	latency = number_before(run.out, " of Latency");
	CHECK(at_once > 0 && overhead > 0 && latency > 0, "the report is '%s'", run.out);
	printf("  %.2f threads on a CPU, in samples %.2f +- %.2f\n", at_once, overhead / latency,
	       bound);
	CHECK(fabs(at_once - overhead / latency) <= bound,
	      "%.2f threads on a CPU, but %.2f s of CPU time in %.2f s", at_once, overhead,
	      latency);
	run_release(&run);
}

int
main(void)
{
	struct target target;
	cpu_set_t set;

	harness_begin(60);
	target_start(&target, "amdahl", NULL);
	real_time(&target);
	harness_case("CPU time");
	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) >= 2)
		cpu_time(&target);
	else
		harness_skip("two threads need two CPUs");
	strangers_on_the_cpus(&target);
	CHECK(inspect_is_free(target.pid), "the target is not left alone");
	target_finish(&target, NULL);
	return harness_end();
}
