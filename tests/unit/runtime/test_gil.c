/* SPDX-License-Identifier: MIT */
/*
 * test_gil.c - what threads had to do with an interpreter's lock: the table, the filter, frames by
 * it, and what reports say; of a profile made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wallsample/base/base.h"
#include "wallsample/unwind/chain.h"
#include "wallsample/format/exporters.h"
#include "wallsample/analysis/finding.h"
#include "wallsample/analysis/gil_table.h"
#include "wallsample/analysis/result.h"

#define MS ((int64_t)NS_PER_MS)

static const struct filter all = { 0 };

/* --- profiles ---------------------------------------------------------------------------- */

/* A stack of a native function, or one of an interpreted program (in capitals), per letter. */
static uint32_t
stack_of(struct profile *profile, const char *functions)
{
	uint32_t stack = STACK_NONE;
	char name[2] = "";

	for (; *functions != '\0'; functions++) {
		uint32_t frame;

		name[0] = *functions;
		if (*functions >= 'A' && *functions <= 'Z')
			frame = profile_intern_script(profile, profile_intern_text(profile, name),
						      profile_intern_text(profile, "app.py"), 7);
		else
			frame = profile_intern_named(profile, name);
		stack = profile_intern_stack(profile, frame, stack);
	}
	return stack;
}

static void
add(struct profile *profile, uint32_t thread, const char *functions, enum run_state state,
    enum gil gil, int64_t ms)
{
	const struct profile_entry entry = {
		.thread = thread,
		.stack = stack_of(profile, functions),
		.state = state,
		.syscall = (int32_t)(state == RUN_SLEEPING ? syscall_number("futex") :
							     SYSCALL_NONE),
		.gil = gil,
		.samples = ms / 10,
		.ns[WEIGHT_WALL] = ms * MS,
		.ns[WEIGHT_CPU] = state == RUN_RUNNING ? ms * MS : 0,
	};

	profile_add(profile, &entry);
}

static void
add_time(struct profile *profile, int64_t ms)
{
	for (; ms > 0; ms -= 10)
		profile_add_tick(profile, 10 * NS_PER_MS, 1, 1);
}

/*
 * In ten seconds a pure loop (30) had the lock for 6, and waited; a thread that also works without
 * it (31) had it for 2; one hands it over (32); two have nothing to do with it (33, 34); one is of
 * no interpreter (35).
 */
static struct profile *
make_profile(void)
{
	struct profile *profile = profile_create();
	const uint32_t loop = profile_add_thread(profile, 0, 30, 1, "loop");
	const uint32_t mixed = profile_add_thread(profile, 0, 31, 1, "mixed");
	const uint32_t giver = profile_add_thread(profile, 0, 32, 1, "giver");
	const uint32_t idle = profile_add_thread(profile, 0, 33, 1, "idle");
	const uint32_t asleep = profile_add_thread(profile, 0, 34, 1, "asleep");
	const uint32_t native = profile_add_thread(profile, 0, 35, 1, "native");

	add(profile, loop, "mLx", RUN_RUNNING, GIL_HAS, 6000);
	add(profile, loop, "mLx", RUN_SLEEPING, GIL_WAIT, 4000);
	add(profile, mixed, "mK", RUN_RUNNING, GIL_HAS, 2000);
	add(profile, mixed, "mK", RUN_RUNNING, GIL_NONE, 1000);
	add(profile, mixed, "mK", RUN_SLEEPING, GIL_NONE, 6000);
	add(profile, mixed, "mK", RUN_SLEEPING, GIL_WAIT, 1000);
	add(profile, giver, "mG", RUN_QUEUED, GIL_HANDOVER, 500);
	add(profile, giver, "mG", RUN_SLEEPING, GIL_NONE, 9500);
	add(profile, idle, "mz", RUN_SLEEPING, GIL_NONE, 10000);
	add(profile, asleep, "mz", RUN_SLEEPING, GIL_NONE, 10000);
	add(profile, native, "mz", RUN_SLEEPING, GIL_UNKNOWN, 10000);
	add_time(profile, 10000);
	return profile;
}

/* --- the table --------------------------------------------------------------------------- */

static void
check_row(const struct gil_table *gil, size_t at, uint32_t thread, const int64_t *ms)
{
	const struct gil_row *row = &gil->row[at];

	assert_int_equal(row->thread, thread);
	assert_int_equal(row->ns[GIL_UNKNOWN], 0);
	assert_int_equal(row->ns[GIL_NONE], ms[0] * MS);
	assert_int_equal(row->ns[GIL_HAS], ms[1] * MS);
	assert_int_equal(row->ns[GIL_WAIT], ms[2] * MS);
	assert_int_equal(row->ns[GIL_HANDOVER], ms[3] * MS);
	assert_int_equal(row->total_ns, (ms[0] + ms[1] + ms[2] + ms[3]) * MS);
}

#define TIMES(...) ((const int64_t[]){ __VA_ARGS__ })

static void
test_table(void **state)
{
	struct profile *profile = make_profile();
	struct view *view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	struct gil_table gil;

	(void)state;
	gil_table_make(view, &gil);
	assert_int_equal(gil.count, 5);
	assert_int_equal(gil.concerned, 3);
	check_row(&gil, 0, 0, TIMES(0, 6000, 4000, 0));
	check_row(&gil, 1, 1, TIMES(7000, 2000, 1000, 0));
	check_row(&gil, 2, 2, TIMES(9500, 0, 0, 500));
	check_row(&gil, 3, 3, TIMES(10000, 0, 0, 0));
	check_row(&gil, 4, 4, TIMES(10000, 0, 0, 0));
	assert_int_equal(gil.total_ns, 50000 * MS);
	assert_int_equal(gil.ns[GIL_HAS], 8000 * MS);
	assert_float_equal(gil.held_share, 0.8, 1e-9);
	assert_float_equal(gil.wait_average, 0.55, 1e-9);
	free(gil.row);
	view_free(view);
	profile_free(profile);
}

/* Nothing is said of programs without an interpreter, and of no time at all. */
static void
test_none(void **state)
{
	struct profile *profile = profile_create();
	const uint32_t thread = profile_add_thread(profile, 0, 30, 1, "t");
	struct gil_table gil;
	struct view *view;

	(void)state;
	add(profile, thread, "m", RUN_RUNNING, GIL_UNKNOWN, 1000);
	view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	gil_table_make(view, &gil);
	assert_int_equal(gil.count, 0);
	assert_true(gil.held_share == 0 && gil.wait_average == 0);
	free(gil.row);
	view_free(view);
	add(profile, thread, "m", RUN_RUNNING, GIL_HAS, 1000);
	view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	gil_table_make(view, &gil);
	assert_int_equal(gil.count, 1);
	assert_true(gil.held_share == 0);
	free(gil.row);
	view_free(view);
	profile_free(profile);
}

/* --- what is selected, and frames by it ---------------------------------------------------- */

static void
check_wall(const struct profile *profile, const struct filter *filter, int64_t ms)
{
	struct view *view = view_create(profile, NULL, filter, VIEW_BY_FUNCTION);

	assert_int_equal(view_total_ns(view, WEIGHT_WALL), ms * MS);
	assert_int_equal(view_unfiltered_ns(view), 60000 * MS);
	view_free(view);
}

static void
test_filter(void **state)
{
	struct profile *profile = make_profile();

	(void)state;
	check_wall(profile, &(struct filter){ .gils = 1u << GIL_HAS }, 8000);
	check_wall(profile, &(struct filter){ .gils = 1u << GIL_WAIT | 1u << GIL_HANDOVER }, 5500);
	check_wall(profile, &(struct filter){ .gils = 1u << GIL_NONE }, 36500);
	/* blocked without it, the recipe of an off-GIL flame graph */
	const uint32_t blocked = 1u << RUN_SLEEPING | 1u << RUN_UNINTERRUPTIBLE;
	check_wall(profile, &(struct filter){ .gils = 1u << GIL_NONE, .states = blocked }, 35500);
	profile_free(profile);
}

/* Rows differ by it, and view_sample tells by it. */
static void
test_rows(void **state)
{
	struct profile *profile = make_profile();
	const struct filter has = { .gils = 1u << GIL_HAS };
	struct view *view = view_create(profile, NULL, &has, VIEW_BY_FUNCTION);
	struct profile_entry sample = *profile_entry(profile, 0);
	const uint32_t *function;
	size_t depth;

	(void)state;
	assert_int_equal(view_row_count(view), 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(view_row(view, i)->gil, GIL_HAS);
	assert_true(view_sample(view, &sample, &function, &depth));
	assert_int_equal(depth, 3);
	sample.gil = GIL_NONE;
	assert_false(view_sample(view, &sample, &function, &depth));
	view_free(view);
	profile_free(profile);
}

static void
test_by_gil(void **state)
{
	static const struct {
		const char *name;
		int64_t ms;
	} expected[] = {
		{ "[no GIL]", 36500 },      { "[GIL not known]", 10000 }, { "[has GIL]", 8000 },
		{ "[GIL wait]", 5000 },     { "[GIL handover]", 500 },
	};
	struct profile *profile = make_profile();
	struct view *view = view_create(profile, NULL, &all, VIEW_BY_GIL);
	struct top_table top;

	(void)state;
	assert_string_equal(view_key_word(VIEW_BY_GIL), "gil");
	assert_true(view_key_is_of_sample(VIEW_BY_GIL));
	top_table_make(view, WEIGHT_WALL, &top);
	assert_int_equal(top.count, ARRAY_SIZE(expected));
	for (size_t i = 0; i < top.count; i++) {
		assert_string_equal(view_function(view, top.row[i].function)->name,
				    expected[i].name);
		assert_int_equal(top.row[i].flat[WEIGHT_WALL], expected[i].ms * MS);
	}
	top_table_release(&top);
	view_free(view);
	profile_free(profile);
}

/* Whom waiters for the lock waited for had it. */
static void
test_blame(void **state)
{
	struct profile *profile = make_profile();
	const struct profile_wait gil = { .kind = WAIT_GIL, .object = FRAME_NONE };
	const struct profile_wait mutex = { .kind = WAIT_MUTEX, .object = FRAME_NONE };
	struct profile_blame blame = {
		.wait = profile_add_wait(profile, &gil),
		.thread = 0,
		.stack = stack_of(profile, "mL"),
		.state = RUN_RUNNING,
		.samples = 1,
		.ns = 30 * MS,
	};
	const struct filter has = { .gils = 1u << GIL_HAS, .blame = true };
	struct view *view;

	(void)state;
	profile_add_blame(profile, &blame);
	blame.wait = profile_add_wait(profile, &mutex);
	profile_add_blame(profile, &blame);
	view = view_create(profile, NULL, &has, VIEW_BY_FUNCTION);
	assert_int_equal(view_total_ns(view, WEIGHT_WALL), 30 * MS);
	view_free(view);
	profile_free(profile);
}

/* --- what limits a program ----------------------------------------------------------------- */

static struct findings
find(const struct profile *profile, struct view **view)
{
	struct findings findings;
	struct own own;

	*view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	own_make(*view, NULL, &own);
	findings_make(*view, &own, &(struct run_stats){ .cpus = 2 }, &findings);
	own_release(&own);
	return findings;
}

/* Of ten seconds one had it for 9.8, and two waited for most of them. */
static struct profile *
make_convoy(int64_t waited_ms)
{
	struct profile *profile = profile_create();

	for (uint32_t i = 0; i < 3; i++)
		profile_add_thread(profile, 0, (pid_t)(40 + i), 1, "w");
	add(profile, 0, "mLx", RUN_RUNNING, GIL_HAS, 9800);
	add(profile, 0, "mLx", RUN_RUNNING, GIL_NONE, 200);
	add(profile, 1, "mLt", RUN_SLEEPING, GIL_WAIT, waited_ms);
	add(profile, 1, "mLt", RUN_SLEEPING, GIL_NONE, 10000 - waited_ms);
	add(profile, 2, "mLt", RUN_QUEUED, GIL_HANDOVER, waited_ms);
	add(profile, 2, "mLt", RUN_SLEEPING, GIL_NONE, 10000 - waited_ms);
	add_time(profile, 10000);
	return profile;
}

static bool
gil_of(const struct findings *findings, struct finding *found)
{
	for (size_t i = 0; i < findings->count; i++) {
		if (findings->item[i].kind != FINDING_GIL)
			continue;
		*found = findings->item[i];
		return true;
	}
	return false;
}

static void
test_finding(void **state)
{
	struct profile *profile = make_convoy(9500);
	struct finding found = { .share = 0 };
	struct findings findings;
	struct view *view;

	(void)state;
	findings = find(profile, &view);
	assert_true(gil_of(&findings, &found));
	assert_float_equal(found.share, 0.98, 1e-9);
	assert_float_equal(found.waiting, 1.9, 1e-9);
	/* the innermost function of the program, not of the interpreter */
	assert_string_equal(view_function(view, found.function)->name, "L");
	view_free(view);
	profile_free(profile);

	/* Nobody wants it: a program of one thread has it all the time. */
	profile = make_convoy(2000);
	findings = find(profile, &view);
	assert_false(gil_of(&findings, &found));
	view_free(view);
	profile_free(profile);

	/* It is free for a fifth of the time. */
	profile = make_profile();
	findings = find(profile, &view);
	assert_false(gil_of(&findings, &found));
	view_free(view);
	profile_free(profile);
}

/* --- reports ------------------------------------------------------------------------------- */

static char *
write_filtered(const char *format, const struct profile *profile, const struct filter *filter,
	       size_t limit)
{
	struct process process = { .pid = 30, .comm = "python", .cmdline = (char *)"python x" };
	struct run_stats *stats = xcalloc(1, sizeof(*stats));
	struct export_input input = {
		.view = view_create(profile, NULL, filter, VIEW_BY_FUNCTION),
		.process = &process, .stats = stats, .full = true,
		.limit = limit, .columns = 100,
	};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	export_write(exporter_by_name(format), &input, out);
	assert_int_equal(fclose(out), 0);
	view_free((struct view *)(uintptr_t)input.view);
	free(stats);
	return text;
}

static char *
write_format(const char *format, const struct profile *profile, size_t limit)
{
	return write_filtered(format, profile, &all, limit);
}

static void
assert_says(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("'%s' is not in:\n%s", part, text);
}

/* Shares of a report of holders are of what somebody can have, and so are its rows. */
static void
test_blame_text(void **state)
{
	const struct filter filter = { .blame = true };
	struct profile *profile = make_profile();
	struct profile_wait wait = { .kind = WAIT_GIL, .object = FRAME_NONE };
	struct profile_entry entry = {
		.stack = stack_of(profile, "mp"),
		.state = RUN_SLEEPING,
		.wait = profile_add_wait(profile, &wait),
		.samples = 100,
		.ns[WEIGHT_WALL] = 1000 * MS,
	};
	const struct profile_blame blame = {
		.wait = entry.wait,
		.thread = 1,
		.stack = stack_of(profile, "mL"),
		.state = RUN_RUNNING,
		.samples = 100,
		.ns = 1000 * MS,
	};
	char *text;

	(void)state;
	profile_add(profile, &entry);
	profile_add_blame(profile, &blame);
	wait = (struct profile_wait){ .kind = WAIT_SOCKET_READ,
				      .object = profile_intern_named(profile, "tcp port 80") };
	entry.wait = profile_add_wait(profile, &wait);
	entry.ns[WEIGHT_WALL] = 3000 * MS;
	profile_add(profile, &entry);
	text = write_filtered("text", profile, &filter, 20);
	assert_says(text, "\n1.00s  100.00%");
	assert_says(text, "  GIL         p");
	assert_null(strstr(text, "tcp port 80"));
	free(text);
	text = write_format("text", profile, 20);
	assert_says(text, "tcp port 80");
	free(text);
	profile_free(profile);
}

static void
test_text(void **state)
{
	struct profile *profile = make_profile();
	char *text = write_format("text", profile, 20);

	(void)state;
	assert_says(text, "thread            total  no GIL%  has GIL%  GIL wait%\n"
			  "loop-30          10.00s    0.00%    60.00%     40.00%\n"
			  "mixed-31         10.00s   70.00%    20.00%     10.00%\n"
			  "giver-32         10.00s   95.00%     0.00%      5.00%\n"
			  "2 other threads  20.00s  100.00%     0.00%      0.00%\n");
	assert_says(text, "held: 0.80 of the time, wait: 0.55 threads on average.");
	assert_null(strstr(text, "More threads"));
	/* exactly 1 % of all time is not worth a note */
	assert_null(strstr(text, "handed it over"));
	free(text);
	/* what the limit leaves out is in the last row */
	text = write_format("text", profile, 1);
	assert_says(text, "loop-30          10.00s    0.00%    60.00%     40.00%\n"
			  "4 other threads  40.00s   91.25%     5.00%      3.75%\n");
	free(text);
	profile_free(profile);

	/* nobody but others */
	profile = profile_create();
	profile_add_thread(profile, 0, 33, 3, "idle");
	profile_add_thread(profile, 0, 34, 3, "idle");
	add(profile, 0, "m", RUN_SLEEPING, GIL_NONE, 500);
	add(profile, 1, "m", RUN_SLEEPING, GIL_NONE, 500);
	text = write_format("text", profile, 20);
	assert_says(text, "\n2 threads  1.00s  100.00%     0.00%      0.00%\n");
	free(text);
	profile_free(profile);

	profile = make_convoy(9500);
	text = write_format("text", profile, 20);
	assert_says(text, "held: 0.98 of the time, wait: 1.90 threads on average. More threads "
			  "will not make it faster.");
	assert_says(text, "31.67% was spent by threads that had handed the lock over, until ");
	free(text);
	profile_free(profile);
}

static void
test_summary(void **state)
{
	struct profile *profile;
	char *text;

	(void)state;
	if (exporter_by_name("markdown")->absent != NULL)
		skip();
	profile = make_convoy(9500);
	text = write_format("markdown", profile, 20);
	assert_says(text, "**GIL**: the interpreter's lock was held 98% of the time; 1.9 threads "
			  "waited for it on average. More threads do not make the program faster");
	assert_says(text, "held in  L");
	free(text);
	profile_free(profile);
}

static void
test_json(void **state)
{
	struct profile *profile = make_profile();
	char *text = write_format("json", profile, 20);

	(void)state;
	assert_says(text, "{\"thread\":\"mixed-31\",\"tid\":31,\"total_ns\":10000000000,"
			  "\"none_ns\":7000000000,\"has_ns\":2000000000,\"wait_ns\":1000000000,"
			  "\"handover_ns\":0}");
	assert_says(text, "\"held_share\":0.8");
	assert_says(text, "\"wait_average\":0.55");
	assert_says(text, "\"gil\":\"handover\"");
	free(text);
	profile_free(profile);
	profile = profile_create();
	add(profile, profile_add_thread(profile, 0, 30, 1, "t"), "m", RUN_RUNNING, GIL_UNKNOWN, 10);
	text = write_format("json", profile, 20);
	assert_null(strstr(text, "gil"));
	free(text);
	profile_free(profile);
}

/* A frame that the view has made is none of the profile's, and may be all that there is. */
static void
test_finding_without_function(void **state)
{
	static const struct filter blamed = { .blame = true };
	static const enum view_key keys[] = { VIEW_BY_FUNCTION, VIEW_BY_THREAD, VIEW_BY_GIL };
	struct profile *profile = make_convoy(9500);
	const struct profile_wait gil = { .kind = WAIT_GIL, .object = FRAME_NONE };
	const struct profile_blame blame = {
		.wait = profile_add_wait(profile, &gil),
		.thread = 0,
		.stack = stack_of(profile, "m"),
		.state = RUN_RUNNING,
		.samples = 1,
		.ns = 30 * MS,
	};

	(void)state;
	profile_add_blame(profile, &blame);
	for (size_t i = 0; i < 2 * ARRAY_SIZE(keys); i++) {
		struct view *view = view_create(profile, NULL, i % 2 == 0 ? &all : &blamed,
						keys[i / 2]);
		struct findings findings;
		struct own own;

		own_make(view, NULL, &own);
		findings_make(view, &own, &(struct run_stats){ .cpus = 2 }, &findings);
		own_release(&own);
		assert_true(findings.count <= FINDING_COUNT);
		view_free(view);
	}
	profile_free(profile);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),  cmocka_unit_test(test_none),
		cmocka_unit_test(test_filter), cmocka_unit_test(test_rows),
		cmocka_unit_test(test_by_gil), cmocka_unit_test(test_blame),
		cmocka_unit_test(test_finding), cmocka_unit_test(test_text),
		cmocka_unit_test(test_finding_without_function),
		cmocka_unit_test(test_blame_text),
		cmocka_unit_test(test_summary), cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
