/* SPDX-License-Identifier: MIT */
/*
 * test_finding.c - what limits a program by the rules of finding.h, and margins of error.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wallsample/base/base.h"
#include "wallsample/unwind/chain.h"
#include "wallsample/analysis/finding.h"
#include "wallsample/analysis/margin.h"
#include "wallsample/process/module.h"

/* --- names, in place of those from symbol tables ------------------------------------- */

enum { MAIN, SERIAL, PARALLEL, TAKE, MUTEX_LOCK, COND_WAIT, LLL_LOCK, SAVE, FSYNC, LOOP, EPOLL,
       READ, SPIN_LOCK };

static const struct symbol symbol[] = {
	[MAIN] = { "main", "prog", .source = SYMBOL_SYMTAB },
	[SERIAL] = { "serial_work", "prog", .source = SYMBOL_SYMTAB },
	[PARALLEL] = { "parallel_work", "prog", .source = SYMBOL_SYMTAB },
	[TAKE] = { "take_account", "prog", .source = SYMBOL_SYMTAB },
	[MUTEX_LOCK] = { "___pthread_mutex_lock", "libc.so.6", .source = SYMBOL_SYMTAB },
	[COND_WAIT] = { "pthread_cond_wait", "libc.so.6", .source = SYMBOL_SYMTAB },
	[LLL_LOCK] = { "__lll_lock_wait_private", "libc.so.6", .source = SYMBOL_SYMTAB },
	[SAVE] = { "save", "prog", .source = SYMBOL_SYMTAB },
	[FSYNC] = { "fsync", "libc.so.6", .source = SYMBOL_SYMTAB },
	[LOOP] = { "event_loop", "prog", .source = SYMBOL_SYMTAB },
	[EPOLL] = { "epoll_wait", "libc.so.6", .source = SYMBOL_SYMTAB },
	[READ] = { "__read", "libc.so.6", .source = SYMBOL_SYMTAB },
	[SPIN_LOCK] = { "pthread_spin_lock", "libc.so.6", .source = SYMBOL_SYMTAB },
};

size_t
symbols_find(struct symbols *symbols, const struct symbol_place *place, struct symbol *out,
	     size_t most)
{
	(void)symbols;
	(void)most;
	*out = symbol[place->vaddr];
	out->known = true;
	return 1;
}

void
symbols_prepare(struct symbols *symbols, const struct symbol_place *place, size_t count)
{
	(void)symbols;
	(void)place;
	(void)count;
}

/* --- profiles --------------------------------------------------------------------------- */

#define STACK(...) ((const int[]){ __VA_ARGS__, -1 })
#define TICK_NS (10 * NS_PER_MS)

static uint32_t
stack_of(struct profile *profile, uint32_t stack, const int *functions)
{
	for (; *functions >= 0; functions++) {
		const struct profile_frame frame = {
			.address = (uint64_t)*functions,
			.origin = FRAME_CFI,
		};

		stack = profile_intern_stack(profile, profile_intern_frame(profile, &frame), stack);
	}
	return stack;
}

static void
add(struct profile *profile, enum run_state state, const char *call, const int *functions,
    double wall_s, double overhead_s, double latency_s)
{
	const struct profile_entry sample = {
		.thread = profile_add_thread(profile, 0, 100, 1, "t"),
		.stack = stack_of(profile, STACK_NONE, functions),
		.state = state,
		.syscall = call != NULL ? (int32_t)syscall_number(call) : (int32_t)SYSCALL_NONE,
		.samples = 1,
		.ns = { (int64_t)(wall_s * 1e9), (int64_t)(overhead_s * 1e9),
			(int64_t)(latency_s * 1e9) },
	};

	profile_add(profile, &sample);
}

/* Adds a row whose thread has an interpreter's lock, waits for it, or does neither. */
static void
add_gil(struct profile *profile, enum run_state state, enum gil gil, const int *functions,
	double wall_s)
{
	const int64_t ns = (int64_t)(wall_s * 1e9), running_ns = state == RUN_RUNNING ? ns : 0;
	const struct profile_entry sample = {
		.thread = profile_add_thread(profile, 0, 100, 1, "t"),
		.stack = stack_of(profile, STACK_NONE, functions),
		.state = state,
		.syscall = (int32_t)(state == RUN_RUNNING ? SYSCALL_NONE : syscall_number("futex")),
		.gil = gil,
		.samples = 1,
		.ns = { ns, running_ns, running_ns },
	};

	profile_add(profile, &sample);
}

/* Real time in which no thread ran. */
static void
add_gap(struct profile *profile, enum run_state state, const char *call, const int *functions,
	double seconds)
{
	uint32_t stack = profile_intern_stack(
		profile, profile_intern_named(profile, "[waiting]"), STACK_NONE);
	struct profile_entry sample = {
		.thread = profile_add_thread(profile, 0, 100, 1, "t"),
		.state = state,
		.syscall = (int32_t)(call != NULL ? syscall_number(call) : SYSCALL_NONE),
		.ns[WEIGHT_LATENCY] = (int64_t)(seconds * 1e9),
	};

	stack = profile_intern_stack(profile, profile_intern_named(profile, "[sleeping]"), stack);
	sample.stack = stack_of(profile, stack, functions);
	profile_add(profile, &sample);
}

static void
add_ticks(struct profile *profile, uint32_t parallelism, double seconds)
{
	for (double at = 0; at + 0.005 < seconds; at += 0.01)
		profile_add_tick(profile, TICK_NS, parallelism, parallelism);
}

/* The findings of the profile, which is freed; `where` names the function of the first one. */
static struct findings
find_in_run(struct profile *profile, const struct run_stats *stats, const char *where)
{
	static const struct filter all = { 0 };
	struct view *view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	struct findings findings;
	struct own own;

	own_make(view, NULL, &own);
	findings_make(view, &own, stats, &findings);
	own_release(&own);
	if (findings.count > 0)
		assert_string_equal(view_function(view, findings.item[0].function)->name, where);
	view_free(view);
	profile_free(profile);
	return findings;
}

static struct findings
find(struct profile *profile, unsigned cpus, const char *where)
{
	return find_in_run(profile, &(struct run_stats){ .cpus = cpus }, where);
}

/* --- findings ----------------------------------------------------------------------------- */

/* The program of the manual: 6 s alone, 6 s with a helper on the other CPU, 4 s asleep. */
static void
test_serial(void **state)
{
	struct profile *profile = profile_create();
	struct findings findings;

	(void)state;
	add(profile, RUN_RUNNING, NULL, STACK(MAIN, SERIAL), 6, 6, 6);
	add(profile, RUN_RUNNING, NULL, STACK(MAIN, PARALLEL), 12, 12, 6);
	add(profile, RUN_SLEEPING, "futex", STACK(MAIN, COND_WAIT), 6, 0, 0);
	add_gap(profile, RUN_SLEEPING, "clock_nanosleep", STACK(MAIN), 4);
	add_ticks(profile, 0, 4);
	add_ticks(profile, 1, 6);
	add_ticks(profile, 2, 6);
	findings = find(profile, 2, "serial_work");
	assert_int_equal(findings.count, 1);
	assert_int_equal(findings.item[0].kind, FINDING_SERIAL);
	assert_true(fabs(findings.item[0].share - 6.0 / 16) < 1e-9);
	assert_true(findings.item[0].margin > 0.02 && findings.item[0].margin < 0.03);
}

/* The same on one CPU is no serial part: there is nothing to run beside it. */
static void
test_cpu(void **state)
{
	struct profile *profile = profile_create();
	struct findings findings;

	(void)state;
	add(profile, RUN_RUNNING, NULL, STACK(MAIN, SERIAL), 9, 9, 9);
	add_gap(profile, RUN_SLEEPING, "epoll_wait", STACK(MAIN, LOOP, EPOLL), 1);
	add_ticks(profile, 0, 1);
	add_ticks(profile, 1, 9);
	findings = find(profile, 1, "serial_work");
	assert_int_equal(findings.count, 1);
	assert_int_equal(findings.item[0].kind, FINDING_CPU);
	assert_true(fabs(findings.item[0].share - 0.9) < 1e-9);
}

/* A worker that waits for work wants no lock; one that waits for a mutex does. */
static void
test_lock(void **state)
{
	struct profile *profile = profile_create();
	struct findings findings;

	(void)state;
	add(profile, RUN_RUNNING, NULL, STACK(MAIN, PARALLEL), 10, 10, 5);
	add(profile, RUN_SLEEPING, "futex", STACK(MAIN, COND_WAIT), 900, 0, 0);
	add(profile, RUN_SLEEPING, "futex", STACK(MAIN, TAKE, MUTEX_LOCK, LLL_LOCK), 30, 0, 0);
	add_ticks(profile, 1, 1);
	add_ticks(profile, 2, 4);
	add_ticks(profile, 3, 5);
	findings = find(profile, 64, "take_account");
	assert_int_equal(findings.count, 1);
	assert_int_equal(findings.item[0].kind, FINDING_LOCK);
	assert_true(fabs(findings.item[0].share - 0.75) < 1e-9);
}

static void
test_io(void **state)
{
	struct profile *profile = profile_create();
	struct findings findings;

	(void)state;
	add(profile, RUN_RUNNING, NULL, STACK(MAIN, SERIAL), 2, 2, 2);
	add_gap(profile, RUN_SLEEPING, "fsync", STACK(MAIN, SAVE, FSYNC), 5);
	add_gap(profile, RUN_UNINTERRUPTIBLE, "openat", STACK(MAIN, SAVE), 3);
	add_ticks(profile, 0, 8);
	add_ticks(profile, 1, 2);
	findings = find(profile, 4, "save");
	assert_int_equal(findings.count, 1);
	assert_int_equal(findings.item[0].kind, FINDING_IO);
	assert_true(fabs(findings.item[0].share - 0.8) < 1e-9);
}

/* vfork waits for a child, munmap for another thread of the program; read and a page fault wait for
 * a file. */
static void
test_uninterruptible(void **state)
{
	struct profile *profile = profile_create();
	struct findings findings;

	(void)state;
	add(profile, RUN_RUNNING, NULL, STACK(MAIN, SERIAL), 2, 2, 2);
	add_gap(profile, RUN_UNINTERRUPTIBLE, "vfork", STACK(MAIN, LOOP), 5);
	add_gap(profile, RUN_UNINTERRUPTIBLE, "munmap", STACK(MAIN, LOOP), 1);
	add_gap(profile, RUN_UNINTERRUPTIBLE, "read", STACK(MAIN, SAVE), 1.5);
	add_gap(profile, RUN_UNINTERRUPTIBLE, NULL, STACK(MAIN, SAVE), 0.5);
	add_ticks(profile, 0, 8);
	add_ticks(profile, 1, 2);
	findings = find(profile, 4, "event_loop");
	assert_int_equal(findings.count, 2);
	assert_int_equal(findings.item[0].kind, FINDING_IDLE);
	assert_true(fabs(findings.item[0].share - 0.6) < 1e-9);
	assert_int_equal(findings.item[1].kind, FINDING_IO);
	assert_true(fabs(findings.item[1].share - 0.2) < 1e-9);
}

static void
test_idle_and_queue(void **state)
{
	struct profile *profile = profile_create();
	struct findings findings;

	(void)state;
	add(profile, RUN_RUNNING, NULL, STACK(MAIN, PARALLEL), 2, 2, 1);
	add(profile, RUN_QUEUED, NULL, STACK(MAIN, PARALLEL), 2, 0, 1);
	add_gap(profile, RUN_SLEEPING, "epoll_wait", STACK(MAIN, LOOP, EPOLL), 8);
	add_ticks(profile, 0, 8);
	add_ticks(profile, 1, 2);
	findings = find(profile, 2, "event_loop");
	assert_int_equal(findings.count, 2);
	assert_int_equal(findings.item[0].kind, FINDING_IDLE);
	assert_int_equal(findings.item[1].kind, FINDING_QUEUE);
	assert_true(fabs(findings.item[1].share - 0.5) < 1e-9);
}

/* 57 ms of waits for a lock and for a CPU, in a run of 10 s, limit nothing. */
static void
test_rare(void **state)
{
	struct profile *profile = profile_create();
	struct findings findings;

	(void)state;
	add(profile, RUN_SLEEPING, "futex", STACK(MAIN, TAKE, MUTEX_LOCK, LLL_LOCK), 0.057, 0, 0);
	add(profile, RUN_QUEUED, NULL, STACK(MAIN, PARALLEL), 0.1, 0, 0.1);
	add(profile, RUN_RUNNING, NULL, STACK(MAIN, PARALLEL), 0.026, 0.026, 0.026);
	add_gap(profile, RUN_SLEEPING, "epoll_wait", STACK(MAIN, LOOP, EPOLL), 9.874);
	add_ticks(profile, 0, 9.87);
	add_ticks(profile, 1, 0.13);
	findings = find(profile, 2, "event_loop");
	assert_int_equal(findings.count, 1);
	assert_int_equal(findings.item[0].kind, FINDING_IDLE);
}

/* Twenty samples of running threads say little about functions. That no thread ran is known from
 * each tick. */
static void
test_few_running(void **state)
{
	static const struct run_division few = { 20, 4 * NS_PER_SEC, 0.8 * NS_PER_SEC, 0 };
	struct profile *profile = profile_create();
	struct findings findings;

	(void)state;
	add(profile, RUN_RUNNING, NULL, STACK(MAIN, PARALLEL), 4, 4, 4);
	add_gap(profile, RUN_SLEEPING, "futex", STACK(MAIN, TAKE, COND_WAIT), 6);
	add_ticks(profile, 0, 6);
	add_ticks(profile, 1, 4);
	assert_true(margin_ticks(profile, &few, WEIGHT_LATENCY, 10 * NS_PER_SEC) < 100);
	findings = find_in_run(profile, &(struct run_stats){ .cpus = 1, .division = few },
			       "take_account");
	assert_int_equal(findings.count, 1);
	assert_int_equal(findings.item[0].kind, FINDING_IDLE);
	assert_true(findings.item[0].margin < 0.04);
}

/* Returns a profile in which one thread had an interpreter's lock for 9.6 s of 10, while another
 * one waited for it. */
static struct profile *
gil_profile(void)
{
	struct profile *profile = profile_create();

	add_gil(profile, RUN_RUNNING, GIL_HAS, STACK(MAIN, SERIAL), 9.6);
	add_gil(profile, RUN_RUNNING, GIL_NONE, STACK(MAIN, PARALLEL), 0.4);
	add_gil(profile, RUN_SLEEPING, GIL_WAIT, STACK(MAIN, TAKE, COND_WAIT), 9.6);
	add_ticks(profile, 1, 10);
	return profile;
}

/* For how long threads ran with the lock is known from samples of running threads: with few of them
 * there is no finding. */
static void
test_gil(void **state)
{
	static const struct run_division few = { 20, 10 * NS_PER_SEC, 10.0 * NS_PER_SEC, 0 };
	struct findings findings;

	(void)state;
	findings = find(gil_profile(), 4, "serial_work");
	assert_int_equal(findings.item[0].kind, FINDING_SERIAL);
	assert_int_equal(findings.item[1].kind, FINDING_GIL);
	assert_true(fabs(findings.item[1].share - 0.96) < 1e-9);
	assert_true(findings.item[1].margin < 0.04);
	findings = find_in_run(gil_profile(), &(struct run_stats){ .cpus = 4, .division = few },
			       "serial_work");
	assert_int_equal(findings.item[0].kind, FINDING_SERIAL);
	for (size_t i = 0; i < findings.count; i++)
		assert_int_not_equal(findings.item[i].kind, FINDING_GIL);
}

/* Of one thread: half of its time in calls that read, a fifth in a spin lock. */
static struct profile *
busy_profile(void)
{
	struct profile *profile = profile_create();

	add(profile, RUN_RUNNING, NULL, STACK(MAIN, SAVE, READ), 5, 5, 5);
	add(profile, RUN_RUNNING, NULL, STACK(MAIN, TAKE, SPIN_LOCK), 2, 2, 2);
	add(profile, RUN_RUNNING, NULL, STACK(MAIN, SERIAL), 3, 3, 3);
	add_ticks(profile, 1, 10);
	return profile;
}

/* Returns the share of a finding; 0: there is none. */
static double
share_found(const struct findings *findings, enum finding_kind kind)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->item[i].kind == kind)
			return findings->item[i].share;
	return 0;
}

/* Calls that read count if there are many and each transfers little. */
static void
test_calls(void **state)
{
	struct run_stats stats = { .cpus = 1, .elapsed_ns = 10 * NS_PER_SEC };
	struct findings findings;

	(void)state;
	stats.work.reads = CALLS_LEAST * 10;
	stats.work.read_bytes = stats.work.reads * CALL_BYTES_MOST;
	findings = find_in_run(busy_profile(), &stats, "save");
	assert_true(fabs(share_found(&findings, FINDING_CALLS) - 0.5) < 1e-9);
	stats.work.read_bytes++;
	findings = find_in_run(busy_profile(), &stats, "save");
	assert_true(share_found(&findings, FINDING_CALLS) <= 0);
	stats.work.reads--;
	stats.work.read_bytes = 0;
	findings = find_in_run(busy_profile(), &stats, "save");
	assert_true(share_found(&findings, FINDING_CALLS) <= 0);
}

static void
test_spin(void **state)
{
	const struct run_stats stats = { .cpus = 1 };
	const struct findings findings = find_in_run(busy_profile(), &stats, "save");

	(void)state;
	assert_true(fabs(share_found(&findings, FINDING_SPIN) - 0.2) < 1e-9);
}

/* A limit on CPU time is named with the function that waits for a CPU. */
static void
test_limit(void **state)
{
	struct run_stats stats = { .cpus = 1, .elapsed_ns = 10 * NS_PER_SEC };
	struct profile *profile = profile_create();
	struct findings findings;

	(void)state;
	stats.work.throttled_ns = 8 * NS_PER_SEC;
	add(profile, RUN_RUNNING, NULL, STACK(MAIN, SERIAL), 2, 2, 2);
	add(profile, RUN_QUEUED, NULL, STACK(MAIN, SERIAL), 8, 0, 8);
	add_ticks(profile, 1, 10);
	findings = find_in_run(profile, &stats, "serial_work");
	assert_true(fabs(share_found(&findings, FINDING_LIMIT) - 0.8) < 1e-9);
	assert_true(fabs(share_found(&findings, FINDING_QUEUE) - 0.8) < 1e-9);
}

static void
test_stopped(void **state)
{
	struct profile *profile = profile_create();
	struct findings findings;

	(void)state;
	add(profile, RUN_STOPPED, NULL, STACK(MAIN, SERIAL), 6, 0, 0);
	add(profile, RUN_RUNNING, NULL, STACK(MAIN, SERIAL), 4, 4, 4);
	add_ticks(profile, 0, 6);
	add_ticks(profile, 1, 4);
	findings = find(profile, 1, "serial_work");
	assert_int_equal(findings.item[0].kind, FINDING_STOPPED);
	assert_true(fabs(findings.item[0].share - 0.6) < 1e-9);
}

/* 24 threads that waited for a lock 6 s of 10 come before the 80 % of runnable time that threads
 * waited for a CPU, because that time was 2 s. */
static void
test_order(void **state)
{
	struct profile *profile = profile_create();
	struct findings findings;

	(void)state;
	add(profile, RUN_SLEEPING, "futex", STACK(MAIN, TAKE, MUTEX_LOCK), 24 * 6, 0, 0);
	add(profile, RUN_QUEUED, NULL, STACK(MAIN, PARALLEL), 80, 0, 1.6);
	add(profile, RUN_RUNNING, NULL, STACK(MAIN, PARALLEL), 4, 4, 0.4);
	add_gap(profile, RUN_SLEEPING, "epoll_wait", STACK(MAIN, LOOP, EPOLL), 8);
	add_ticks(profile, 0, 8);
	add_ticks(profile, 2, 2);
	findings = find(profile, 2, "take_account");
	assert_int_equal(findings.count, 3);
	assert_int_equal(findings.item[0].kind, FINDING_LOCK);
	assert_true(fabs(findings.item[0].real - 1) < 1e-9);
	assert_true(fabs(findings.item[0].share - 144.0 / 228) < 1e-9);
	assert_int_equal(findings.item[1].kind, FINDING_IDLE);
	assert_int_equal(findings.item[2].kind, FINDING_QUEUE);
	assert_true(fabs(findings.item[2].real - 0.2) < 1e-9);
	assert_true(findings.item[2].share > 0.95);
}

/* One on a CPU while another waits for one, which somebody else has: that is not alone. */
static void
test_not_alone(void **state)
{
	struct profile *profile = profile_create();
	struct findings findings;

	(void)state;
	add(profile, RUN_RUNNING, NULL, STACK(MAIN, PARALLEL), 10, 10, 5);
	add(profile, RUN_QUEUED, NULL, STACK(MAIN, PARALLEL), 10, 0, 5);
	for (int i = 0; i < 1000; i++)
		profile_add_tick(profile, TICK_NS, 1, 2);
	findings = find(profile, 2, "parallel_work");
	assert_int_equal(findings.count, 1);
	assert_int_equal(findings.item[0].kind, FINDING_QUEUE);
}

/* Ten ticks tell nothing: 30 % of them alone could be 8 %. */
static void
test_noise(void **state)
{
	struct profile *profile = profile_create();
	struct findings findings;

	(void)state;
	add(profile, RUN_RUNNING, NULL, STACK(MAIN, SERIAL), 0.03, 0.03, 0.03);
	add_ticks(profile, 0, 0.03);
	add_ticks(profile, 1, 0.03);
	add_ticks(profile, 2, 0.04);
	findings = find(profile, 4, "");
	assert_int_equal(findings.count, 0);
	findings = find(profile_create(), 4, "");
	assert_int_equal(findings.count, 0);
}

/* --- margins ------------------------------------------------------------------------------ */

static void
test_margin_of_share(void **state)
{
	(void)state;
	/* 1.96 standard deviations where there are many ticks. */
	assert_true(fabs(margin_of_share(0.5, 1e6) - 1.96 * sqrt(0.25 / 1e6)) < 1e-7);
	/* Wilson's interval is [9.43 %, 10.60 %]. */
	assert_true(fabs(margin_of_share(0.1, 10000) - 0.00603) < 1e-5);
	/* Nothing seen in 100 ticks: Wilson's interval is [0, 3.70 %]. */
	assert_true(fabs(margin_of_share(0, 100) - 0.0370) < 1e-4);
	assert_true(fabs(margin_of_share(1, 100) - margin_of_share(0, 100)) < 1e-12);
	assert_true(fabs(margin_of_share(1.1, 100) - margin_of_share(1, 100)) < 1e-12);
	assert_true(fabs(margin_of_share(0.5, 0) - 1) < 1e-12);
}

/* A program that sleeps, with 4 ms of CPU time in 4 s: the shares of its sleeps are known however
 * the CPU time was divided. */
static void
test_margin_of_sleeps(void **state)
{
	static const struct run_division borrowed = { 0, 4 * NS_PER_MS, 0.01 * NS_PER_MS,
						      20.0 * NS_PER_MS };
	struct profile *profile = profile_create();

	(void)state;
	add(profile, RUN_RUNNING, NULL, STACK(MAIN, PARALLEL), 0.004, 0.004, 0.004);
	add(profile, RUN_SLEEPING, "clock_nanosleep", STACK(MAIN, LOOP), 3.996, 0, 0);
	add_ticks(profile, 0, 3.96);
	add_ticks(profile, 1, 0.04);
	assert_true(margin_ticks(profile, &borrowed, WEIGHT_WALL, 4 * NS_PER_SEC) > 390);
	/* Of the CPU time itself nothing is known. */
	assert_true(margin_ticks(profile, &borrowed, WEIGHT_CPU, 4 * NS_PER_MS) < 0.1);
	profile_free(profile);
}

/* Whatever there is. */
#define ALL INT64_MAX

/* Even ticks count in full, exponential ones half. */
static void
test_margin_ticks(void **state)
{
	struct profile *profile = profile_create();
	struct rng rng;

	(void)state;
	assert_true(fabs(margin_ticks(profile, NULL, WEIGHT_WALL, ALL)) < 1e-12);
	for (int i = 0; i < 1000; i++)
		profile_add_tick(profile, TICK_NS, i < 100, i < 100);
	assert_true(fabs(margin_ticks(profile, NULL, WEIGHT_WALL, ALL) - 1000) < 1e-6);
	assert_true(fabs(margin_ticks(profile, NULL, WEIGHT_LATENCY, ALL) - 1000) < 1e-6);
	/* CPU time was used in a tenth of them. */
	assert_true(fabs(margin_ticks(profile, NULL, WEIGHT_CPU, ALL) - 100) < 1e-6);
	/* What ran, or lived, for so long was seen at no more ticks than that. */
	assert_true(fabs(margin_ticks(profile, NULL, WEIGHT_WALL, 10 * TICK_NS) - 10) < 1e-6);
	assert_true(fabs(margin_ticks(profile, NULL, WEIGHT_LATENCY, 500 * TICK_NS) - 500) < 1e-6);
	assert_true(fabs(margin_ticks(profile, NULL, WEIGHT_CPU, 50 * TICK_NS) - 50) < 1e-6);
	assert_true(fabs(margin_ticks(profile, NULL, WEIGHT_WALL, 0)) < 1e-12);
	profile_free(profile);

	profile = profile_create();
	rng_seed(&rng, 42);
	for (int i = 0; i < 100000; i++)
		profile_add_tick(profile, (uint64_t)rng_exponential(&rng, (double)TICK_NS), 1,
				 1);
	assert_true(fabs(margin_ticks(profile, NULL, WEIGHT_WALL, ALL) / 50000 - 1) < 0.02);
	profile_free(profile);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_serial),
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_lock),
		cmocka_unit_test(test_io),
		cmocka_unit_test(test_uninterruptible),
		cmocka_unit_test(test_idle_and_queue),
		cmocka_unit_test(test_rare),
		cmocka_unit_test(test_few_running),
		cmocka_unit_test(test_gil),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_spin),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_not_alone),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_margin_of_share),
		cmocka_unit_test(test_margin_of_sleeps),
		cmocka_unit_test(test_margin_ticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
