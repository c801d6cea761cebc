/* SPDX-License-Identifier: MIT */
/* report_diff.c - reports the comparison of two runs: changes and their margins of error. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "wallsample/report/quantity.h"
#include "report/report_internal.h"
#include "wallsample/analysis/margin.h"

/* Minimum widths in cells of a page whose tables of functions have these columns. */
#define WITH_SHARES 80         /* the shares of the function in both runs */
#define WITH_POINTS 100        /* the shares, and the change of the share */
#define WITH_POINTS_MARGIN 120 /* the shares, the change of the share and its margin of error */

/* --- the two runs -------------------------------------------------------------------------- */

static void
write_run(const struct diff_input *input, enum diff_side side, const char *label, struct page *page)
{
	const struct export_input *run = &input->run[side];

	const bool several = profile_process_count(view_profile(run->view)) > 1;

	if (several)
		report_add_processes(run, &page->text);
	else
		page_add(page, "process %jd (%s)", (intmax_t)run->process->pid, run->process->comm);
	page_add(page, ", %s in %s at %s", quantity_time((int64_t)input->diff->wall_ns[side]).text,
		 quantity_things(profile_tick_count(view_profile(run->view)), "tick", "ticks").text,
		 quantity_rate(run->stats->rate_wanted).text);
	page_end_field(page, label);
	if (!several)
		page_line(page, "", run->process->cmdline);
	if (run->note != NULL)
		page_field(page, "", "recorded %s", run->note);
	if (run->part != NULL)
		page_field(page, "", "only %s", run->part);
	if (input->filtered)
		report_write_selected(run->view, "", page);
}

/* --- cells ------------------------------------------------------------------------------------ */

/* A row of a table: a total of both runs, or a function. */
struct diff_line {
	struct diff_change of;   /* for a total, only the members rate, change and margin are set */
	bool is_time;            /* rates are shown as times, else as numbers */
	bool absent[DIFF_SIDES]; /* by run: the function is not in that run */
	const char *what;        /* the name of the total or function */
	const char *module;      /* "" if `what` determines the module */
};

#define AT(member) offsetof(struct diff_line, member)

/*
 * Converts a rate in seconds per second to ns per second. Returns 0 for a rate that is not finite,
 * and for one that would be shown as "0.0us".
 */
static int64_t
ns_of(double rate)
{
	const double ns = isfinite(rate) ? rate * (double)NS_PER_SEC : 0;

	return fabs(ns) < 50 ? 0 : llround(ns);
}

static const char *
sign_of(double change)
{
	return change > 0 ? "+" : change < 0 ? "-" : "";
}

/* Adds `sign` and the absolute value of the rate, change or margin at column->at. */
static void
add_value(const struct report_cell *cell, const char *sign, struct strbuf *out)
{
	const struct diff_line *line = cell->row;
	const double value = fabs(*(const double *)report_cell_value(cell));

	if (line->is_time)
		strbuf_add_format(out, "%s%s", sign, quantity_time(ns_of(value)).text);
	else
		strbuf_add_format(out, "%s%.2f", sign, value);
}

static void
add_change(const struct report_cell *cell, struct strbuf *out)
{
	const struct diff_line *line = cell->row;
	const bool zero = line->is_time && ns_of(line->of.change) == 0;

	add_value(cell, zero ? "" : sign_of(line->of.change), out);
}

static void
add_margin(const struct report_cell *cell, struct strbuf *out)
{
	add_value(cell, "±", out);
}

static void
add_rate(const struct report_cell *cell, struct strbuf *out)
{
	const enum diff_side side = cell->column->at == AT(of.rate[DIFF_BEFORE]) ? DIFF_BEFORE :
										   DIFF_AFTER;

	if (((const struct diff_line *)cell->row)->absent[side])
		strbuf_add_text(out, side == DIFF_BEFORE ? "new" : "gone");
	else
		add_value(cell, "", out);
}

/* Adds the change of a share in percentage points: "+1.25". */
static void
add_points(const struct report_cell *cell, struct strbuf *out)
{
	const double points = *(const double *)report_cell_value(cell);

	strbuf_add_format(out, "%s%.2f", sign_of(points), 100 * fabs(points));
}

static void
add_points_margin(const struct report_cell *cell, struct strbuf *out)
{
	strbuf_add_format(out, "±%.2f", 100 * fabs(*(const double *)report_cell_value(cell)));
}

static void
add_module(const struct report_cell *cell, struct strbuf *out)
{
	strbuf_add_text(out, ((const struct diff_line *)cell->row)->module);
}

/*
 * Writes a table of at most `limit` rows (0: all): a table of totals if `key` is NULL, else of
 * functions, with the words of `key`.
 */
static void
write_lines(const struct diff_line *line, size_t count, size_t limit,
	    const struct report_key_words *key, struct page *page)
{
	const size_t shares = key != NULL ? WITH_SHARES : SIZE_MAX;
	const size_t points = key != NULL ? WITH_POINTS : SIZE_MAX;
	const size_t points_margin = key != NULL ? WITH_POINTS_MARGIN : SIZE_MAX;
	const struct report_column column[] = {
		{ "change", NULL, COLUMN_TEXT, .at = AT(of.change), .text = add_change },
		{ "margin", NULL, COLUMN_TEXT, .at = AT(of.margin), .text = add_margin },
		{ "before", NULL, COLUMN_TEXT, .at = AT(of.rate[DIFF_BEFORE]), .text = add_rate },
		{ "after", NULL, COLUMN_TEXT, .at = AT(of.rate[DIFF_AFTER]), .text = add_rate },
		{ "before%", NULL, COLUMN_PART, .at = AT(of.share[DIFF_BEFORE]),
		  .from_width = shares },
		{ "after%", NULL, COLUMN_PART, .at = AT(of.share[DIFF_AFTER]),
		  .from_width = shares },
		{ "points", NULL, COLUMN_TEXT, .at = AT(of.points), .text = add_points,
		  .from_width = points },
		{ "margin", NULL, COLUMN_TEXT, .at = AT(of.points_margin),
		  .text = add_points_margin, .from_width = points_margin },
		{ key != NULL ? key->title : "in each second that passed", NULL, COLUMN_TEXT,
		  .at = AT(what), .detail = add_module, .left = true },
	};

	report_table_write(&REPORT_TABLE(column, line, count, .limit = limit,
					 .one = key != NULL ? key->one : NULL,
					 .many = key != NULL ? key->many : NULL),
			   page);
}

/* --- totals ----------------------------------------------------------------------------------- */

static void
write_totals(const struct diff *diff, struct page *page)
{
	static const char *const what[] = {
		[WEIGHT_WALL] = "Wall, of all threads together",
		[WEIGHT_CPU] = "CPU time",
		[WEIGHT_LATENCY] = "Latency (real time)",
		[WEIGHT_COUNT] = "threads on a CPU on average",
	};
	struct diff_line line[WEIGHT_COUNT + 1];

	for (int i = 0; i <= WEIGHT_COUNT; i++) {
		const struct diff_total *total = i < WEIGHT_COUNT ? &diff->total[i] :
								    &diff->parallelism;

		line[i] = (struct diff_line){
			.of = { .change = total->change,
				.margin = total->margin,
				.rate = { total->rate[DIFF_BEFORE], total->rate[DIFF_AFTER] } },
			.is_time = i < WEIGHT_COUNT,
			.what = what[i],
			.module = "",
		};
	}
	page->ops->heading(page, "As a whole");
	write_lines(line, ARRAY_SIZE(line), 0, NULL, page);
}

/* --- processes ------------------------------------------------------------------------------- */

/* Writes the CPU time of processes, changes beyond their margin of error first. */
static void
write_processes(const struct diff_input *input, struct page *page)
{
	const struct diff *diff = input->processes;
	struct diff_line *line;

	if (diff == NULL || diff->count == 0)
		return;
	line = xcalloc(diff->count, sizeof(*line));
	for (size_t i = 0; i < diff->count; i++) {
		const struct diff_row *row = &diff->row[diff->by_flat[i]];

		line[i] = (struct diff_line){
			.of = row->flat,
			.is_time = true,
			.absent = { !row->seen[DIFF_BEFORE], !row->seen[DIFF_AFTER] },
			.what = row->name,
			.module = "",
		};
	}
	page_write(
		page, page->ops->heading,
		"CPU time of processes in each second that passed (%s changed beyond the margin)",
		diff->flat_found > 0 ? quantity_count(diff->flat_found).text : "none");
	write_lines(line, diff->count, input->limit, &report_key_words[VIEW_BY_PROCESS], page);
	free(line);
}

/* --- functions ------------------------------------------------------------------------------- */

/*
 * Returns the smallest change that would be listed for a function that takes the share `part` (0 to
 * 1) of one thread's time in both runs: the margin of error of the change of its rate, in seconds
 * per second.
 */
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

	page_write(
		page, page->ops->paragraph,
		"%s %s. Times are for each second that passed: 1.00s is one thread all the "
		"time. Listed are changes beyond their margin of error. A margin is %.1f standard "
		"deviations, for %s: of runs that do not differ, 95 in 100 list nothing at all. "
		"For what takes a tenth of one thread's time, changes are listed from %s on.",
		report_key_words[key].plural, report_weight_words[diff->weight].meaning,
		diff->deviations,
		quantity_things(diff->questions, "number that was compared",
				"numbers that were compared")
			.text,
		quantity_time(ns_of(least_change(diff, 0.1))).text);
}

/*
 * Writes the functions whose own time changed by more than its margin of error; if `cum` is true,
 * those whose time including callees did.
 */
static void
write_table(const struct diff_input *input, bool cum, struct page *page)
{
	const struct diff *diff = input->diff;
	const size_t found = cum ? diff->cum_found : diff->flat_found;
	struct diff_line *line;

	page->ops->heading(page, cum ? "Changed with what they called" : "Changed in themselves");
	if (found == 0) {
		page->ops->paragraph(page, "Nothing changed beyond its margin.");
		return;
	}
	line = xcalloc(found, sizeof(*line));
	for (size_t i = 0; i < found; i++) {
		const struct diff_row *row = &diff->row[cum ? diff->by_cum[i] : diff->by_flat[i]];

		line[i] = (struct diff_line){
			.of = cum ? row->cum : row->flat,
			.is_time = true,
			.absent = { !row->seen[DIFF_BEFORE], !row->seen[DIFF_AFTER] },
			.what = row->name,
			.module = row->needs_module ? row->module : "",
		};
	}
	write_lines(line, found, input->limit,
		    &report_key_words[view_key(input->run[DIFF_AFTER].view)], page);
	free(line);
}

/*
 * Writes how many functions are not listed because they changed by no more than their margins of
 * error, or that this is true of all functions.
 */
static void
write_noise(const struct diff_input *input, struct page *page)
{
	const struct diff *diff = input->diff;
	const struct report_key_words
		*words = &report_key_words[view_key(input->run[DIFF_AFTER].view)];
	size_t noise = 0;

	for (size_t i = 0; i < diff->count; i++)
		noise += !diff->row[i].flat.found && !diff->row[i].cum.found;
	if (noise > 0 && diff->flat_found + diff->cum_found > 0)
		page_write(page, page->ops->lead,
			   "%s other %s differ%s by no more than chance explains.",
			   quantity_count(noise).text, noise == 1 ? words->one : words->many,
			   noise == 1 ? "s" : "");
	else if (noise > 0)
		page->ops->lead(page, "Nothing has changed beyond the margin of error: whatever "
				      "differs can be chance.");
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
	write_processes(input, page);
	page->ops->section(page, report_key_words[key].plural);
	write_rules(input, page);
	if (input->diff->flat_found > 0 || input->diff->cum_found > 0) {
		write_table(input, false, page);
		/* Threads, states, locks and GIL states have no callees. */
		if (!view_key_is_of_sample(key))
			write_table(input, true, page);
	}
	write_noise(input, page);
}
