/* SPDX-License-Identifier: MIT */
/* test_queued.c - what threads that have stopped did at the tick: ran, waited for a CPU, slept. */
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

#define DUE (TICK - 30 * US)

/* A thread that has waited for a CPU from `began` on and stopped at TICK + 200 us. The tick was due
 * 30 us before it began, the last CPU was taken 10 us after it began, and the thread's counters
 * were read at 40 us. */
static enum tick_state
state_in(long syscall, uint64_t began, enum occupied_thread occupied)
{
	const uint64_t stopped = TICK + 200 * US;
	const struct stop_request request = {
		.before = { .switches = 7, .delay_ns = 5000 },
		.during = { .switches = 8, .delay_ns = 5000 + stopped - began },
		.tick_ns = TICK,
		.counters_ns = TICK + 40 * US,
		.occupied_ns = { DUE, TICK + 10 * US },
		.occupied = occupied,
		.syscall = syscall,
	};

	return stop_at_tick(&request, stopped);
}

static enum tick_state
state(uint64_t began, enum occupied_thread occupied)
{
	return state_in(SYS_getppid, began, occupied);
}

static void
test_waits_before_the_tick(void **unused)
{
	(void)unused;
	assert_int_equal(state(DUE - 300 * US, OCCUPIED_UNKNOWN), TICK_QUEUED);
	assert_int_equal(state(DUE - 300 * US, OCCUPIED_NOT_RUNNING), TICK_QUEUED);
	assert_int_equal(state(DUE - 5 * US, OCCUPIED_UNKNOWN), TICK_QUEUED);
	assert_int_equal(state(DUE - 5 * US, OCCUPIED_NOT_RUNNING), TICK_QUEUED);
}

/* Its wait began when the CPUs were taken: it lost its CPU to wallsample, or was woken. */
static void
test_waits_since_the_tick(void **unused)
{
	static const uint64_t began[] = { DUE + 5 * US, TICK - 5 * US, TICK + 5 * US };

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(began); i++) {
		assert_int_equal(state(began[i], OCCUPIED_UNKNOWN), TICK_RUNNING);
		assert_int_equal(state(began[i], OCCUPIED_NOT_RUNNING), TICK_ASLEEP);
		assert_int_equal(state_in(SYS_nanosleep, began[i], OCCUPIED_UNKNOWN), TICK_QUEUED);
		assert_int_equal(state_in(SYS_nanosleep, began[i], OCCUPIED_RUNNING), TICK_RUNNING);
	}
	/* It spun: there is no sleep outside a system call. */
	assert_int_equal(state_in(SYSCALL_NONE, TICK - 5 * US, OCCUPIED_NOT_RUNNING), TICK_QUEUED);
	/* It was on a CPU at the first look at it. */
	assert_int_equal(state(TICK - 5 * US, OCCUPIED_RAN), TICK_RUNNING);
	/* later than the reading of the counters: by the stop itself */
	assert_int_equal(state(TICK + 60 * US, OCCUPIED_UNKNOWN), TICK_RUNNING);
}

/* Without occupied CPUs, a wait for a CPU counts if it began more than 50 us before the tick. */
static void
test_not_occupied(void **unused)
{
	struct stop_request request = {
		.before = { .switches = 7 },
		.during = { .switches = 8, .delay_ns = 240 * US },
		.tick_ns = TICK,
		.counters_ns = TICK + 40 * US,
		.syscall = SYS_getppid,
	};

	(void)unused;
	assert_int_equal(stop_at_tick(&request, TICK + 200 * US), TICK_RUNNING);
	assert_int_equal(stop_at_tick(&request, TICK + 150 * US), TICK_QUEUED);
	request.during.switches = 7;
	assert_int_equal(stop_at_tick(&request, TICK + 150 * US), TICK_RUNNING);
}

/* Its last switch was that to wallsample: whatever the durations are, which have errors of some
 * microseconds. */
static void
test_ran_when_its_cpu_was_taken(void **unused)
{
	(void)unused;
	assert_int_equal(state(DUE - 300 * US, OCCUPIED_RUNNING), TICK_RUNNING);
	assert_int_equal(state(TICK + 50 * US, OCCUPIED_RUNNING), TICK_RUNNING);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_before_the_tick),
		cmocka_unit_test(test_waits_since_the_tick),
		cmocka_unit_test(test_not_occupied),
		cmocka_unit_test(test_ran_when_its_cpu_was_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
