/* SPDX-License-Identifier: MIT */
/*
 * report_diff.c - reports the comparison of two runs: changes and their margins of error.
 */
#include <inttypes.h>
#include <math.h>

#include "wallsample/report/quantity.h"
#include "report/report_internal.h"
#include "wallsample/analysis/margin.h"

/* Minimum widths of a table with shares, with their change, and with its margin. */
#define WITH_SHARES 80
#define WITH_POINTS 100
#define WITH_POINTS_MARGIN 120

/* --- the two runs -------------------------------------------------------------------------- */

static void
write_run(const struct diff_input *input, enum diff_side side, const char *label, struct page *page)
{
	const struct export_input *run = &input->run[side];
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_format(&sb, "process %jd (", (intmax_t)run->process->pid);
	strbuf_add_escaped(&sb, run->process->comm);
	strbuf_add_text(&sb, "), ");
	quantity_add_time(&sb, (int64_t)input->diff->wall_ns[side]);
	strbuf_add_text(&sb, " in ");
	quantity_add_things(&sb, profile_tick_count(view_profile(run->view)), "tick", "ticks");
	strbuf_add_text(&sb, " at ");
	quantity_add_rate(&sb, run->stats->rate_wanted);
	page->ops->field(page, label, sb.data);
	strbuf_clear(&sb);
	strbuf_add_escaped(&sb, run->process->cmdline);
	page->ops->line(page, "", sb.data);
	if (run->note != NULL) {
		strbuf_clear(&sb);
		strbuf_add_text(&sb, "recorded ");
		strbuf_add_escaped(&sb, run->note);
		page->ops->field(page, "", sb.data);
	}
	if (run->part != NULL) {
		strbuf_clear(&sb);
		strbuf_add_format(&sb, "only %s", run->part);
		page->ops->field(page, "", sb.data);
	}
	if (input->filtered) {
		strbuf_clear(&sb);
		quantity_add_share(&sb, (double)view_total_ns(run->view, WEIGHT_WALL),
				   (double)view_unfiltered_ns(run->view));
		strbuf_add_text(&sb, " of what was sampled, as selected by options");
		page->ops->field(page, "", sb.data);
	}
	strbuf_release(&sb);
}

/* --- cells ------------------------------------------------------------------------------------ */

/* A value that would read "0.0us" is 0. */
static int64_t
ns_of(double rate)
{
	const double ns = isfinite(rate) ? rate * (double)NS_PER_SEC : 0;

	return fabs(ns) < 50 ? 0 : llround(ns);
}

static void
diff_add_time(struct columns *table, struct strbuf *sb, const char *sign, double rate)
{
	strbuf_clear(sb);
	strbuf_add_text(sb, sign);
	quantity_add_time(sb, ns_of(rate));
	columns_add(table, sb->data);
}

static const char *
sign_of(double change)
{
	return change > 0 ? "+" : change < 0 ? "-" : "";
}

static void
add_signed_time(struct columns *table, struct strbuf *sb, double rate)
{
	diff_add_time(table, sb, ns_of(rate) == 0 ? "" : sign_of(rate), fabs(rate));
}

/* The change of a share, in hundredths of the whole: "+1.25". */
static void
add_points(struct columns *table, struct strbuf *sb, const char *sign, double points)
{
	strbuf_clear(sb);
	strbuf_add_format(sb, "%s%.2f", sign, 100 * fabs(points));
	columns_add(table, sb->data);
}

/* --- totals ----------------------------------------------------------------------------------- */

static void
add_total(struct columns *table, struct strbuf *sb, const struct diff_total *total,
	  const char *what)
{
	add_signed_time(table, sb, total->change);
	diff_add_time(table, sb, "±", total->margin);
	diff_add_time(table, sb, "", total->rate[DIFF_BEFORE]);
	diff_add_time(table, sb, "", total->rate[DIFF_AFTER]);
	columns_add(table, what);
}

static void
add_parallelism(struct columns *table, struct strbuf *sb, const struct diff_total *total)
{
	const double values[] = { total->change, total->margin, total->rate[DIFF_BEFORE],
				  total->rate[DIFF_AFTER] };
	const char *const signs[] = { sign_of(total->change), "±", "", "" };

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		strbuf_clear(sb);
		strbuf_add_format(sb, "%s%.2f", signs[i], fabs(values[i]));
		columns_add(table, sb->data);
	}
	columns_add(table, "threads on a CPU on average");
}

static void
write_totals(const struct diff *diff, struct page *page)
{
	static const struct column column[] = {
		{ "change", true, 0 },
		{ "margin", true, 0 },
		{ "before", true, 0 },
		{ "after", true, 0 },
		{ "in each second that passed", false, 0 },
	};
	static const char *const what[] = {
		[WEIGHT_WALL] = "Wall, of all threads together",
		[WEIGHT_OVERHEAD] = "Overhead (CPU time)",
		[WEIGHT_LATENCY] = "Latency (real time)",
	};
	struct columns table;
	struct strbuf sb;

	strbuf_init(&sb);
	columns_init(&table, column, ARRAY_SIZE(column));
	for (int w = 0; w < WEIGHT_COUNT; w++)
		add_total(&table, &sb, &diff->total[w], what[w]);
	add_parallelism(&table, &sb, &diff->parallelism);
	page->ops->heading(page, "As a whole");
	page->ops->table(page, &table);
	columns_release(&table);
	strbuf_release(&sb);
}

/* --- functions ------------------------------------------------------------------------------- */

/* Writes the smallest change that would have been a finding, for a part of one thread's time. */
static double
least_change(const struct diff *diff, double part)
{
	struct margin_mean mean[DIFF_SIDES];

	for (int s = 0; s < DIFF_SIDES; s++)
		mean[s] = (struct margin_mean){ part, sqrt(part * (1 - part)), diff->ticks[s] };
	return margin_of_change(&mean[DIFF_BEFORE], &mean[DIFF_AFTER], diff->deviations);
}

static void
write_rules(const struct diff_input *input, struct page *page)
{
	const struct diff *diff = input->diff;
	const enum view_key key = view_key(input->run[DIFF_AFTER].view);
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_format(&sb,
			  "%s %s. Times are for each second that passed: 1.00s is one thread "
			  "all the time. Listed are changes beyond their margin of error. "
			  "A margin is %.1f standard deviations, for ",
			  report_key_words[key].plural, report_weight_words[diff->weight].meaning,
			  diff->deviations);
	quantity_add_things(&sb, diff->questions, "number that was compared",
			    "numbers that were compared");
	strbuf_add_text(&sb, ": of runs that do not differ, 95 in 100 list nothing at all. For "
			     "what takes a tenth of one thread's time, changes are listed from ");
	quantity_add_time(&sb, ns_of(least_change(diff, 0.1)));
	strbuf_add_text(&sb, " on.");
	page->ops->paragraph(page, sb.data);
	strbuf_release(&sb);
}

static size_t
make_columns(size_t width, enum view_key key, struct column *column)
{
	size_t count = 0;

	column[count++] = (struct column){ "change", true, 0 };
	column[count++] = (struct column){ "margin", true, 0 };
	column[count++] = (struct column){ "before", true, 0 };
	column[count++] = (struct column){ "after", true, 0 };
	if (width >= WITH_SHARES) {
		column[count++] = (struct column){ "before%", true, 0 };
		column[count++] = (struct column){ "after%", true, 0 };
	}
	if (width >= WITH_POINTS)
		column[count++] = (struct column){ "points", true, 0 };
	if (width >= WITH_POINTS_MARGIN)
		column[count++] = (struct column){ "margin", true, 0 };
	column[count++] = (struct column){ report_key_words[key].title, false, 0 };
	return count;
}

static void
diff_add_row(struct columns *table, struct strbuf *sb, const struct diff_row *row,
	     const struct diff_change *of, size_t width)
{
	const struct view_function function = {
		.name = row->name,
		.module = row->module,
		.needs_module = row->needs_module,
	};

	add_signed_time(table, sb, of->change);
	diff_add_time(table, sb, "±", of->margin);
	if (row->seen[DIFF_BEFORE])
		diff_add_time(table, sb, "", of->rate[DIFF_BEFORE]);
	else
		columns_add(table, "new");
	if (row->seen[DIFF_AFTER])
		diff_add_time(table, sb, "", of->rate[DIFF_AFTER]);
	else
		columns_add(table, "gone");
	for (int s = 0; s < DIFF_SIDES && width >= WITH_SHARES; s++) {
		strbuf_clear(sb);
		quantity_add_share(sb, of->share[s], 1);
		columns_add(table, sb->data);
	}
	if (width >= WITH_POINTS)
		add_points(table, sb, sign_of(of->points), of->points);
	if (width >= WITH_POINTS_MARGIN)
		add_points(table, sb, "±", of->points_margin);
	report_add_function_cell(table, &function);
}

/* Writes the findings: of functions themselves, or with their callees (`cum`). */
static void
write_table(const struct diff_input *input, bool cum, struct page *page)
{
	const struct diff *diff = input->diff;
	const enum view_key key = view_key(input->run[DIFF_AFTER].view);
	const size_t found = cum ? diff->cum_found : diff->flat_found;
	const size_t shown = found < input->limit ? found : input->limit;
	struct column column[COLUMNS_MAX];
	struct columns table;
	struct strbuf sb;

	page->ops->heading(page, cum ? "Changed with what they called" : "Changed in themselves");
	if (found == 0) {
		page->ops->paragraph(page, "Nothing changed beyond its margin.");
		return;
	}
	strbuf_init(&sb);
	columns_init(&table, column, make_columns(page->width, key, column));
	for (size_t i = 0; i < shown; i++) {
		const struct diff_row *row = &diff->row[cum ? diff->by_cum[i] : diff->by_flat[i]];

		diff_add_row(&table, &sb, row, cum ? &row->cum : &row->flat, page->width);
	}
	page->ops->table(page, &table);
	report_table_write_rest(page, page->ops->rest, found, input->limit,
				report_key_words[key].one, report_key_words[key].many);
	columns_release(&table);
	strbuf_release(&sb);
}

/* Writes what is not listed, and the reason. */
static void
write_noise(const struct diff_input *input, struct page *page)
{
	const struct diff *diff = input->diff;
	const struct report_key_words
		*words = &report_key_words[view_key(input->run[DIFF_AFTER].view)];
	const bool any = diff->flat_found > 0 || diff->cum_found > 0;
	size_t noise = 0;
	struct strbuf sb;

	for (size_t i = 0; i < diff->count; i++)
		noise += !diff->row[i].flat.found && !diff->row[i].cum.found;
	if (noise == 0)
		return;
	strbuf_init(&sb);
	if (any) {
		quantity_add_things(&sb, noise, words->other, words->others);
		strbuf_add_format(&sb, " differ%s by no more than chance explains.",
				  noise == 1 ? "s" : "");
	} else {
		strbuf_add_text(&sb, "Nothing has changed beyond the margin of error: whatever "
				     "differs can be chance.");
	}
	page->ops->lead(page, sb.data);
	strbuf_release(&sb);
}

static bool
is_comparable(const struct diff_input *input, struct page *page)
{
	static const char *const missing[] = {
		[DIFF_BEFORE] = "There is nothing to compare: the first recording has no tick "
				"here.",
		[DIFF_AFTER] = "There is nothing to compare: the second recording has no tick "
			       "here.",
	};

	for (int s = 0; s < DIFF_SIDES; s++)
		if (input->diff->wall_ns[s] == 0) {
			page->ops->paragraph(page, missing[s]);
			return false;
		}
	if (input->diff->count == 0)
		page->ops->paragraph(page, "No sample was selected.");
	return input->diff->count > 0;
}

void
report_diff_write(const struct diff_input *input, struct page *page)
{
	const enum view_key key = view_key(input->run[DIFF_AFTER].view);

	if (page->in_words)
		page->ops->heading(page, "What was compared");
	write_run(input, DIFF_BEFORE, "Before", page);
	write_run(input, DIFF_AFTER, "After", page);
	if (!is_comparable(input, page))
		return;
	write_totals(input->diff, page);
	page->ops->section(page, report_key_words[key].plural);
	write_rules(input, page);
	if (input->diff->flat_found > 0 || input->diff->cum_found > 0) {
		write_table(input, false, page);
		/* Threads and states have no callees. */
		if (!view_key_is_of_sample(key))
			write_table(input, true, page);
	}
	write_noise(input, page);
}
