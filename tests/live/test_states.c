/* SPDX-License-Identifier: MIT */
/*
 * test_states.c - running, or waiting for a CPU: what the report says is what the scheduler
 * counted.
 */
#include <regex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

/* A share of the CPU; the sampler takes some per cent of it, starting takes a moment. */
#define HAD_LEAST 0.75

static int first_cpu, last_cpu; /* that we may use; one machine has but one */
static int sampler_cpu;

static void
pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		harness_die("cannot choose a CPU");
}

static void
pin_sampler(void)
{
	pin(sampler_cpu);
}

static void
choose_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		harness_die("on which CPUs?");
	first_cpu = -1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		if (first_cpu < 0)
			first_cpu = cpu;
		last_cpu = cpu;
	}
}

/* Per cent behind which the report has this state; 0 when it has no such row. */
static double
share_of_state(const char *report, const char *state)
{
	char pattern[64];
	regmatch_t match[2];
	double share = 0;
	regex_t regex;

	snprintf(pattern, sizeof(pattern), "([0-9.]+)%%  %s *(\n|$)", state);
	if (regcomp(&regex, pattern, REG_EXTENDED) != 0)
		harness_die("a bad pattern");
	if (regexec(&regex, report, 2, match, 0) == 0)
		share = strtod(report + match[1].rm_so, NULL);
	regfree(&regex);
	return share;
}

static double
ticks_of(const char *report)
{
	const char *ticks = strstr(report, " ticks; thread states ");

	if (ticks == NULL)
		return 0;
	while (ticks > report && strchr("0123456789,", ticks[-1]) != NULL)
		ticks--;
	double number = 0;
	for (; *ticks != ' '; ticks++)
		if (*ticks != ',')
			number = 10 * number + (*ticks - '0');
	return number;
}

static struct sched_time
sum_times(pid_t pid, const char *thread, size_t count)
{
	struct sched_time sum = {0, 0, 0};

	for (size_t i = 0; i < count; i++) {
		const struct sched_time one =
			inspect_sched_time(pid, inspect_thread_named(pid, thread, i));
		sum.ran_ns += one.ran_ns;
		sum.waited_ns += one.waited_ns;
		sum.turns += one.turns;
	}
	return sum;
}

/* Returns the seconds in the line "Stolen" of a report; 0: it has none. */
static double
stolen_of(const char *report)
{
	const char *line = strstr(report, "\nStolen ");
	double number;
	char unit[3];

	if (line == NULL || sscanf(line, "\nStolen %lf%2[a-z]", &number, unit) != 2)
		return 0;
	if (strcmp(unit, "s") == 0)
		return number;
	return strcmp(unit, "ms") == 0 ? number / 1e3 : number / 1e6;
}

/*
 * Samples `count` threads of this name from that CPU, and compares. They share a CPU, so that
 * each waits while another has it: 1 - 1/count of the time. What the scheduler counts above
 * that is the sampler's doing and that of strangers, who may have the CPU when no tick comes:
 * a thread that was stopped has to queue for it again.
 */
static void
compare(const struct target *target, char *thread, size_t count, int cpu, const char *option)
{
	char wallsample[] = "wallsample", p[] = "-p", r[] = "-r", rate[] = "500", d[] = "-d",
	     time[] = "3", name[] = "--thread-name", most[] = "--max-overhead", all[] = "100",
	     stopped[] = "--max-stopped", full[] = "--full", pid[16], last[32];
	char *words[] = {wallsample, p, pid, r, rate, d, time, name, thread,
			 most, all, stopped, all, full, last, NULL};
	struct run run;

	snprintf(last, sizeof(last), "%s", option);
	snprintf(pid, sizeof(pid), "%d", (int)target->pid);
	sampler_cpu = cpu;
	run_start_words(&run, words, pin_sampler);
	CHECK(run_wait_sampling(&run), "wallsample has ended: %s", run.err);
	const struct sched_time before = sum_times(target->pid, thread, count);
	run_finish(&run);
	const struct sched_time after = sum_times(target->pid, thread, count);
	run_succeeded(&run);

	const double ran = (double)(after.ran_ns - before.ran_ns);
	const double waited = (double)(after.waited_ns - before.waited_ns);
	const double truth = waited / (ran + waited);
	const double queued = share_of_state(run.out, "waiting for a CPU") / 100;
	const double running = share_of_state(run.out, "running") / 100;
	/* Waits are told apart by ticks, and ticks in the same wait tell the same. */
	const double turns = (double)(after.turns - before.turns);
	const double ticks = ticks_of(run.out);
	const double had = ran / (double)(run.ended_ns - run.began_ns);
	const double bound = 0.02 + harness_share_bound(truth, turns < ticks ? turns : ticks);
	/* Time for which a hypervisor used the CPU is waited, too, and not counted as a wait. */
	const double stolen = stolen_of(run.out) /
			      ((double)count * (double)(run.ended_ns - run.began_ns) / 1e9);
	printf("  waiting for a CPU: %.4f, by the scheduler %.4f +- %.4f\n", queued, truth, bound);
	/*
	 * The sampler, too, waits for strangers, and its ticks are then those at which somebody
	 * has left a CPU.
	 */
	if (had < HAD_LEAST) {
		harness_skip("others had the CPU for %.0f %% of the time", 100 * (1 - had));
		run_release(&run);
		return;
	}
	const double least = 1 - 1 / (double)count;
	bool good = CHECK(ticks >= 100, "hardly any ticks");
	good &= CHECK(queued >= (least < truth ? least : truth) - bound &&
			      queued <= truth + stolen + bound,
		      "waiting for a CPU: %.4f, by the scheduler %.4f +- %.4f", queued, truth,
		      bound);
	good &= CHECK(queued + running >= 0.99, "seen in another state: %.4f",
		      1 - queued - running);
	if (!good)
		printf("%s", run.out);
	run_release(&run);
}

/* Starts it on the last CPU alone. */
static void
start_pinned(struct target *target, const char *program, const char *first, const char *second)
{
	cpu_set_t whole;

	sched_getaffinity(0, sizeof(whole), &whole);
	pin(last_cpu);
	target_start(target, program, first, second, NULL);
	sched_setaffinity(0, sizeof(whole), &whole);
}

/* So many threads, busy on the last CPU alone; one of them is running at any time. */
static void
busy_on_one_cpu(size_t count, const char *option, int cpu)
{
	char number[16], twin[] = "twin";
	struct target target;

	harness_case("%zu busy on one CPU, sampled from %s, %s", count,
		     cpu == last_cpu ? "the same" : "another", option);
	snprintf(number, sizeof(number), "%zu", count);
	start_pinned(&target, "shares", "twins", number);
	compare(&target, twin, count, cpu, option);
	target_finish(&target, NULL);
}

/* On a CPU all the time, in system calls that no stop ends. */
static void
long_calls(int cpu)
{
	char copier[] = "copier";
	struct target target;

	harness_case("in long system calls, sampled from %s", cpu == last_cpu ? "the same CPU" :
									      "another CPU");
	start_pinned(&target, "copies", NULL, NULL);
	compare(&target, copier, 1, cpu, "--no-jitter");
	target_finish(&target, NULL);
}

int
main(void)
{
	harness_begin(90);
	choose_cpus();
	for (size_t count = 1; count <= 3; count++) {
		busy_on_one_cpu(count, "--no-jitter", first_cpu);
		busy_on_one_cpu(count, "--no-jitter", last_cpu);
	}
	busy_on_one_cpu(2, "--stop-all", first_cpu);
	long_calls(first_cpu);
	long_calls(last_cpu);
	return harness_end();
}
