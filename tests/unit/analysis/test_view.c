/* SPDX-License-Identifier: MIT */
/*
 * test_view.c - views and result tables of a profile made by hand, with exact numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wallsample/base/base.h"
#include "wallsample/process/module.h"
#include "wallsample/analysis/result.h"
#include "wallsample/analysis/view.h"

#define MS ((int64_t)NS_PER_MS)

/* --- names, in place of those from symbol tables ------------------------------------- */

/* Module 0 has names, 0x10 addresses a function; module 1 and 2 have none. */
size_t
symbols_find(struct symbols *symbols, const struct symbol_place *place, struct symbol *out,
	     size_t most)
{
	const uint64_t vaddr = place->vaddr;
	static const char *const function[] = { "zero", "alpha", "beta", "gamma", "delta" };
	static const char *const nameless[] = { "bare.so+0x0", "bare.so+0x10", "bare.so+0x20" };

	(void)symbols;
	assert_true(most >= 2);
	switch (place->module) {
	case 0:
		*out = (struct symbol){
			.function = function[vaddr / 0x10],
			.module = "prog",
			.known = true,
		};
		break;
	case 1:
		*out = (struct symbol){ .function = nameless[vaddr / 0x10],
					.module = "bare.so" };
		break;
	default:
		*out = (struct symbol){ .function = "[anon]", .module = "[anon]" };
		break;
	}
	return 1;
}

void
symbols_prepare(struct symbols *symbols, const struct symbol_place *place, size_t count)
{
	(void)symbols;
	(void)place;
	(void)count;
}

static uint32_t
frame_at(struct profile *profile, uint32_t module, uint64_t address)
{
	const struct profile_frame frame = { .module = module, .address = address };

	return profile_intern_frame(profile, &frame);
}

/* A stack of functions of module 0 by number, outermost first. */
static uint32_t
stack_of(struct profile *profile, const char *functions, unsigned offset)
{
	uint32_t stack = STACK_NONE;

	for (; *functions != '\0'; functions++)
		stack = profile_intern_stack(
			profile,
			frame_at(profile, 0, (uint64_t)(*functions - '0') * 0x10 + offset), stack);
	return stack;
}

static void
add_sample(struct profile *profile, uint32_t thread, uint32_t stack, enum run_state run,
	   long syscall, int64_t ms)
{
	const struct profile_entry sample = {
		.thread = thread,
		.stack = stack,
		.state = run,
		.syscall = (int32_t)syscall,
		.samples = ms / 10,
		.ns[WEIGHT_WALL] = ms * MS,
	};

	profile_add(profile, &sample);
}

static const struct filter all = { 0 };

/*
 * main (300, "main") and two workers. 1 is alpha, 2 beta, and so on.
 *   main:     1>2 running 100 ms; 1>3 sleeping in futex (202) 200 ms
 *   worker 1: 1>2>2>2 (recursion) running 40, waiting for a CPU 10
 *   worker 2: [failed: …] 30; [anon] under bare.so under 4: sleeping in poll (7) 20
 */
static struct profile *
make_profile(void)
{
	struct profile *profile = profile_create();
	const uint32_t main_thread = profile_add_thread(profile, 0, 300, 1, "main");
	const uint32_t worker1 = profile_add_thread(profile, 0, 302, 2, "worker-1");
	const uint32_t worker2 = profile_add_thread(profile, 0, 301, 2, "worker-2");
	const uint32_t failed = profile_intern_named(profile, "[failed: thread exited]");
	uint32_t stack;

	/* Two addresses of the same functions: one row. */
	add_sample(profile, main_thread, stack_of(profile, "12", 0), RUN_RUNNING, -1, 60);
	add_sample(profile, main_thread, stack_of(profile, "12", 4), RUN_RUNNING, -1, 40);
	add_sample(profile, main_thread, stack_of(profile, "13", 0), RUN_SLEEPING, 202, 200);
	add_sample(profile, worker1, stack_of(profile, "1222", 0), RUN_RUNNING, -1, 40);
	add_sample(profile, worker1, stack_of(profile, "1222", 0), RUN_QUEUED, -1, 10);
	add_sample(profile, worker2, profile_intern_stack(profile, failed, STACK_NONE),
		   RUN_UNKNOWN, -1, 30);
	stack = stack_of(profile, "4", 0);
	stack = profile_intern_stack(profile, frame_at(profile, 1, 0x10), stack);
	stack = profile_intern_stack(profile, frame_at(profile, 1, 0x20), stack);
	stack = profile_intern_stack(profile, frame_at(profile, 2, 0x7777), stack);
	add_sample(profile, worker2, stack, RUN_SLEEPING, 7, 20);
	return profile;
}

/* "alpha<beta" of a row, outermost first. */
static void
check_row(const struct view *view, size_t index, const char *functions, int64_t ms)
{
	const struct view_row *row = view_row(view, index);
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_text(&sb, "");
	for (size_t i = row->depth; i-- > 0;)
		strbuf_add_format(&sb, "%s%s", view_function(view, row->function[i])->name,
				  i > 0 ? "<" : "");
	assert_string_equal(sb.data, functions);
	assert_int_equal(row->ns[WEIGHT_WALL], ms * MS);
	assert_int_equal(row->samples, ms / 10);
	strbuf_release(&sb);
}

static void
test_rows(void **state)
{
	struct profile *profile = make_profile();
	struct view *view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);

	(void)state;
	assert_ptr_equal(view_profile(view), profile);
	assert_int_equal(view_row_count(view), 6);
	check_row(view, 0, "alpha<beta", 100);
	check_row(view, 1, "alpha<gamma", 200);
	check_row(view, 2, "alpha<beta<beta<beta", 40);
	check_row(view, 3, "alpha<beta<beta<beta", 10);
	check_row(view, 4, "[failed: thread exited]", 30);
	check_row(view, 5, "delta<bare.so+0x10<bare.so+0x20<[anon]", 20);
	assert_ptr_equal(view_row(view, 2)->function, view_row(view, 3)->function);
	assert_int_equal(view_total_ns(view, WEIGHT_WALL), 400 * MS);
	assert_int_equal(view_total_samples(view), 40);
	assert_int_equal(view_unfiltered_ns(view), 400 * MS);
	view_free(view);
	profile_free(profile);
}

static void
test_corrections(void **state)
{
	struct profile *profile = profile_create();
	const uint32_t thread = profile_add_thread(profile, 0, 1, 1, "t");
	struct view *view;

	(void)state;
	/* Less than nothing: left out, and not in the sums. */
	add_sample(profile, thread, stack_of(profile, "1", 0), RUN_SLEEPING, 7, 20);
	add_sample(profile, thread, stack_of(profile, "1", 0), RUN_SLEEPING, 7, -50);
	/* Nothing. */
	add_sample(profile, thread, stack_of(profile, "2", 0), RUN_RUNNING, -1, 20);
	add_sample(profile, thread, stack_of(profile, "2", 0), RUN_RUNNING, -1, -20);
	/* Negative at one address, outweighed at another of the same function. */
	add_sample(profile, thread, stack_of(profile, "3", 0), RUN_RUNNING, -1, -10);
	add_sample(profile, thread, stack_of(profile, "3", 4), RUN_RUNNING, -1, 70);
	view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	assert_int_equal(view_row_count(view), 1);
	check_row(view, 0, "gamma", 60);
	assert_int_equal(view_total_ns(view, WEIGHT_WALL), 60 * MS);
	assert_int_equal(view_unfiltered_ns(view), 60 * MS);
	view_free(view);
	profile_free(profile);
}

static void
add_real_time(struct profile *profile, uint32_t stack, enum run_state run, int64_t overhead_ms,
	      int64_t latency_ms)
{
	const struct profile_entry sample = {
		.thread = profile_add_thread(profile, 0, 300, 1, "main"),
		.stack = stack,
		.state = run,
		.syscall = run == RUN_SLEEPING ? 202 : -1,
		.samples = 1,
		.ns = { latency_ms * MS, overhead_ms * MS, latency_ms * MS },
	};

	profile_add(profile, &sample);
}

/*
 * Real time of a wait that ended a gap is no time in which a function ran, though it is
 * charged to the same function: 2 ran for 40 ms alone and 20 ms beside another, could have run
 * for 10, and ended 500 ms in which nobody did.
 */
static void
test_busy(void **state)
{
	struct profile *profile = profile_create();
	struct top_table top;
	struct view *view;
	uint32_t stack;

	(void)state;
	profile_add_tick(profile, 100 * NS_PER_MS, 2, 2);
	add_real_time(profile, stack_of(profile, "12", 0), RUN_RUNNING, 80, 60);
	add_real_time(profile, stack_of(profile, "12", 0), RUN_QUEUED, 0, 10);
	stack = profile_intern_stack(profile, profile_intern_named(profile, "[waiting]"),
				     STACK_NONE);
	stack = profile_intern_stack(
		profile, profile_intern_named(profile, "[sleeping in futex]"), stack);
	stack = profile_intern_stack(profile, frame_at(profile, 0, 0x10), stack);
	stack = profile_intern_stack(profile, frame_at(profile, 0, 0x20), stack);
	add_real_time(profile, stack, RUN_SLEEPING, 0, 500);
	view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	top_table_make(view, WEIGHT_LATENCY, &top);
	assert_string_equal(view_function(view, top.row[0].function)->name, "beta");
	assert_int_equal(top.row[0].flat[WEIGHT_LATENCY], 570 * MS);
	assert_int_equal(top.row[0].flat_running_ns, 60 * MS);
	assert_int_equal(top.row[0].busy_ns, 70 * MS);
	assert_string_equal(view_function(view, top.row[1].function)->name, "alpha");
	assert_int_equal(top.row[1].flat_running_ns, 0);
	assert_int_equal(top.row[1].busy_ns, 70 * MS);
	top_table_release(&top);
	view_free(view);

	/* Of those that ran alone, without those that waited, parallelism cannot be told. */
	view = view_create(profile, NULL, &(struct filter){ .states = 1u << RUN_RUNNING },
			   VIEW_BY_FUNCTION);
	assert_true(view_splits_runnable(view));
	top_table_make(view, WEIGHT_LATENCY, &top);
	assert_int_equal(top.row[0].flat[WEIGHT_LATENCY], 60 * MS);
	assert_int_equal(top.row[0].busy_ns, 0);
	top_table_release(&top);
	view_free(view);
	profile_free(profile);
}

static void
check_rows(const struct profile *profile, const struct filter *filter, enum view_key key,
	   const char *const *functions, const int64_t *ms)
{
	struct view *view = view_create(profile, NULL, filter, key);
	size_t i = 0;

	for (; functions[i] != NULL; i++)
		check_row(view, i, functions[i], ms[i]);
	assert_int_equal(view_row_count(view), i);
	view_free(view);
}

#define ROWS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define TIMES(...) ((const int64_t[]){ __VA_ARGS__ })

/* Frames that stand for what a sample is of; filters are for functions all the same. */
static void
test_by_thread_and_state(void **state)
{
	struct profile *profile = make_profile();
	struct filter filter = all;
	struct view *view;
	struct top_table top;
	regex_t beta;

	(void)state;
	check_rows(profile, &all, VIEW_BY_THREAD,
		   ROWS("main-300", "main-300", "worker-1-302", "worker-1-302", "worker-2-301",
			"worker-2-301"),
		   TIMES(100, 200, 40, 10, 30, 20));
	check_rows(profile, &all, VIEW_BY_STATE,
		   ROWS("[running]", "[sleeping in futex]", "[running]", "[waiting for a CPU]",
			"[unknown]", "[sleeping in poll]"),
		   TIMES(100, 200, 40, 10, 30, 20));
	view = view_create(profile, NULL, &all, VIEW_BY_STATE);
	top_table_make(view, WEIGHT_WALL, &top);
	assert_int_equal(top.count, 5);
	assert_string_equal(view_function(view, top.row[1].function)->name, "[running]");
	assert_int_equal(top.row[1].flat[WEIGHT_WALL], 140 * MS);
	assert_int_equal(top.row[1].cum[WEIGHT_WALL], 140 * MS);
	top_table_release(&top);
	view_free(view);

	assert_int_equal(regcomp(&beta, "^beta$", REG_EXTENDED | REG_NOSUB), 0);
	filter.include = &beta;
	check_rows(profile, &filter, VIEW_BY_THREAD,
		   ROWS("main-300", "worker-1-302", "worker-1-302"), TIMES(100, 40, 10));
	filter = (struct filter){ .exclude = &beta };
	check_rows(profile, &filter, VIEW_BY_STATE,
		   ROWS("[sleeping in futex]", "[unknown]", "[sleeping in poll]"),
		   TIMES(200, 30, 20));
	regfree(&beta);
	profile_free(profile);
}

/* What ended the time in which nobody could run is still told. */
static void
test_gap_by_thread_and_state(void **state)
{
	struct profile *profile = profile_create();
	uint32_t stack = profile_intern_stack(
		profile, profile_intern_named(profile, PROFILE_GAP), STACK_NONE);

	(void)state;
	stack = profile_intern_stack(
		profile, profile_intern_named(profile, "[sleeping in futex]"), stack);
	stack = profile_intern_stack(profile, frame_at(profile, 0, 0x10), stack);
	stack = profile_intern_stack(profile, frame_at(profile, 0, 0x20), stack);
	add_sample(profile, profile_add_thread(profile, 0, 300, 1, "main"), stack, RUN_SLEEPING,
		   202, 500);
	check_rows(profile, &all, VIEW_BY_THREAD,
		   ROWS("[waiting]<[sleeping in futex]<main-300"), TIMES(500));
	check_rows(profile, &all, VIEW_BY_STATE, ROWS("[waiting]<[sleeping in futex]"),
		   TIMES(500));
	profile_free(profile);
}

static void
test_empty(void **state)
{
	struct profile *profile = profile_create();
	struct view *view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	struct top_table top;
	struct state_table states;
	struct thread_table threads;
	struct unnamed_table unnamed;

	(void)state;
	top_table_make(view, WEIGHT_WALL, &top);
	state_table_make(view, &states);
	thread_table_make(view, &threads);
	unnamed_table_make(view, &unnamed);
	assert_int_equal(view_row_count(view) + top.count + states.count + threads.count +
				 unnamed.count, 0);
	top_table_release(&top);
	free(states.row);
	thread_table_release(&threads);
	free(unnamed.row);
	view_free(view);
	profile_free(profile);
}

static void
test_sample_without_stack(void **state)
{
	struct profile *profile = profile_create();
	struct thread_table threads;
	struct top_table top;
	struct view *view;

	(void)state;
	add_sample(profile, profile_add_thread(profile, 0, 1, 1, "t"), STACK_NONE, RUN_RUNNING, -1,
		   10);
	view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	check_row(view, 0, "", 10);
	top_table_make(view, WEIGHT_WALL, &top);
	assert_int_equal(top.count, 0);
	thread_table_make(view, &threads);
	assert_int_equal(threads.row[0].top, view_function_count(view));
	top_table_release(&top);
	thread_table_release(&threads);
	view_free(view);
	profile_free(profile);
}

/* --- filters ------------------------------------------------------------------------------ */

static void
check_filter(const struct filter *filter, size_t rows, int64_t ms)
{
	struct profile *profile = make_profile();
	struct view *view = view_create(profile, NULL, filter, VIEW_BY_FUNCTION);

	assert_int_equal(view_row_count(view), rows);
	assert_int_equal(view_total_ns(view, WEIGHT_WALL), ms * MS);
	assert_int_equal(view_unfiltered_ns(view), 400 * MS);
	view_free(view);
	profile_free(profile);
}

static void
test_filters(void **state)
{
	static uint64_t tids[] = { 300, 301 };
	regex_t beta, anywhere, failed;

	(void)state;
	assert_int_equal(regcomp(&beta, "^beta$", REG_EXTENDED | REG_NOSUB), 0);
	assert_int_equal(regcomp(&anywhere, "bare|gam", REG_EXTENDED | REG_NOSUB), 0);
	assert_int_equal(regcomp(&failed, "failed", REG_EXTENDED | REG_NOSUB), 0);
	check_filter(&(struct filter){ .tids = { tids, 2 } }, 4, 350);
	check_filter(&(struct filter){ .tids = { tids, 0 } }, 0, 0);
	check_filter(&(struct filter){ .thread_name = "worker-*" }, 4, 100);
	check_filter(&(struct filter){ .thread_name = "nobody" }, 0, 0);
	check_filter(&(struct filter){ .states = 1u << RUN_SLEEPING }, 2, 220);
	check_filter(&(struct filter){ .states = 1u << RUN_RUNNING | 1u << RUN_QUEUED }, 3, 150);
	check_filter(&(struct filter){ .include = &beta }, 3, 150);
	check_filter(&(struct filter){ .include = &anywhere }, 2, 220);
	check_filter(&(struct filter){ .exclude = &beta }, 3, 250);
	check_filter(&(struct filter){ .include = &failed }, 1, 30);
	check_filter(&(struct filter){ .include = &beta, .exclude = &beta }, 0, 0);
	check_filter(&(struct filter){ .include = &beta, .thread_name = "main",
				       .states = 1u << RUN_RUNNING }, 1, 100);
	regfree(&beta);
	regfree(&anywhere);
	regfree(&failed);
}

static void
test_filter_thread(void **state)
{
	static uint64_t tids[] = { 5, 6 };
	const struct filter both = { .tids = { tids, 2 }, .thread_name = "io*" };

	(void)state;
	assert_true(filter_thread(&all, 1, "anything"));
	assert_true(filter_thread(&both, 6, "io-3"));
	assert_false(filter_thread(&both, 7, "io-3"));
	assert_false(filter_thread(&both, 6, "cpu-3"));
}

/* Patterns are given one by one or separated by commas. */
static void
test_excluded_threads(void **state)
{
	static const char *texts[] = { "main,wor*-*", "worker-1", NULL };
	const struct filter excluding = { .exclude_thread = { texts, 2 } };
	struct profile *profile = make_profile();
	struct view *view = view_create(profile, NULL, &excluding, VIEW_BY_FUNCTION);
	struct view *whole = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	struct run_excluded excluded = view_excluded(view);

	(void)state;
	assert_true(filter_excludes_thread(&excluding, "main"));
	assert_true(filter_excludes_thread(&excluding, "worker-2"));
	assert_false(filter_excludes_thread(&excluding, "main,worker-2"));
	assert_false(filter_excludes_thread(&excluding, "io"));
	assert_false(filter_selects_threads(&excluding));
	assert_false(filter_thread(&excluding, 1, "main"));
	assert_true(filter_thread(&excluding, 1, "io"));
	assert_true(excluded.threads > 0);
	assert_int_equal(excluded.cpu_ns + (uint64_t)view_total_ns(view, WEIGHT_CPU),
			 view_total_ns(whole, WEIGHT_CPU));
	assert_int_equal(view_excluded(whole).threads, 0);
	view_free(whole);
	view_free(view);
	profile_free(profile);
}

/* --- tables -------------------------------------------------------------------------------- */

static void
test_top_table(void **state)
{
	static const struct {
		const char *name;
		int64_t flat_ms, cum_ms;
	} expected[] = {
		{ "gamma", 200, 200 },
		{ "beta", 150, 150 },
		{ "[failed: thread exited]", 30, 30 },
		{ "[anon]", 20, 20 },
		{ "alpha", 0, 350 },
		{ "bare.so+0x10", 0, 20 },
		{ "bare.so+0x20", 0, 20 },
		{ "delta", 0, 20 },
	};
	struct profile *profile = make_profile();
	struct view *view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	struct top_table top;

	(void)state;
	top_table_make(view, WEIGHT_WALL, &top);
	assert_int_equal(top.count, ARRAY_SIZE(expected));
	for (size_t i = 0; i < top.count; i++) {
		assert_string_equal(view_function(view, top.row[i].function)->name,
				    expected[i].name);
		assert_int_equal(top.row[i].flat[WEIGHT_WALL], expected[i].flat_ms * MS);
		assert_int_equal(top.row[i].cum[WEIGHT_WALL], expected[i].cum_ms * MS);
	}
	top_table_release(&top);
	view_free(view);
	profile_free(profile);
}

/* What a filter leaves out is not a row with zeros. */
static void
test_top_table_of_selected(void **state)
{
	struct profile *profile = make_profile();
	struct view *view =
		view_create(profile, NULL, &(struct filter){ .states = 1u << RUN_UNKNOWN },
			    VIEW_BY_FUNCTION);
	struct top_table top;

	(void)state;
	top_table_make(view, WEIGHT_WALL, &top);
	assert_int_equal(top.count, 1);
	assert_int_equal(top.row[0].flat[WEIGHT_WALL], 30 * MS);
	top_table_release(&top);
	view_free(view);
	profile_free(profile);
}

/* Each function's time is that of the threads together. */
static void
test_top_table_of_threads(void **state)
{
	struct profile *profile = make_profile();
	struct view *view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	struct top_table top;

	(void)state;
	top_table_make(view, WEIGHT_WALL, &top);
	for (uint32_t t = 0; t < profile_thread_count(profile); t++) {
		struct top_table own;

		top_table_make_thread(view, WEIGHT_WALL, t, &own);
		for (size_t i = 0; i < own.count; i++)
			for (size_t k = 0; k < top.count; k++)
				if (top.row[k].function == own.row[i].function) {
					top.row[k].flat[WEIGHT_WALL] -=
						own.row[i].flat[WEIGHT_WALL];
					top.row[k].cum[WEIGHT_WALL] -= own.row[i].cum[WEIGHT_WALL];
				}
		top_table_release(&own);
	}
	for (size_t k = 0; k < top.count; k++)
		assert_true(top.row[k].flat[WEIGHT_WALL] == 0 && top.row[k].cum[WEIGHT_WALL] == 0);
	top_table_release(&top);
	view_free(view);
	profile_free(profile);
}

static void
test_state_table(void **state)
{
	static const struct {
		enum run_state state;
		int32_t syscall;
		int64_t samples, wall_ns;
	} expected[] = {
		{ RUN_SLEEPING, 202, 20, 200 * MS }, { RUN_RUNNING, -1, 14, 140 * MS },
		{ RUN_QUEUED, -1, 3, 30 * MS },      { RUN_UNKNOWN, -1, 3, 30 * MS },
		{ RUN_SLEEPING, 7, 2, 20 * MS },
	};
	struct profile *profile = make_profile();
	struct state_table states;
	struct view *view = view_create(profile, NULL, &(struct filter){ .thread_name = "*" },
					VIEW_BY_FUNCTION);
	const size_t rows = view_row_count(view);

	(void)state;
	view_free(view);
	/* A system call that has ended is no wait, and makes no row of its own. */
	add_sample(profile, 0, stack_of(profile, "1", 0), RUN_RUNNING, 99, 10);
	add_sample(profile, 0, stack_of(profile, "1", 0), RUN_RUNNING, 98, -10);
	add_sample(profile, 0, stack_of(profile, "1", 0), RUN_QUEUED, 99, 10);
	add_sample(profile, 0, stack_of(profile, "1", 0), RUN_QUEUED, 98, 10);
	view = view_create(profile, NULL, &(struct filter){ .thread_name = "*" }, VIEW_BY_FUNCTION);
	assert_in_range(view_row_count(view), rows + 1, rows + 2);
	state_table_make(view, &states);
	assert_int_equal(states.count, ARRAY_SIZE(expected));
	for (size_t i = 0; i < states.count; i++) {
		assert_int_equal(states.row[i].state, expected[i].state);
		assert_int_equal(states.row[i].syscall, expected[i].syscall);
		assert_int_equal(states.row[i].samples, expected[i].samples);
		assert_int_equal(states.row[i].ns[WEIGHT_WALL], expected[i].wall_ns);
	}
	free(states.row);
	view_free(view);
	profile_free(profile);
}

static void
test_thread_table(void **state)
{
	static const struct {
		pid_t tid;
		int64_t weight_ms, runnable_ms, top_ms;
		const char *top;
	} expected[] = {
		{ 300, 300, 100, 200, "gamma" },
		{ 302, 50, 50, 50, "beta" },
		{ 301, 50, 0, 30, "[failed: thread exited]" },
	};
	struct profile *profile = make_profile();
	struct thread_table threads;
	struct view *view;

	(void)state;
	profile_add_thread(profile, 0, 999, 1, "never sampled");
	view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	thread_table_make(view, &threads);
	assert_int_equal(threads.count, ARRAY_SIZE(expected));
	for (size_t i = 0; i < threads.count; i++) {
		const struct thread_row *row = &threads.row[i];

		assert_int_equal(profile_thread(profile, row->thread)->tid, expected[i].tid);
		assert_int_equal(row->ns[WEIGHT_WALL], expected[i].weight_ms * MS);
		assert_int_equal(row->runnable_ns, expected[i].runnable_ms * MS);
		assert_int_equal(row->top_ns, expected[i].top_ms * MS);
		assert_string_equal(view_function(view, row->top)->name, expected[i].top);
	}
	thread_table_release(&threads);
	view_free(view);
	profile_free(profile);
}

static void
test_unnamed_table(void **state)
{
	struct profile *profile = make_profile();
	struct view *view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	struct unnamed_table unnamed;

	(void)state;
	unnamed_table_make(view, &unnamed);
	assert_int_equal(unnamed.count, 2);
	assert_string_equal(unnamed.row[0].module, "[anon]");
	assert_int_equal(unnamed.row[0].flat[WEIGHT_WALL], 20 * MS);
	assert_int_equal(unnamed.row[0].cum[WEIGHT_WALL], 20 * MS);
	/* Two of its frames are in the stack, which counts once. */
	assert_string_equal(unnamed.row[1].module, "bare.so");
	assert_int_equal(unnamed.row[1].flat[WEIGHT_WALL], 0);
	assert_int_equal(unnamed.row[1].cum[WEIGHT_WALL], 20 * MS);
	free(unnamed.row);
	view_free(view);
	profile_free(profile);
}

/* Equal times: the order is fixed by names and thread ids, not by arrival. */
static void
test_ties(void **state)
{
	struct profile *profile = profile_create();
	const uint32_t later = profile_add_thread(profile, 0, 20, 1, "b");
	const uint32_t earlier = profile_add_thread(profile, 0, 10, 1, "a");
	struct thread_table threads;
	struct top_table top;
	struct view *view;

	(void)state;
	add_sample(profile, later, stack_of(profile, "3", 0), RUN_RUNNING, -1, 10);
	add_sample(profile, later, stack_of(profile, "2", 0), RUN_RUNNING, -1, 10);
	add_sample(profile, earlier, stack_of(profile, "4", 0), RUN_RUNNING, -1, 10);
	add_sample(profile, earlier, stack_of(profile, "1", 0), RUN_RUNNING, -1, 10);
	view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	top_table_make(view, WEIGHT_WALL, &top);
	assert_string_equal(view_function(view, top.row[0].function)->name, "alpha");
	assert_string_equal(view_function(view, top.row[1].function)->name, "beta");
	assert_string_equal(view_function(view, top.row[2].function)->name, "delta");
	assert_string_equal(view_function(view, top.row[3].function)->name, "gamma");
	thread_table_make(view, &threads);
	assert_int_equal(threads.row[0].thread, earlier);
	assert_string_equal(view_function(view, threads.row[0].top)->name, "alpha");
	assert_string_equal(view_function(view, threads.row[1].top)->name, "beta");
	top_table_release(&top);
	thread_table_release(&threads);
	view_free(view);
	profile_free(profile);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_corrections),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_by_thread_and_state),
		cmocka_unit_test(test_gap_by_thread_and_state),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_sample_without_stack),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_filter_thread),
		cmocka_unit_test(test_excluded_threads),
		cmocka_unit_test(test_top_table),
		cmocka_unit_test(test_top_table_of_selected),
		cmocka_unit_test(test_top_table_of_threads),
		cmocka_unit_test(test_state_table),
		cmocka_unit_test(test_thread_table),
		cmocka_unit_test(test_unnamed_table),
		cmocka_unit_test(test_ties),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
