/* SPDX-License-Identifier: MIT */
/*
 * test_diff.c - what changed between two runs: which functions are one, by how much they changed,
 * whether that can be chance, and how exporters write it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../scene/golden.h"
#include "wallsample/base/base.h"
#include "wallsample/analysis/diff.h"
#include "wallsample/format/exporters.h"
#include "wallsample/analysis/margin.h"

#define MS ((int64_t)NS_PER_MS)

/* --- names, in place of those from symbol tables ------------------------------------------ */

enum {
	MAIN, PARSE, RENDER, POLL, HOSTILE, TINY, ADDED, DROPPED,
	OLD_MAIN, OLD_WORK, NEW_MAIN, NEW_WORK,
	FREE_C, FREE_JE, BARE_1, BARE_2, ANON,
	MANY, /* f0, f1, … */
};

static const struct symbol symbol[] = {
	[MAIN] = { "main", "server", .known = true },
	[PARSE] = { "parse", "server", .known = true },
	[RENDER] = { "std::render<int, char>", "server", .known = true },
	[POLL] = { "epoll_wait", "libc.so.6", .known = true },
	[HOSTILE] = { "evil;\x1b[31m\nname 7\xff|", "lib\x07" "bell.so", .known = true },
	[TINY] = { "tiny", "server", .known = true },
	[ADDED] = { "added", "server", .known = true },
	[DROPPED] = { "dropped", "server", .known = true },
	[OLD_MAIN] = { "main", "server-1.0", .known = true },
	[OLD_WORK] = { "work", "server-1.0", .known = true },
	[NEW_MAIN] = { "main", "server-1.1", .known = true },
	[NEW_WORK] = { "work", "server-1.1", .known = true },
	[FREE_C] = { "free", "libc.so.6", .known = true },
	[FREE_JE] = { "free", "libjemalloc.so.2", .known = true },
	[BARE_1] = { "libbare.so+0x1000", "libbare.so" },
	[BARE_2] = { "libbare.so+0x2000", "libbare.so" },
	[ANON] = { "[anon]", "[anon]" },
};

size_t
symbols_find(struct symbols *symbols, const struct symbol_place *place, struct symbol *out,
	     size_t most)
{
	static char many[200][8];

	(void)symbols;
	(void)most;
	if (place->vaddr < MANY) {
		*out = symbol[place->vaddr];
		return 1;
	}
	snprintf(many[place->vaddr - MANY], sizeof(many[0]), "f%d", (int)(place->vaddr - MANY));
	*out = (struct symbol){ many[place->vaddr - MANY], symbol[MAIN].module, .known = true };
	return 1;
}

void
symbols_prepare(struct symbols *symbols, const struct symbol_place *place, size_t count)
{
	(void)symbols;
	(void)place;
	(void)count;
}

/* --- runs that are made up ------------------------------------------------------------------ */

struct run {
	struct profile *profile;
	struct view *view;
	uint32_t thread[4];
};

/* `ticks` of ten milliseconds, two threads on a CPU at each. */
static void
run_init(struct run *run, int ticks)
{
	*run = (struct run){ .profile = profile_create() };
	for (int i = 0; i < 4; i++)
		run->thread[i] = profile_add_thread(run->profile, 0, 100 + i, 1, "worker");
	for (int i = 0; i < ticks; i++)
		profile_add_tick(run->profile, 10 * NS_PER_MS, 2, 2);
}

#define STACK(...) ((const int[]){ __VA_ARGS__, -1 })

/* Outermost first, ended by a negative number; all of it on a CPU, as one of two threads. */
static void
add(struct run *run, int thread, int64_t ns, const int *functions)
{
	struct profile_entry sample = {
		.thread = run->thread[thread],
		.stack = STACK_NONE,
		.state = RUN_RUNNING,
		.syscall = (int32_t)SYSCALL_NONE,
		.samples = 1,
		.ns = { [WEIGHT_WALL] = ns, [WEIGHT_CPU] = ns, [WEIGHT_LATENCY] = ns / 2 },
	};

	for (; *functions >= 0; functions++) {
		const struct profile_frame frame = { .module = 0, .address = (uint64_t)*functions };

		sample.stack = profile_intern_stack(
			run->profile, profile_intern_frame(run->profile, &frame), sample.stack);
	}
	profile_add(run->profile, &sample);
}

static void
run_name(struct run *run)
{
	static const struct filter all = { 0 };

	run->view = view_create(run->profile, NULL, &all, VIEW_BY_FUNCTION);
}

static void
run_release(struct run *run)
{
	view_free(run->view);
	profile_free(run->profile);
}

static void
compare(struct run *before, struct run *after, enum weight weight, struct diff *diff)
{
	run_name(before);
	run_name(after);
	diff_make((const struct diff_run[]){ { before->view, 4, NULL }, { after->view, 4, NULL } },
		  weight, diff);
}

static void
release(struct run *before, struct run *after, struct diff *diff)
{
	diff_release(diff);
	run_release(before);
	run_release(after);
}

/* The one row of this name and module; NULL: there is none. */
static const struct diff_row *
row_of(const struct diff *diff, const char *name, const char *module)
{
	const struct diff_row *found = NULL;

	for (size_t i = 0; i < diff->count; i++)
		if (strcmp(diff->row[i].name, name) == 0 &&
		    strcmp(diff->row[i].module, module) == 0) {
			assert_null(found);
			found = &diff->row[i];
		}
	return found;
}

#define assert_near(a, b) assert_true(fabs((a) - (b)) < 1e-9)

/* --- numbers -------------------------------------------------------------------------------- */

/* Ten seconds before, twenty after: rates are of each second. */
static void
test_rates(void **state)
{
	struct run before, after;
	struct diff diff;
	const struct diff_row *row;

	(void)state;
	run_init(&before, 1000);
	add(&before, 0, 6000 * MS, STACK(MAIN, PARSE));
	add(&before, 0, 4000 * MS, STACK(MAIN, POLL));
	run_init(&after, 2000);
	add(&after, 0, 18000 * MS, STACK(MAIN, PARSE));
	add(&after, 0, 2000 * MS, STACK(MAIN, POLL));
	add(&after, 1, 5000 * MS, STACK(MAIN, PARSE, PARSE));
	compare(&before, &after, WEIGHT_WALL, &diff);
	assert_int_equal(diff.count, 3);
	row = row_of(&diff, "parse", "server");
	assert_int_equal(row->flat.ns[DIFF_BEFORE], 6000 * MS);
	assert_int_equal(row->flat.ns[DIFF_AFTER], 23000 * MS);
	assert_near(row->flat.rate[DIFF_BEFORE], 0.6);
	assert_near(row->flat.rate[DIFF_AFTER], 1.15);
	assert_near(row->flat.change, 0.55);
	assert_near(row->flat.share[DIFF_BEFORE], 0.6);
	assert_near(row->flat.share[DIFF_AFTER], 23.0 / 25);
	assert_near(row->flat.points, 0.32);
	assert_near(row->cum.change, 0.55); /* recursion counts once */
	assert_true(row->flat.found && row->cum.found);
	row = row_of(&diff, "main", "server");
	assert_near(row->flat.change, 0);
	assert_near(row->cum.change, 0.25);
	assert_false(row->flat.asked);
	assert_true(row->cum.found);
	assert_near(diff.total[WEIGHT_WALL].change, 0.25);
	assert_near(diff.total[WEIGHT_CPU].change, 0.25);
	assert_near(diff.total[WEIGHT_LATENCY].change, 0.125);
	assert_near(diff.parallelism.rate[DIFF_AFTER], 2);
	/* three by cum, two by flat */
	assert_int_equal(diff.questions, 5);
	assert_near(diff.deviations, margin_deviations(5));
	/* the largest change comes first */
	assert_ptr_equal(&diff.row[diff.by_flat[0]], row_of(&diff, "parse", "server"));
	assert_ptr_equal(&diff.row[diff.by_cum[0]], row_of(&diff, "parse", "server"));
	assert_int_equal(diff.flat_found, 2);
	assert_int_equal(diff.cum_found, 3);
	release(&before, &after, &diff);
}

/* Of one thread the margin is that of a share; a run against itself has no change. */
static void
test_margins(void **state)
{
	struct run before, after;
	struct diff diff;
	struct margin_mean mean[2];
	const struct diff_row *row;

	(void)state;
	run_init(&before, 1000);
	add(&before, 0, 3000 * MS, STACK(PARSE));
	add(&before, 0, 7000 * MS, STACK(POLL));
	run_init(&after, 4000);
	add(&after, 0, 13000 * MS, STACK(PARSE));
	add(&after, 0, 27000 * MS, STACK(POLL));
	compare(&before, &after, WEIGHT_WALL, &diff);
	row = row_of(&diff, "parse", "server");
	mean[0] = (struct margin_mean){ 0.3, sqrt(0.3 * 0.7), 1000 };
	mean[1] = (struct margin_mean){ 0.325, sqrt(0.325 * 0.675), 4000 };
	assert_near(row->flat.margin, margin_of_change(&mean[0], &mean[1], diff.deviations));
	assert_near(row->flat.margin, row->flat.points_margin);
	assert_false(row->flat.found);
	assert_int_equal(diff.flat_found + diff.cum_found, 0);
	diff_release(&diff);
	diff_make((const struct diff_run[]){ { before.view, 4, NULL }, { before.view, 4, NULL } },
		  WEIGHT_WALL, &diff);
	for (size_t i = 0; i < diff.count; i++)
		assert_true(diff.row[i].flat.change == 0 && !diff.row[i].cum.found);
	release(&before, &after, &diff);
}

/* What one of four threads does is as sure as if it were alone, however many sleep. */
static void
test_many_threads(void **state)
{
	struct run before, after;
	struct diff diff;
	const struct diff_row *row;

	(void)state;
	run_init(&before, 1000);
	run_init(&after, 1000);
	for (int i = 1; i < 4; i++) {
		add(&before, i, 10000 * MS, STACK(POLL));
		add(&after, i, 10000 * MS, STACK(POLL));
	}
	add(&before, 0, 5000 * MS, STACK(PARSE));
	add(&before, 0, 5000 * MS, STACK(POLL));
	add(&after, 0, 5000 * MS, STACK(PARSE));
	add(&after, 0, 5000 * MS, STACK(POLL));
	compare(&before, &after, WEIGHT_WALL, &diff);
	row = row_of(&diff, "parse", "server");
	assert_true(row->flat.margin > 0.04 && row->flat.margin < 0.08);
	assert_true(fabs(row_of(&diff, "epoll_wait", "libc.so.6")->flat.margin -
			 row->flat.margin) < 0.01);
	release(&before, &after, &diff);
}

/* Threads that follow one another add up to what there can be at once, not to more. */
static void
test_most_at_once(void **state)
{
	struct run before, after;
	struct diff diff;

	(void)state;
	run_init(&before, 1000);
	run_init(&after, 1000);
	for (int i = 0; i < 1000; i++) {
		before.thread[0] = profile_add_thread(before.profile, 0, 1000 + i, 1, "short");
		after.thread[0] = profile_add_thread(after.profile, 0, 3000 + i, 1, "short");
		add(&before, 0, 10 * MS, STACK(MAIN, PARSE));
		add(&after, 0, 10 * MS, STACK(MAIN, PARSE));
	}
	compare(&before, &after, WEIGHT_WALL, &diff);
	/* four at most: sqrt(1 * (4 - 1) / 1000) each */
	assert_true(row_of(&diff, "parse", "server")->flat.margin <
		    diff.deviations * sqrt(2 * 3.0 / 1000) + 0.02);
	diff_release(&diff);
	diff_make((const struct diff_run[]){ { before.view, 4, NULL }, { after.view, 4, NULL } },
		  WEIGHT_LATENCY, &diff);
	/* half of all there is: 0.5 * (1 - 0.5) */
	assert_true(row_of(&diff, "parse", "server")->flat.margin <
		    diff.deviations * sqrt(2 * 0.25 / 1000) + 0.01);
	release(&before, &after, &diff);
}

static void
test_nothing_there(void **state)
{
	struct run before, after;
	struct diff diff;

	(void)state;
	run_init(&before, 0);
	run_init(&after, 100);
	add(&after, 0, 1000 * MS, STACK(PARSE));
	compare(&before, &after, WEIGHT_WALL, &diff);
	assert_int_equal(diff.wall_ns[DIFF_BEFORE], 0);
	assert_int_equal(diff.flat_found + diff.cum_found, 0);
	release(&before, &after, &diff);
}

/* Newcombe (1998), method 10, of 56/70 and 48/80: 0.0524 to 0.3339; z is 1.96. */
static void
test_margin_of_change(void **state)
{
	const struct margin_mean high = { 0.8, 0.4, 70 };
	const struct margin_mean low = { 0.6, sqrt(0.24), 80 };
	const struct margin_mean none = { 0, 0, 1000 }, nothing = { 0, 0, 0 };

	(void)state;
	assert_true(fabs(margin_deviations(1) - 1.959964) < 1e-6);
	assert_true(fabs(margin_deviations(100) - 3.480756) < 1e-6);
	assert_true(fabs(0.2 - margin_of_change(&high, &low, 1.959964) - 0.0524) < 1e-4);
	assert_true(fabs(0.2 - margin_of_change(&low, &high, 1.959964) - 0.0524) < 1e-4);
	/* none against none is not sure to be none */
	assert_true(margin_of_change(&none, &none, 2) > 0.003);
	assert_true(isinf(margin_of_change(&nothing, &none, 2)));
}

/* --- which functions are one -------------------------------------------------------------- */

static void
test_pairs(void **state)
{
	struct run before, after;
	struct diff diff;
	const struct diff_row *row;

	(void)state;
	run_init(&before, 100);
	add(&before, 0, 600 * MS, STACK(OLD_MAIN, OLD_WORK));
	add(&before, 0, 200 * MS, STACK(OLD_MAIN, BARE_1));
	add(&before, 0, 100 * MS, STACK(OLD_MAIN, FREE_C));
	add(&before, 0, 100 * MS, STACK(OLD_MAIN, POLL));
	run_init(&after, 100);
	add(&after, 0, 600 * MS, STACK(NEW_MAIN, NEW_WORK));
	add(&after, 0, 200 * MS, STACK(NEW_MAIN, BARE_2, BARE_1));
	add(&after, 0, 100 * MS, STACK(NEW_MAIN, FREE_JE));
	add(&after, 0, 50 * MS, STACK(NEW_MAIN, POLL));
	add(&after, 0, 50 * MS, STACK(NEW_MAIN, ANON));
	compare(&before, &after, WEIGHT_WALL, &diff);
	/* a build of another name */
	row = row_of(&diff, "work", "server-1.1");
	assert_near(row->flat.rate[DIFF_BEFORE], 0.6);
	assert_near(row->flat.rate[DIFF_AFTER], 0.6);
	assert_true(row->seen[DIFF_BEFORE] && row->seen[DIFF_AFTER]);
	assert_near(row_of(&diff, "main", "server-1.1")->cum.rate[DIFF_BEFORE], 1);
	assert_null(row_of(&diff, "work", "server-1.0"));
	/* the C library is in both: its free is gone */
	assert_false(row_of(&diff, "free", "libc.so.6")->seen[DIFF_AFTER]);
	assert_false(row_of(&diff, "free", "libjemalloc.so.2")->seen[DIFF_BEFORE]);
	/* addresses say nothing in another build */
	row = row_of(&diff, "[libbare.so]", "libbare.so");
	assert_near(row->flat.change, 0);
	assert_near(row->cum.rate[DIFF_AFTER], 0.2);
	assert_non_null(row_of(&diff, "[anon]", "[anon]"));
	assert_int_equal(diff.count, 7);
	release(&before, &after, &diff);
}

/* A name that two modules of a run have is nobody's partner. */
static void
test_ambiguous_pairs(void **state)
{
	struct run before, after;
	struct diff diff;

	(void)state;
	run_init(&before, 100);
	add(&before, 0, 600 * MS, STACK(OLD_MAIN, MAIN));
	run_init(&after, 100);
	add(&after, 0, 600 * MS, STACK(NEW_MAIN));
	compare(&before, &after, WEIGHT_WALL, &diff);
	assert_int_equal(diff.count, 3);
	release(&before, &after, &diff);
}

/* --- chance ---------------------------------------------------------------------------------- */

static uint64_t seed;

/* In (0, 1]: splitmix64, by Vigna. */
static double
draw(void)
{
	uint64_t z = seed += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (double)((z ^ z >> 31) >> 11) / (double)(1ull << 53) + 0x1p-53;
}

#define FUNCTIONS 60

/*
 * Ticks at exponential intervals, at which each of some threads is in one of many functions, whose
 * shares fall like 1/n; `extra` is the chance to be in the function PARSE instead.
 */
static void
run_by_chance(struct run *run, int ticks, int threads, double extra)
{
	double sum = 0;

	run_init(run, 0);
	for (int f = 0; f < FUNCTIONS; f++)
		sum += 1.0 / (f + 1);
	for (int i = 0; i < ticks; i++) {
		const int64_t span = (int64_t)(-log(draw()) * 10e6);

		for (int thread = 0; thread < threads; thread++) {
			double left = draw() * sum;
			int f = 0;

			while (f < FUNCTIONS - 1 && (left -= 1.0 / (f + 1)) > 0)
				f++;
			if (draw() <= extra)
				add(run, thread, span, STACK(MAIN, PARSE));
			else
				add(run, thread, span, STACK(MAIN, MANY + f % 7, MANY + f));
		}
		profile_add_tick(run->profile, (uint64_t)span, 2, (uint32_t)threads);
	}
}

#define ROUNDS 200

/* Comparisons of a program with itself: how many have findings, and how many rows would be some if
 * each were asked alone. */
static void
count_chance(int threads, int *wrong, int *singly, int *asked)
{
	*wrong = *singly = *asked = 0;
	for (int i = 0; i < ROUNDS; i++) {
		struct run before, after;
		struct diff diff;

		run_by_chance(&before, 600, threads, 0.1);
		run_by_chance(&after, 400 + 2 * i, threads, 0.1);
		compare(&before, &after, WEIGHT_WALL, &diff);
		*wrong += diff.flat_found + diff.cum_found > 0;
		for (size_t r = 0; r < diff.count; r++) {
			const struct diff_change *flat = &diff.row[r].flat;

			*asked += flat->asked;
			*singly += flat->asked && fabs(flat->change) > flat->margin *
				   margin_deviations(1) / diff.deviations;
		}
		release(&before, &after, &diff);
	}
	print_message("%d threads: %d of %d comparisons have findings; %d of %d rows would be\n",
		      threads, *wrong, ROUNDS, *singly, *asked);
}

/* At most 5 % have a finding, by chance five standard deviations more; margins are no wider than
 * it takes for that, as far as threads do not do different things at once. */
static void
test_no_findings_by_chance(void **state)
{
	int wrong, singly, asked;

	(void)state;
	seed = 1;
	count_chance(1, &wrong, &singly, &asked);
	assert_true(wrong <= ROUNDS * 0.05 + 5 * sqrt(ROUNDS * 0.05 * 0.95));
	assert_true(singly > asked * 0.02 && singly < asked * 0.06);
	count_chance(3, &wrong, &singly, &asked);
	assert_true(wrong <= ROUNDS * 0.05 + 5 * sqrt(ROUNDS * 0.05 * 0.95));
	assert_true(singly < asked * 0.05);
}

static void
test_a_change_is_found(void **state)
{
	(void)state;
	seed = 2;
	for (int i = 0; i < 20; i++) {
		struct run before, after;
		struct diff diff;
		const struct diff_row *row;

		run_by_chance(&before, 1000, 3, 0.1);
		run_by_chance(&after, 1000, 3, 0.25);
		compare(&before, &after, WEIGHT_WALL, &diff);
		row = row_of(&diff, "parse", "server");
		assert_true(row->flat.found && row->cum.found);
		/* three threads, 0.15 each */
		assert_true(fabs(row->flat.change - 0.45) <= row->flat.margin);
		assert_ptr_equal(row, &diff.row[diff.by_flat[0]]);
		release(&before, &after, &diff);
	}
}

/* --- what exporters write ------------------------------------------------------------------- */

static void
make_golden_runs(struct run *before, struct run *after)
{
	run_init(before, 1000);
	add(before, 0, 2000 * MS, STACK(MAIN, PARSE));
	add(before, 0, 3000 * MS, STACK(MAIN, RENDER));
	add(before, 0, 5000 * MS, STACK(MAIN, POLL));
	add(before, 1, 9000 * MS, STACK(MAIN, DROPPED));
	add(before, 1, 990 * MS, STACK(MAIN, HOSTILE));
	add(before, 1, 10 * MS, STACK(MAIN, TINY));
	add(before, 2, 1000 * MS, STACK(BARE_1, ANON));
	run_init(after, 2000);
	add(after, 0, 8000 * MS, STACK(MAIN, PARSE));
	add(after, 0, 6100 * MS, STACK(MAIN, RENDER));
	add(after, 0, 5900 * MS, STACK(MAIN, POLL));
	add(after, 1, 16000 * MS, STACK(MAIN, ADDED, HOSTILE));
	add(after, 1, 4000 * MS, STACK(MAIN, ADDED));
	add(after, 2, 2000 * MS, STACK(BARE_2, BARE_1, ANON));
	profile_intern_named(after->profile, "[waiting]");
}

/* What is written of these; the caller frees it. */
static void
check_golden(const char *name, const char *format, enum weight weight, unsigned columns)
{
	struct run_stats *stats = xcalloc(1, sizeof(*stats));
	struct process process[DIFF_SIDES] = {
		{ .pid = 4242, .comm = "ser\x1b" "ver" }, { .pid = 777, .comm = "server" },
	};
	char words[DIFF_SIDES][80] = { "server --config old.conf", "server --config a|b.conf" };
	struct run run[DIFF_SIDES];
	struct diff diff;
	struct diff_input input = { .diff = &diff, .limit = 20, .columns = columns };
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	stats->rate_wanted = 100;
	make_golden_runs(&run[DIFF_BEFORE], &run[DIFF_AFTER]);
	compare(&run[DIFF_BEFORE], &run[DIFF_AFTER], weight, &diff);
	for (int s = 0; s < DIFF_SIDES; s++) {
		process[s].cmdline = words[s];
		input.run[s] = (struct export_input){
			.view = run[s].view,
			.process = &process[s],
			.stats = stats,
			.note = s == DIFF_AFTER ? "2026-11-20 20:33:00 on host" : NULL,
			.part = s == DIFF_BEFORE ? "from 1 s: 90% of the time" : NULL,
		};
	}
	input.filtered = weight == WEIGHT_CPU;
	export_write_diff(exporter_by_name(format), &input, out);
	assert_int_equal(fclose(out), 0);
	golden_check(name, text, size);
	free(text);
	free(stats);
	release(&run[DIFF_BEFORE], &run[DIFF_AFTER], &diff);
}

static void
test_text(void **state)
{
	(void)state;
	check_golden("diff-60.txt", "text", WEIGHT_WALL, 60);
	check_golden("diff-140.txt", "text", WEIGHT_WALL, 140);
	check_golden("diff-overhead.txt", "text", WEIGHT_CPU, 0);
}

static void
test_data(void **state)
{
	(void)state;
	check_golden("diff.folded", "folded", WEIGHT_WALL, 0);
	check_golden("diff.json", "json", WEIGHT_WALL, 0);
}

static void
test_documents(void **state)
{
	static const char *const format[][2] = {
		{ "diff.md", "markdown" }, { "diff.tex", "latex" }, { "diff.man", "man" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(format); i++) {
		if (exporter_by_name(format[i][1])->absent != NULL)
			skip();
		check_golden(format[i][0], format[i][1], WEIGHT_WALL, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_margins),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_most_at_once),
		cmocka_unit_test(test_nothing_there),
		cmocka_unit_test(test_margin_of_change),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_ambiguous_pairs),
		cmocka_unit_test(test_no_findings_by_chance),
		cmocka_unit_test(test_a_change_is_found),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_documents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
