/* SPDX-License-Identifier: MIT */
/*
 * report_parallelism.c - how many threads ran at once, in real time and in CPU time; what the
 * functions that ran alone cost; and what ended the time in which nobody ran.
 */
#include <stdlib.h>
#include <string.h>

#include "wallsample/report/display.h"
#include "wallsample/report/quantity.h"
#include "wallsample/report/report.h"
#include "wallsample/analysis/margin.h"
#include "wallsample/analysis/result.h"

/* More rows say less: beyond this each row is of twice as many threads. */
#define ROWS_ONE_BY_ONE 8
#define ROWS_MOST 40
/* Cells of the longest bar, and what the other columns take. */
#define BAR_MOST 24
#define BAR_LEAST 4
#define BESIDE_BARS 52

#define GAINS_MOST 5
#define WAITS_MOST 5
/* Less than this share of real time is no finding. */
#define GAIN_LEAST 0.01

struct range {
	size_t from, to; /* threads at once, both included */
	int64_t time_ns, cpu_ns;
};

static size_t
make_ranges(const struct profile *profile, struct range *range)
{
	const size_t most = profile_parallelism_count(profile);
	size_t count = 0, step = 1;

	for (size_t from = 0; from < most && count < ROWS_MOST; from += step) {
		struct range *row = &range[count++];

		if (from > ROWS_ONE_BY_ONE)
			step = from - 1;
		*row = (struct range){ .from = from, .to = from + step - 1 };
		if (row->to >= most)
			row->to = most - 1;
		for (size_t p = from; p <= row->to; p++) {
			row->time_ns += (int64_t)profile_parallelism(profile, p)->time_ns;
			row->cpu_ns += (int64_t)profile_parallelism(profile, p)->cpu_ns;
		}
	}
	return count;
}

/* "3", "9-16" */
static void
add_range_cell(struct columns *table, struct strbuf *sb, const struct range *range)
{
	strbuf_clear(sb);
	strbuf_add_format(sb, "%zu", range->from);
	if (range->to > range->from)
		strbuf_add_format(sb, "-%zu", range->to);
	columns_add(table, sb->data);
}

static double
share_of(int64_t part, int64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}

/* Where two bars have no room: the shares alone. */
static void
write_narrow_histogram(const struct range *range, size_t count, int64_t time_ns, int64_t cpu_ns,
		       struct page *page)
{
	static const struct column column[] = {
		{ "at once", true, 0 }, { "real time", true, 0 }, { "CPU time", true, 0 },
	};
	struct columns table;
	struct strbuf sb;

	strbuf_init(&sb);
	columns_init(&table, column, ARRAY_SIZE(column));
	for (size_t i = 0; i < count; i++) {
		add_range_cell(&table, &sb, &range[i]);
		report_add_share_cell(&table, &sb, range[i].time_ns, time_ns);
		report_add_share_cell(&table, &sb, range[i].cpu_ns, cpu_ns);
	}
	page->ops->table(page, &table);
	columns_release(&table);
	strbuf_release(&sb);
}

static void
write_wide_histogram(const struct range *range, size_t count, int64_t time_ns, int64_t cpu_ns,
		     struct page *page)
{
	static const struct column column[] = {
		{ "at once", true, 0 }, { "real time", true, 0 }, { "share", true, 0 },
		{ "", false, 0 },       { "CPU time", true, 0 },  { "share", true, 0 },
		{ "", false, 0 },
	};
	const size_t room = (page->width - BESIDE_BARS) / 2;
	const size_t cells = room < BAR_MOST ? room : BAR_MOST;
	struct columns table;
	struct strbuf sb;

	strbuf_init(&sb);
	columns_init(&table, column, ARRAY_SIZE(column));
	for (size_t i = 0; i < count; i++) {
		add_range_cell(&table, &sb, &range[i]);
		report_add_time_cell(&table, &sb, range[i].time_ns);
		report_add_share_cell(&table, &sb, range[i].time_ns, time_ns);
		columns_add_bar(&table, share_of(range[i].time_ns, time_ns), cells);
		report_add_time_cell(&table, &sb, range[i].cpu_ns);
		report_add_share_cell(&table, &sb, range[i].cpu_ns, cpu_ns);
		columns_add_bar(&table, share_of(range[i].cpu_ns, cpu_ns), cells);
	}
	page->ops->table(page, &table);
	columns_release(&table);
	strbuf_release(&sb);
}

static void
write_histogram(const struct profile *profile, bool filtered, struct page *page)
{
	struct range range[ROWS_MOST];
	const size_t count = make_ranges(profile, range);
	int64_t time_ns = 0, cpu_ns = 0;
	struct strbuf sb;

	for (size_t i = 0; i < count; i++) {
		time_ns += range[i].time_ns;
		cpu_ns += range[i].cpu_ns;
	}
	strbuf_init(&sb);
	strbuf_add_text(&sb, "Parallelism: threads on a CPU at once");
	if (time_ns > 0)
		strbuf_add_format(&sb, ", %.2f on average", (double)cpu_ns / (double)time_ns);
	if (filtered)
		strbuf_add_text(&sb, ", of the whole process");
	page->ops->heading(page, sb.data);
	strbuf_release(&sb);
	if (page->width < BESIDE_BARS + 2 * BAR_LEAST)
		write_narrow_histogram(range, count, time_ns, cpu_ns, page);
	else
		write_wide_histogram(range, count, time_ns, cpu_ns, page);
}

/* --- what more parallelism would bring ------------------------------------------------ */

struct gain {
	const struct top_row *row;
	double saved_ns;
};

static int
compare_gains(const void *left, const void *right)
{
	const struct gain *a = left, *b = right;

	return (a->saved_ns < b->saved_ns) - (a->saved_ns > b->saved_ns);
}

/*
 * Innermost functions only: of a caller it would be the sum of what it calls. While it waits for a
 * CPU there is none for it, and none for its like. What is no finding
 * without its margin is none.
 */
static size_t
find_gains(const struct top_table *top, double best, double whole_ns, double ticks,
	   struct gain *gain)
{
	size_t count = 0;

	for (size_t i = 0; i < top->count; i++) {
		const struct top_row *row = &top->row[i];
		const double latency_ns = (double)row->flat_running_ns;
		const double saved_ns = latency_ns - (double)row->flat[WEIGHT_OVERHEAD] / best;
		const double share = whole_ns > 0 ? saved_ns / whole_ns : 0;

		if (row->flat[WEIGHT_OVERHEAD] > 0 &&
		    share - margin_of_share(share, ticks) > GAIN_LEAST)
			gain[count++] = (struct gain){ row, saved_ns };
	}
	if (count > 1)
		qsort(gain, count, sizeof(*gain), compare_gains);
	return count < GAINS_MOST ? count : GAINS_MOST;
}

static void
write_gains(const struct export_input *input, struct page *page)
{
	const struct column column[] = {
		{ "latency%", true, 0 },
		{ "par", true, 0 },
		{ "so", true, 0 },
		{ report_key_words[view_key(input->view)].title, false, 0 },
	};
	const size_t best = profile_parallelism_count(view_profile(input->view)) - 1;
	const int64_t whole_ns = view_total_ns(input->view, WEIGHT_LATENCY);
	struct columns table;
	struct top_table top;
	struct strbuf sb;
	struct gain *gain;
	size_t count;

	top_table_make(input->view, WEIGHT_LATENCY, &top);
	gain = xcalloc(top.count + 1, sizeof(*gain));
	count = find_gains(&top, (double)best, (double)whole_ns,
			   margin_ticks(view_profile(input->view), WEIGHT_LATENCY, whole_ns), gain);
	strbuf_init(&sb);
	columns_init(&table, column, ARRAY_SIZE(column));
	for (size_t i = 0; i < count; i++) {
		const struct top_row *row = gain[i].row;

		report_add_share_cell(&table, &sb, row->flat_running_ns, whole_ns);
		report_add_parallelism_cell(&table, &sb, row->flat[WEIGHT_OVERHEAD],
					  row->flat_running_ns);
		report_add_time_cell(&table, &sb, whole_ns - (int64_t)gain[i].saved_ns);
		report_add_function_cell(&table, view_function(input->view, row->function));
	}
	if (count > 0) {
		strbuf_clear(&sb);
		strbuf_add_text(&sb, input->filtered ? "What is shown took " : "The whole took ");
		quantity_add_time(&sb, whole_ns);
		strbuf_add_format(&sb, ", and would take so long if one of these functions ran on "
				  "%zu CPUs at once, the most that were seen", best);
		page->ops->lead(page, sb.data);
		page->ops->table(page, &table);
	}
	columns_release(&table);
	strbuf_release(&sb);
	top_table_release(&top);
	free(gain);
}

/* --- what ended the time in which nobody ran ---------------------------------------------- */

/* "[sleeping in futex]" behind PROFILE_GAP, and the function that waited. */
struct wait_row {
	uint32_t kind, function;
	int64_t ns;
};

static int
compare_waits(const void *left, const void *right)
{
	const struct wait_row *a = left, *b = right;

	return (a->ns < b->ns) - (a->ns > b->ns);
}

static bool
is_wait(const struct view *view, const struct view_row *row)
{
	return row->depth >= 2 &&
	       view_is_gap(view_function(view, row->function[row->depth - 1]));
}

/* Sums by kind and innermost function; the caller frees the array. */
static struct wait_row *
sum_waits(const struct view *view, size_t *count)
{
	struct wait_row *wait = xcalloc(view_row_count(view) + 1, sizeof(*wait));

	*count = 0;
	for (size_t i = 0; i < view_row_count(view); i++) {
		const struct view_row *row = view_row(view, i);
		size_t at = 0;

		if (!is_wait(view, row))
			continue;
		while (at < *count && (wait[at].kind != row->function[row->depth - 2] ||
				       wait[at].function != row->function[0]))
			at++;
		if (at == *count)
			wait[(*count)++] = (struct wait_row){
				.kind = row->function[row->depth - 2],
				.function = row->function[0],
			};
		wait[at].ns += row->ns[WEIGHT_LATENCY];
	}
	if (*count > 1)
		qsort(wait, *count, sizeof(*wait), compare_waits);
	return wait;
}

static void
write_waits(const struct export_input *input, struct page *page)
{
	static const struct column column[] = {
		{ "latency%", true, 0 },
		{ "ended by", false, 44 },
		{ "in", false, 0 },
	};
	const struct view *view = input->view;
	struct columns table;
	struct strbuf sb;
	size_t count;
	struct wait_row *wait = sum_waits(view, &count);

	strbuf_init(&sb);
	columns_init(&table, column, ARRAY_SIZE(column));
	for (size_t i = 0; i < count && i < WAITS_MOST; i++) {
		report_add_share_cell(&table, &sb, wait[i].ns, view_total_ns(view, WEIGHT_LATENCY));
		strbuf_clear(&sb);
		strbuf_add_foreign(&sb, view_function(view, wait[i].kind)->name);
		columns_add(&table, sb.data);
		if (wait[i].function == wait[i].kind)
			columns_add(&table, "");
		else
			report_add_function_cell(&table, view_function(view, wait[i].function));
	}
	if (count > 0) {
		page->ops->heading(page, "Time in which no thread could run, by the wait "
					  "that ended it");
		page->ops->table(page, &table);
	}
	columns_release(&table);
	strbuf_release(&sb);
	free(wait);
}

void
report_write_parallelism(const struct export_input *input, struct page *page)
{
	const struct profile *profile = view_profile(input->view);

	if (profile_parallelism_count(profile) == 0)
		return;
	write_histogram(profile, input->filtered, page);
	/* A thread runs on one CPU at once, and a state is nothing to be made faster. */
	if (profile_parallelism_count(profile) > 2 && !view_key_is_of_sample(view_key(input->view)))
		write_gains(input, page);
	write_waits(input, page);
}
