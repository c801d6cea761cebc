/* SPDX-License-Identifier: MIT */
/*
 * test_breakpoints.c - every run of a function is counted, once, and the program does not learn of
 * it: whatever it does meanwhile.
 */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "wallsample/base.h"
#include "wallsample/tracer_count.h"

/* Counters of targets/counted.c. */
enum { COUNTED, OTHER, DONE, WRONG, HANDLED, NOT_OURS, ADDRESS = 8, OTHER_ADDRESS };

#define TICK_NS (2 * NS_PER_MS)

struct counter {
	struct target target;
	struct process *process;
	struct tracer *tracer;
	uint64_t before[2];
};

static void
open_tracer(struct counter *counter)
{
	struct error err;

	if (process_open(counter->target.pid, &counter->process, &err) != 0 ||
	    tracer_create(counter->process, &counter->tracer, &err) != 0)
		harness_die("%s", err.text);
}

/* What the target has counted, without its children. */
static uint64_t
truth(const struct counter *counter, unsigned which)
{
	return counter->target.counter[which] -
	       (which == COUNTED ? counter->target.counter[NOT_OURS] : 0);
}

static void
begin(struct counter *counter, const char *mode)
{
	uint64_t address[2];
	struct error err;

	target_start(&counter->target, "counted", mode, NULL);
	address[0] = counter->target.counter[ADDRESS];
	address[1] = counter->target.counter[OTHER_ADDRESS];
	open_tracer(counter);
	if (tracer_count(counter->tracer, address, 2, &err) != 0)
		harness_die("%s", err.text);
	counter->before[0] = truth(counter, COUNTED);
	counter->before[1] = truth(counter, OTHER);
}

/* Serves until the target has done `times` pieces of work, or is gone. */
static void
serve_until_done(struct counter *counter, uint64_t times)
{
	while (counter->target.counter[DONE] < times &&
	       tracer_count_state(counter->tracer) == COUNT_GOES_ON)
		tracer_sleep_until(counter->tracer, clock_now_ns() + TICK_NS);
}

static void
close_tracer(struct counter *counter)
{
	tracer_free(counter->tracer);
	process_free(counter->process);
}

/* It runs the function a thousand times and more after we have left it. */
static void
check_lives(struct target *target)
{
	const uint64_t done = target->counter[DONE];

	CHECK(inspect_is_free(target->pid), "the target is not left alone");
	target_tell(target);
	while (target->counter[DONE] == done && inspect_state(target->pid, target->pid) != 'Z')
		sched_yield();
	CHECK(target->counter[DONE] == done + 1, "the target has died");
}

static void
finish(struct counter *counter)
{
	int status = target_finish(&counter->target, NULL);

	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the target's wait status is 0x%x",
	      (unsigned)status);
}

static void
check_counts(const struct counter *counter)
{
	uint64_t total[TRACER_COUNT_MOST];

	tracer_counts(counter->tracer, total);
	for (unsigned i = 0; i < 2; i++)
		CHECK(total[i] == truth(counter, i) - counter->before[i],
		      "function %u was run %llu times, counted were %llu", i,
		      (unsigned long long)(truth(counter, i) - counter->before[i]),
		      (unsigned long long)total[i]);
	CHECK(total[2] == 0 && total[3] == 0, "something else was counted");
}

/* One piece of work of the mode is counted to the last run. */
static void
count_work(const char *name, const char *mode)
{
	struct counter counter;
	uint64_t ns, runs;

	harness_case("%s", name);
	begin(&counter, mode);
	ns = clock_now_ns();
	target_tell(&counter.target);
	serve_until_done(&counter, 1);
	ns = clock_now_ns() - ns;
	runs = truth(&counter, COUNTED) + truth(&counter, OTHER);
	check_counts(&counter);
	CHECK(runs >= 20, "only %llu runs", (unsigned long long)runs);
	printf("  %llu runs in %.2f s: %.1f us each; %llu signals passed, %llu handled\n",
	       (unsigned long long)runs, (double)ns / 1e9, (double)ns / 1e3 / (double)runs,
	       (unsigned long long)tracer_stats(counter.tracer)->signals_passed,
	       (unsigned long long)counter.target.counter[HANDLED]);
	CHECK(counter.target.counter[WRONG] == 0, "%llu things went wrong",
	      (unsigned long long)counter.target.counter[WRONG]);
	if (strcmp(mode, "trap") == 0)
		CHECK(counter.target.counter[HANDLED] == 400, "%llu SIGTRAPs were handled",
		      (unsigned long long)counter.target.counter[HANDLED]);
	close_tracer(&counter);
	if (strcmp(mode, "busy") != 0)
		check_lives(&counter.target);
	finish(&counter);
}

int
main(void)
{
	harness_begin(300);
	count_work("four threads, 100,000 runs", "busy");
	count_work("threads that come and go", "churn");
	count_work("signal handlers that run it, too", "handler");
	count_work("children", "forks");
	count_work("SIGTRAP of the program's own", "trap");
	count_work("waits that a stop would cut short", "waits");
	return harness_end();
}
