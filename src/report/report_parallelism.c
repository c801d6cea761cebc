/* SPDX-License-Identifier: MIT */
/*
 * report_parallelism.c - reports how much real time and CPU time passed with each number of threads
 * on a CPU; how long the run would take if a function ran on more CPUs at once; and for times in
 * which no thread could run, the waits whose end let a thread run again.
 */
#include <stdlib.h>

#include "wallsample/report/quantity.h"
#include "report/report_internal.h"
#include "wallsample/analysis/margin.h"

/*
 * Up to this number of threads on a CPU, each number has a row of its own. The rows after these
 * cover the ranges 9 to 16, 17 to 32, and so on.
 */
#define ROWS_ONE_BY_ONE 8
#define ROWS_MOST 40
/* Maximum and minimum width of the longest bar, and width of the other columns, in cells. */
#define BAR_MOST 24
#define BAR_LEAST 4
#define BESIDE_BARS 52

#define GAINS_MOST 5
#define WAITS_MOST 5
/* A gain (see find_gains()) below this share of the real time is not reported. */
#define GAIN_LEAST 0.01

#define AT(type, member) offsetof(struct type, member)

struct range {
	size_t from, to; /* numbers of threads on a CPU at once, both ends included */
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

/* Adds "3" or "9-16". */
static void
parallelism_add_range(const struct report_cell *cell, struct strbuf *out)
{
	const struct range *range = cell->row;

	strbuf_add_format(out, "%zu", range->from);
	if (range->to > range->from)
		strbuf_add_format(out, "-%zu", range->to);
}

/*
 * Writes the table of ranges. On a page without room for two bars the table has no times, only
 * their shares, and the titles of the columns of shares are "real time" and "CPU time".
 */
static void
write_ranges(const struct range *range, size_t count, int64_t time_ns, int64_t cpu_ns,
	     struct page *page)
{
	const bool wide = page->width >= BESIDE_BARS + 2 * BAR_LEAST;
	const size_t room = wide ? (page->width - BESIDE_BARS) / 2 : 0;
	const size_t bars = wide ? 0 : SIZE_MAX; /* minimum width of a page with bars */
	const struct report_column column[] = {
		{ "at once", NULL, COLUMN_TEXT, .text = parallelism_add_range },
		{ "real time", NULL, COLUMN_TIME, .at = AT(range, time_ns), .from_width = bars },
		{ wide ? "share" : "real time", NULL, COLUMN_SHARE, .at = AT(range, time_ns) },
		{ "", NULL, COLUMN_BAR, .at = AT(range, time_ns), .left = true,
		  .from_width = bars },
		{ "CPU time", NULL, COLUMN_TIME, .at = AT(range, cpu_ns), .from_width = bars },
		{ wide ? "share" : "CPU time", NULL, COLUMN_SHARE, .at = AT(range, cpu_ns),
		  .whole = cpu_ns },
		{ "", NULL, COLUMN_BAR, .at = AT(range, cpu_ns), .whole = cpu_ns, .left = true,
		  .from_width = bars },
	};

	report_table_write(&REPORT_TABLE(column, range, count, .whole = time_ns,
					 .bar = room < BAR_MOST ? room : BAR_MOST),
			   page);
}

static void
write_histogram(const struct profile *profile, bool filtered, struct page *page)
{
	struct range range[ROWS_MOST];
	const size_t count = make_ranges(profile, range);
	int64_t time_ns = 0, cpu_ns = 0;

	for (size_t i = 0; i < count; i++) {
		time_ns += range[i].time_ns;
		cpu_ns += range[i].cpu_ns;
	}
	page_add(page, "Parallelism: threads on a CPU at once");
	if (time_ns > 0)
		page_add(page, ", %.2f on average", (double)cpu_ns / (double)time_ns);
	page_write(page, page->ops->heading, "%s", filtered ? ", of the whole process" : "");
	write_ranges(range, count, time_ns, cpu_ns, page);
}

/* --- what more parallelism would bring ------------------------------------------------ */

/* A row of the table: a function, and the estimated gain if the function ran on more CPUs. */
struct gain {
	struct top_row row;
	double saved_ns; /* real time that would be saved */
	int64_t left_ns; /* real time that the run would still take */
};

static int
compare_gains(const void *left, const void *right)
{
	const struct gain *a = left, *b = right;

	return (a->saved_ns < b->saved_ns) - (a->saved_ns > b->saved_ns);
}

/*
 * Computes the gain of each function: the real time that would be saved if it ran on `best` CPUs at
 * once. Only its time as the innermost frame counts: time in callees is part of the gain of the
 * callees. Time in which it waited for a CPU does not count: more threads would find no CPU. Fills
 * gain[] with the gains whose share of the real time, minus the margin of error, exceeds
 * GAIN_LEAST, the largest first. Returns the number of gains to report, at most GAINS_MOST.
 */
static size_t
find_gains(const struct top_table *top, double best, double whole_ns, double ticks,
	   struct gain *gain)
{
	size_t count = 0;

	for (size_t i = 0; i < top->count; i++) {
		const struct top_row *row = &top->row[i];
		const double latency_ns = (double)row->flat_running_ns;
		const double saved_ns = latency_ns - (double)row->flat[WEIGHT_CPU] / best;
		const double share = whole_ns > 0 ? saved_ns / whole_ns : 0;

		if (row->flat[WEIGHT_CPU] > 0 && share - margin_of_share(share, ticks) > GAIN_LEAST)
			gain[count++] = (struct gain){
				.row = *row,
				.saved_ns = saved_ns,
				.left_ns = (int64_t)whole_ns - (int64_t)saved_ns,
			};
	}
	if (count > 1)
		qsort(gain, count, sizeof(*gain), compare_gains);
	return count < GAINS_MOST ? count : GAINS_MOST;
}

static void
add_gain_parallelism(const struct report_cell *cell, struct strbuf *out)
{
	const struct top_row *top = &((const struct gain *)cell->row)->row;

	report_add_parallelism(out, top->flat[WEIGHT_CPU], top->flat_running_ns);
}

static void
write_gains(const struct export_input *input, struct page *page)
{
	const struct report_column column[] = {
		{ "latency%", NULL, COLUMN_SHARE, .at = AT(gain, row.flat_running_ns) },
		{ "par", NULL, COLUMN_TEXT, .text = add_gain_parallelism },
		{ "would take", NULL, COLUMN_TIME, .at = AT(gain, left_ns) },
		{ report_key_words[view_key(input->view)].title, NULL, COLUMN_FUNCTION,
		  .at = AT(gain, row.function), .left = true },
	};
	const size_t best = profile_parallelism_count(view_profile(input->view)) - 1;
	const int64_t whole_ns = view_total_ns(input->view, WEIGHT_LATENCY);
	struct top_table top;
	struct gain *gain;
	size_t count;

	top_table_make(input->view, WEIGHT_LATENCY, &top);
	gain = xcalloc(top.count + 1, sizeof(*gain));
	count = find_gains(&top, (double)best, (double)whole_ns,
			   margin_ticks(view_profile(input->view), &input->stats->division,
					WEIGHT_LATENCY, whole_ns),
			   gain);
	if (count > 0) {
		page_write(page, page->ops->lead,
			   "Estimated run time (now %s%s) if one function were spread over %zu "
			   "CPUs, the most that were busy at once",
			   quantity_time(whole_ns).text, input->filtered ? " of what is shown" : "",
			   best);
		report_table_write(&REPORT_TABLE(column, gain, count, .whole = whole_ns,
						 .view = input->view),
				   page);
	}
	top_table_release(&top);
	free(gain);
}

/* --- waits that ended the time without a running thread ----------------------------------- */

struct wait_row {
	uint32_t kind;     /* the view's function that names the state: "[sleeping in futex]" */
	uint32_t function; /* the view's function that waited; UINT32_MAX: not known */
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
	return row->depth >= 2 && view_is_gap(view_function(view, row->function[row->depth - 1]));
}

/*
 * Returns the times in which no thread could run, summed by the wait that ended them: one element
 * for each pair of state and waiting function, the longest time first. The caller frees the array.
 */
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
add_wait_kind(const struct report_cell *cell, struct strbuf *out)
{
	const uint32_t kind = ((const struct wait_row *)cell->row)->kind;

	strbuf_add_text(out, view_function(cell->table->view, kind)->name);
}

static void
write_waits(const struct export_input *input, struct page *page)
{
	static const struct report_column column[] = {
		{ "latency%", NULL, COLUMN_SHARE, .at = AT(wait_row, ns) },
		{ "unblocked by", NULL, COLUMN_TEXT, .text = add_wait_kind, .left = true,
		  .most = 44 },
		{ "in", NULL, COLUMN_FUNCTION, .at = AT(wait_row, function), .left = true },
	};
	const int64_t whole_ns = view_total_ns(input->view, WEIGHT_LATENCY);
	size_t count;
	struct wait_row *wait = sum_waits(input->view, &count);

	for (size_t i = 0; i < count; i++)
		if (wait[i].function == wait[i].kind)
			wait[i].function = UINT32_MAX;
	if (count > 0) {
		page->ops->heading(page, "Time when every thread was blocked, by what "
					 "unblocked it");
		report_table_write(&REPORT_TABLE(column, wait, count, .limit = WAITS_MOST,
						 .whole = whole_ns, .view = input->view),
				   page);
	}
	free(wait);
}

void
report_write_parallelism(const struct export_input *input, struct page *page)
{
	const struct profile *profile = view_profile(input->view);

	if (profile_parallelism_count(profile) == 0)
		return;
	write_histogram(profile, input->filtered, page);
	/*
	 * Reports by thread, state, lock or GIL have no gains: a thread uses one CPU at a time;
	 * states, locks and GIL states are not code that could run on more CPUs.
	 */
	if (profile_parallelism_count(profile) > 2 && !view_key_is_of_sample(view_key(input->view)))
		write_gains(input, page);
	write_waits(input, page);
}
