/* SPDX-License-Identifier: MIT */
/* test_bursts.c - the length that is typical of bursts, and the time between ticks for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/causal/bursts.h"

static void
test_typical(void **state)
{
	struct burst two[] = { { 20 * NS_PER_MS, 20 * NS_PER_MS },
			       { 10 * NS_PER_MS, 10 * NS_PER_MS } };
	/* One burst in 20 ms is followed by one of 20 us. */
	struct burst tiny[] = { { 20 * NS_PER_MS, 20 * NS_PER_MS },
				{ 20 * NS_PER_US, 20 * NS_PER_US } };
	/* Short bursts have exactly a tenth of the CPU time, in 90 bursts together. */
	struct burst many[] = { { 50 * NS_PER_MS, 50 * NS_PER_MS },
				{ 900 * NS_PER_US, 10 * NS_PER_US },
				{ 40 * NS_PER_MS, 40 * NS_PER_MS },
				{ 9100 * NS_PER_US, 100 * NS_PER_US } };

	(void)state;
	assert_int_equal(bursts_typical(two, 2), 10 * NS_PER_MS);
	assert_int_equal(bursts_typical(tiny, 2), 20 * NS_PER_MS);
	assert_int_equal(bursts_typical(many, 4), 100 * NS_PER_US);
}

static void
test_nothing_to_know(void **state)
{
	struct burst none[1] = { { 0, 0 } };

	(void)state;
	assert_int_equal(bursts_typical(NULL, 0), 0);
	assert_int_equal(bursts_typical(none, 1), 0);
}

static uint64_t
tick_of(uint64_t burst_ns, double parallelism)
{
	const struct burst_summary summary = { .burst_ns = burst_ns, .parallelism = parallelism };

	return bursts_tick_ns(&summary);
}

static void
test_ticks(void **state)
{
	(void)state;
	assert_int_equal(tick_of(3 * NS_PER_MS, 1.5), 1500 * NS_PER_US);
	assert_int_equal(tick_of(30 * NS_PER_MS, 1.5), BURSTS_TICK_MOST_NS);
	assert_int_equal(tick_of(0, 1), BURSTS_TICK_MOST_NS);
	assert_int_equal(tick_of(20 * NS_PER_US, 2), BURSTS_TICK_LEAST_NS);
	/* Eight threads cost four times as much time at each tick as two. */
	assert_int_equal(tick_of(20 * NS_PER_US, 8), 4 * BURSTS_TICK_LEAST_NS);
	assert_int_equal(tick_of(30 * NS_PER_MS, 8), 4 * BURSTS_TICK_LEAST_NS);
	assert_int_equal(tick_of(20 * NS_PER_US, 1000), BURSTS_TICK_DELAYED_NS);
	/* Threads that wait for CPUs cannot be stopped at short intervals. */
	assert_int_equal(bursts_tick_ns(
				 &(struct burst_summary){ .burst_ns = NS_PER_MS, .delayed = 0.2 }),
			 BURSTS_TICK_DELAYED_NS);
	assert_true(bursts_least_ns(tick_of(2 * NS_PER_MS, 1)) <= 2 * NS_PER_MS);
}

/* Experiments are as long as before where bursts are long, whatever the ticks. */
static void
test_units(void **state)
{
	(void)state;
	assert_int_equal(bursts_unit_ns(2 * NS_PER_MS, NS_PER_MS), NS_PER_MS);
	assert_int_equal(bursts_unit_ns(NS_PER_MS, NS_PER_MS), NS_PER_MS);
	assert_int_equal(bursts_unit_ns(6 * NS_PER_MS, 2 * NS_PER_MS), 3 * NS_PER_MS);
	assert_int_equal(bursts_unit_ns(0, 2 * NS_PER_MS), 5 * NS_PER_MS);
	assert_int_equal(bursts_unit_ns(30 * NS_PER_MS, 2 * NS_PER_MS), 5 * NS_PER_MS);
	assert_int_equal(bursts_unit_ns(30 * NS_PER_MS, 20 * NS_PER_MS), 20 * NS_PER_MS);
}

static void
test_delayed(void **state)
{
	struct burst_summary summary = { .burst_ns = NS_PER_MS, .parallelism = 2 };

	(void)state;
	assert_float_equal(bursts_delayed_share(900, 100), 0.1, 1e-9);
	assert_float_equal(bursts_delayed_share(0, 0), 0, 1e-9);
	assert_float_equal(bursts_delayed_share(0, 10), 1, 1e-9);
	summary.delayed = bursts_delayed_share(950 * NS_PER_MS, 5 * NS_PER_MS);
	assert_false(bursts_delayed(&summary));
	assert_int_equal(bursts_tick_ns(&summary), BURSTS_TICK_LEAST_NS);
	summary.delayed = bursts_delayed_share(950 * NS_PER_MS, 55 * NS_PER_MS);
	assert_true(bursts_delayed(&summary));
	assert_int_equal(bursts_tick_ns(&summary), BURSTS_TICK_DELAYED_NS);
}

/* Forks a child that uses the CPU `cpu` without end or, if that is -1, sleeps. It is killed when
 * the test process ends. */
static pid_t
start_child(int cpu)
{
	const pid_t pid = fork();
	cpu_set_t set;

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (cpu < 0)
		for (;;)
			pause();
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		_exit(1);
	for (;;)
		continue;
}

static void
end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static struct burst_summary
measure(pid_t pid)
{
	struct burst_summary summary;
	struct process *process;

	assert_int_equal(process_open(pid, &process, NULL), 0);
	summary = bursts_measure(process);
	process_free(process);
	return summary;
}

/* A process that shares its CPU waits for it half of the time, one that sleeps does not. */
static void
test_measured_delays(void **state)
{
	const int cpu = sched_getcpu();
	const pid_t one = start_child(cpu), other = start_child(cpu), asleep = start_child(-1);
	struct burst_summary summary;

	(void)state;
	summary = measure(one);
	assert_true(bursts_delayed(&summary));
	assert_true(summary.delayed < 1);
	summary = measure(asleep);
	assert_float_equal(summary.delayed, 0, 1e-9);
	end_child(one);
	end_child(other);
	end_child(asleep);
}

static void
handle(int number)
{
	(void)number;
}

/* Signals that are handled meanwhile do not shorten the measurement. */
static void
test_signals(void **state)
{
	const struct itimerval often = { { 0, 5000 }, { 0, 5000 } }, never = { { 0, 0 }, { 0, 0 } };
	const pid_t child = start_child(-1);
	struct sigaction action = { .sa_handler = handle };
	uint64_t began_ns;

	(void)state;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	began_ns = clock_now_ns();
	measure(child);
	assert_true(clock_now_ns() - began_ns >= BURSTS_READ_NS + BURSTS_QUIET_NS);
	setitimer(ITIMER_REAL, &never, NULL);
	end_child(child);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_typical),
		cmocka_unit_test(test_nothing_to_know),
		cmocka_unit_test(test_ticks), cmocka_unit_test(test_units),
		cmocka_unit_test(test_delayed),
		cmocka_unit_test(test_measured_delays),
		cmocka_unit_test(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
