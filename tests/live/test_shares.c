/* SPDX-License-Identifier: MIT */
/*
 * test_shares.c - what a weight says is true: shares of functions, of threads, of sleep.
 */
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "folded.h"

/*
 * The share of `first` in the thread's time, sampled, against what the target measured. On a
 * busy machine some stops come too late: where that time went is not known, so that it may
 * have been spent in either. `uncounted` is the part of the thread's whole time that was spent in
 * `second`, and that the kernel counted neither as CPU time nor as a wait: it may be reported as
 * `first`.
 */
static void
check_share(const struct folded *folded, pid_t tid, const char *first, const char *second,
	    double truth, double uncounted)
{
	const double all = (double)folded_weight(folded, tid, NULL);
	const double a = (double)folded_weight(folded, tid, first) / all;
	const double unknown = 1 - a - (double)folded_weight(folded, tid, second) / all;
	const double bound = harness_share_bound(truth, (double)folded->ticks);
	bool good = CHECK(all > 0 && folded->ticks > 0, "nothing was sampled");

	printf("  %s: %.4f, in truth %.4f +- %.4f, unknown %.4f, uncounted %.4f\n", first, a, truth,
	       bound, unknown, uncounted);
	good &= CHECK(truth >= a - uncounted - bound && truth <= a + unknown + bound,
		      "share of %s is %.4f (unknown %.4f, uncounted %.4f), should be %.4f +- %.4f",
		      first, a, unknown, uncounted, truth, bound);
	if (!good)
		folded_print(folded, tid, 12);
}

/* The time of the thread that is neither in rest nor in toil must be smaller than the error which
 * the test is to find. */
static void
check_unknown(const struct folded *folded, pid_t tid)
{
	const double all = (double)folded_weight(folded, tid, NULL);
	const double known = (double)folded_weight(folded, tid, "half;rest") +
			     (double)folded_weight(folded, tid, "half;toil");

	CHECK(known >= 0.95 * all, "only %.4f of the thread's time is known", known / all);
}

/* Little may be unknown of a thread that seldom had to wait for a CPU. */
static void
check_known(const struct folded *folded, pid_t tid, const char *pattern, double waited)
{
	const double all = (double)folded_weight(folded, tid, NULL);
	const double known = (double)folded_weight(folded, tid, pattern);

	if (waited > 0.1) {
		printf("  thread %d waited for a CPU %.0f %% of its time\n", (int)tid,
		       waited * 100);
		return;
	}
	if (!CHECK(known >= 0.9 * all, "only %.4f of the thread's time is known", known / all))
		folded_print(folded, tid, 12);
}

/* A thread that lives all the time has the whole time, no more and no less. */
static void
check_whole_time(const struct folded *folded, pid_t tid, double sampled_us, double tick_us)
{
	const double weight = (double)folded_weight(folded, tid, NULL);

	CHECK(weight >= sampled_us - 2 * tick_us && weight <= (double)folded->run_us,
	      "thread %d has %.0f us, should have %.0f to %.0f", (int)tid, weight, sampled_us,
	      (double)folded->run_us);
}

/* The share of f70 in a twin's wall time, as the twin measured it. */
static double
wall_share(const char *text, pid_t tid)
{
	char name[2][32];

	snprintf(name[0], sizeof(name[0]), "wall70_%d", (int)tid);
	snprintf(name[1], sizeof(name[1]), "wall30_%d", (int)tid);
	const double a = (double)target_number(text, name[0]);
	const double b = (double)target_number(text, name[1]);
	return a / (a + b);
}

static void
two_functions(void)
{
	struct target target;
	struct folded folded;
	char *text;

	harness_case("two functions at 70:30");
	target_start(&target, "shares", "twins", "1", NULL);
	folded_sample(&folded, target.pid, "-r", "1000", "-d", "4", NULL);
	pid_t tid = inspect_thread_named(target.pid, "twin", 0);
	check_known(&folded, tid, "twin;...", inspect_waited(target.pid, tid));
	target_finish(&target, &text);
	const double a = (double)target_number(text, "f70"), b = (double)target_number(text, "f30");
	CHECK(fabs(a / (a + b) - 0.7) < 0.01, "the target itself did %.4f", a / (a + b));
	check_share(&folded, tid, "twin;f70", "twin;f30", wall_share(text, tid), 0);
	folded_release(&folded);
	free(text);
}

static void
two_threads(void)
{
	struct target target;
	struct folded folded;
	char *text;

	harness_case("two threads that do the same");
	target_start(&target, "shares", "twins", "2", NULL);
	folded_sample(&folded, target.pid, "-r", "500", "--no-jitter", "-d", "3", NULL);
	pid_t one = inspect_thread_named(target.pid, "twin", 0);
	pid_t two = inspect_thread_named(target.pid, "twin", 1);
	check_known(&folded, one, "twin;...", inspect_waited(target.pid, one));
	check_known(&folded, two, "twin;...", inspect_waited(target.pid, two));
	target_finish(&target, &text);
	check_share(&folded, one, "twin;f70", "twin;f30", wall_share(text, one), 0);
	check_share(&folded, two, "twin;f70", "twin;f30", wall_share(text, two), 0);
	check_whole_time(&folded, one, 3e6, 2000);
	check_whole_time(&folded, two, 3e6, 2000);
	const double difference = (double)folded_weight(&folded, one, NULL) -
				  (double)folded_weight(&folded, two, NULL);
	CHECK(fabs(difference) <= 4000, "the threads' weights differ by %.0f us", difference);
	folded_release(&folded);
	free(text);
}

/*
 * Samples a thread that alternately sleeps and computes, for equal times. Shares are of wall time,
 * as the target measured it, so that a wait for a CPU counts where it happened. A hypervisor may
 * use the CPU without reporting stolen time, which the kernel then counts neither as CPU time nor
 * as a wait. `disturbed`: the share of the thread's time that sampling may move from computing to
 * sleeping.
 */
static void
check_half(struct target *target, const char *rate, const char *seconds, double disturbed)
{
	struct folded folded;
	char *text;

	folded_sample(&folded, target->pid, "-r", rate, "-d", seconds, NULL);
	pid_t tid = inspect_thread_named(target->pid, "half", 0);
	check_known(&folded, tid, "half;...", inspect_waited(target->pid, tid));
	const struct sched_time time = inspect_sched_time(target->pid, tid);
	target_finish(target, &text);
	const double rest = (double)target_number(text, "rest");
	const double all = rest + (double)target_number(text, "toil");
	const double cpu = (double)target_number(text, "cpu");
	CHECK(time.ran_ns > 0, "the counters of the thread are not readable");
	const double uncounted = fmax(all - rest - cpu - (double)time.waited_ns, 0) / all;
	check_share(&folded, tid, "half;rest", "half;toil", rest / all, uncounted + disturbed);
	if (disturbed > 0)
		check_unknown(&folded, tid);
	check_whole_time(&folded, tid, strtod(seconds, NULL) * 1e6, 20000);
	harness_note("rest: %.4f; the thread's own clock: %.0f us of %.0f", rest / all, cpu / 1000,
		     all / 1000);
	folded_release(&folded);
	free(text);
}

static void
half_asleep(void)
{
	struct target target;

	harness_case("half of the time asleep");
	target_start(&target, "shares", "half", NULL);
	check_half(&target, "500", "4", 0);
}

/*
 * The same beside rivals: when the thread wakes, it has no CPU, and waits in the function in which
 * it slept. Such waits are a third of the thread's time here. When they counted as asleep, `rest`
 * had 0.14 too little. Now it has up to 0.02 too much on average: a tick takes the CPU from a
 * rival, and then the scheduler may choose another thread.
 */
static void
half_asleep_among_rivals(void)
{
	struct target target, rivals;
	cpu_set_t all, one;

	harness_case("half of the time asleep, among rivals for the CPU");
	if (sched_getaffinity(0, sizeof(all), &all) != 0)
		harness_die("the CPUs of the test are not known");
	CPU_ZERO(&one);
	for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++)
		if (CPU_ISSET(cpu, &all))
			CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) != 0)
		harness_die("the test cannot choose its CPU");
	target_start(&rivals, "crowd", "4", "0", "0", NULL);
	target_start(&target, "shares", "half", "2000", NULL);
	if (sched_setaffinity(0, sizeof(all), &all) != 0)
		harness_die("the test does not get its CPUs back");
	check_half(&target, "500", "8", 0.03);
	target_finish(&rivals, NULL);
}

/* Every blocked thread is seen for the whole time, in the one stack it has. */
static void
fifty_parked(void)
{
	struct target target;
	struct folded folded;
	long long switches[50];

	harness_case("fifty blocked threads");
	target_start(&target, "crowd", "0", "0", "50", NULL);
	for (size_t i = 0; i < 50; i++)
		switches[i] = inspect_switches(
			target.pid, inspect_thread_named(target.pid, "parked", i));
	folded_sample(&folded, target.pid, "-r", "100", "--no-jitter", "-d", "2", NULL);
	const double first = (double)folded_weight(
		&folded, inspect_thread_named(target.pid, "parked", 0), NULL);
	for (size_t i = 0; i < 50; i++) {
		pid_t tid = inspect_thread_named(target.pid, "parked", i);
		size_t stacks = 0;
		for (size_t k = 0; k < folded.count; k++)
			stacks += folded.line[k].tid == tid;
		CHECK(stacks == 1, "thread %d has %zu stacks", (int)tid, stacks);
		folded_check_thread(&folded, tid, "park_f0;park_f1;park_f2;...");
		check_whole_time(&folded, tid, 2e6, 10000);
		const double weight = (double)folded_weight(&folded, tid, NULL);
		CHECK(fabs(weight - first) <= 20000, "thread %d has %.0f us, another %.0f",
		      (int)tid, weight, first);
		CHECK(inspect_switches(target.pid, tid) == switches[i],
		      "thread %d was woken: it is blocked and must not be", (int)tid);
	}
	CHECK(target.counter[63] == 0, "%llu reads came back",
	      (unsigned long long)target.counter[63]);
	folded_release(&folded);
	target_finish(&target, NULL);
}

int
main(void)
{
	harness_begin(90);
	two_functions();
	two_threads();
	half_asleep();
	half_asleep_among_rivals();
	fifty_parked();
	return harness_end();
}
