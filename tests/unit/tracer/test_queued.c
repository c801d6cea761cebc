/* SPDX-License-Identifier: MIT */
/* test_queued.c - which stopped threads were waiting for a CPU at the tick. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/syscall.h>

#include "tracer/stop_internal.h"
#include "wallsample/base/base.h"

#define US NS_PER_US
#define TICK (1000 * US)

/* A thread that has waited for a CPU from `began` on and stopped at TICK + 200 us. The CPUs were
 * taken from 100 to 130 us after the tick, and its counters were read at 140 us. */
static bool
is_queued(uint64_t began, enum occupied_thread occupied)
{
	const uint64_t stopped = TICK + 200 * US;
	const struct stop_request request = {
		.before = { .switches = 7, .delay_ns = 5000 },
		.during = { .switches = 8, .delay_ns = 5000 + stopped - began },
		.tick_ns = TICK,
		.counters_ns = TICK + 140 * US,
		.occupied_ns = { TICK + 100 * US, TICK + 130 * US },
		.occupied = occupied,
		.syscall = SYS_getppid,
	};

	return stop_was_queued(&request, stopped);
}

static void
test_waits_before_the_tick(void **unused)
{
	(void)unused;
	assert_true(is_queued(TICK - 300 * US, OCCUPIED_UNKNOWN));
	assert_true(is_queued(TICK - 300 * US, OCCUPIED_NOT_RUNNING));
	assert_false(is_queued(TICK - 5 * US, OCCUPIED_UNKNOWN));
	assert_false(is_queued(TICK - 5 * US, OCCUPIED_NOT_RUNNING));
}

/* The thread lost its CPU when the CPUs were taken: to an occupier, or to another thread. */
static void
test_waits_since_the_occupation(void **unused)
{
	(void)unused;
	assert_false(is_queued(TICK + 110 * US, OCCUPIED_UNKNOWN));
	assert_true(is_queued(TICK + 110 * US, OCCUPIED_NOT_RUNNING));
}

/* The CPU time of the thread has grown up to the moment at which its CPU was taken: whatever the
 * durations are, which have errors of some microseconds. */
static void
test_ran_when_its_cpu_was_taken(void **unused)
{
	(void)unused;
	assert_false(is_queued(TICK - 300 * US, OCCUPIED_RUNNING));
	assert_false(is_queued(TICK + 50 * US, OCCUPIED_RUNNING));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_before_the_tick),
		cmocka_unit_test(test_waits_since_the_occupation),
		cmocka_unit_test(test_ran_when_its_cpu_was_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
