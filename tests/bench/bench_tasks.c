/* SPDX-License-Identifier: MIT */
/*
 * bench_tasks.c - what tasks that a runtime schedules cost the sampler, and their program: those of
 * tests/live/targets/sim_tasks.c, by a sampler in this program.
 *
 * What is told of one task is the difference to a run without, so that the threads are not in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../live/harness.h"
#include "../live/sim_run.h"

#define COUNTER_RESUMED 0
#define SECONDS 5
#define TURNS 5
#define TURN_NS 500000000

struct cost {
	double cpu_ns, ticks, looks, stacks; /* looks, stacks: of tasks, at one tick */
	double share;                        /* of one CPU */
	double rate_hz;
};

static struct cost
measure(const struct target *target, double rate_hz, double seconds, bool counts)
{
	const struct sim_wish wish = {
		.rate_hz = rate_hz, .ticks = (uint64_t)(rate_hz * seconds), .counts = counts,
	};
	struct sim_run run;
	struct cost cost;

	sim_run(&run, target->pid, &wish);
	cost = (struct cost){
		.cpu_ns = (double)run.stats.own_cpu_ns,
		.ticks = (double)run.stats.ticks,
		.looks = (double)run.stats.green_looks / (double)run.stats.ticks,
		.stacks = (double)run.stats.green_stacks / (double)run.stats.ticks,
		.share = (double)run.stats.own_cpu_ns / (double)run.stats.elapsed_ns,
		.rate_hz = (double)run.stats.ticks / (double)run.stats.elapsed_ns * 1e9,
	};
	sim_run_release(&run);
	return cost;
}

/* `kind` is "taker=1000"; without: the same with few of them. */
static void
row(const char *title, const char *kind, const char *few, double rate_hz, bool counts)
{
	struct target target;
	struct cost with, without;
	double tasks, each;

	target_start(&target, "sim_tasks", "1", few, NULL);
	without = measure(&target, rate_hz, SECONDS, counts);
	target_finish(&target, NULL);
	target_start(&target, "sim_tasks", "1", kind, NULL);
	with = measure(&target, rate_hz, SECONDS, counts);
	target_finish(&target, NULL);
	tasks = strtod(strchr(kind, '=') + 1, NULL);
	each = (with.cpu_ns / with.ticks - without.cpu_ns / without.ticks) / tasks / 1000;
	printf("%s\n  %.2f us a task and tick; %.2f %% of a CPU at %.1f Hz, %.2f %% without them\n"
	       "  %.0f looks and %.1f walks a tick\n",
	       title, each, 100 * with.share, with.rate_hz, 100 * without.share, with.looks,
	       with.stacks);
}

/* How often tasks were resumed meanwhile, in a second. */
static double
resumed(const struct target *target, double rate_hz)
{
	const uint64_t began = harness_now_ns(), before = target->counter[COUNTER_RESUMED];
	const struct timespec turn = { .tv_nsec = TURN_NS };

	if (rate_hz > 0)
		measure(target, rate_hz, TURN_NS / 1e9, false);
	else
		nanosleep(&turn, NULL);
	return (double)(target->counter[COUNTER_RESUMED] - before) /
	       (double)(harness_now_ns() - began) * 1e9;
}

static void
throughput(void)
{
	double with = 0, without = 0;
	struct target target;

	target_start(&target, "sim_tasks", "1", "change=1000", NULL);
	for (int i = 0; i < TURNS; i++) {
		without += resumed(&target, 0) / TURNS;
		with += resumed(&target, 100) / TURNS;
	}
	target_finish(&target, NULL);
	printf("1,000 tasks that change, 100 Hz\n  resumed %.0f times a second, %.0f alone: %.3f\n",
	       with, without, with / without);
}

int
main(void)
{
	if (!target_exists("sim_tasks")) {
		printf("sim_tasks could not be built\n");
		return 77;
	}
	row("1,000 tasks that wait, 100 Hz", "taker=1000", "taker=1", 100, false);
	row("the same, by how often they have run", "taker=1000", "taker=1", 100, true);
	row("10,000 tasks that wait, 10 Hz", "taker=10000", "taker=1", 10, false);
	row("the same, by how often they have run", "taker=10000", "taker=1", 10, true);
	row("1,000 tasks that change, 100 Hz", "change=1000", "change=1", 100, false);
	throughput();
	return 0;
}
