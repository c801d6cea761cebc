/* SPDX-License-Identifier: MIT */
/*
 * report_causal.c - reports the results of experiments: the gain of each candidate, in order.
 */
#include <inttypes.h>

#include "wallsample/report/causal_words.h"
#include "wallsample/report/display.h"
#include "wallsample/report/quantity.h"
#include "report/report_internal.h"

/* Minimum widths of a table with verdicts; with shares and slopes; with intervals of slopes. */
#define WITH_VERDICT 56
#define WITH_SHARES 70
#define WITH_SLOPE_INTERVAL 120
/* Cells of a name in a sentence: names may have kilobytes. */
#define NAME_MOST 160
/* The minimum width of the column of names, and the gap between columns. */
#define NAME_LEAST 16
#define GAP 2

/* --- the experiments ------------------------------------------------------------------------- */

static void
write_target(const struct causal_input *input, struct page *page)
{
	const struct causal_result *result = input->result;
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_format(&sb, "%jd (", (intmax_t)result->pid);
	strbuf_add_escaped(&sb, result->command != NULL ? result->command : "");
	strbuf_add_text(&sb, ")");
	page->ops->field(page, "Process", sb.data);

	strbuf_clear(&sb);
	quantity_add_time(&sb, (int64_t)result->wall_ns);
	strbuf_add_text(&sb, ", in ");
	quantity_add_things(&sb, result->experiment_count, "experiment", "experiments");
	if (result->profile_ns > 0) {
		strbuf_add_text(&sb, ", after a profile of ");
		quantity_add_time(&sb, (int64_t)result->profile_ns);
	}
	page->ops->field(page, "Measured", sb.data);
	strbuf_release(&sb);
}

static void
write_method(const struct causal_result *result, struct page *page)
{
	static const char *const units[][2] = {
		[CAUSAL_BY_FUNCTION] = { "function", "functions" },
		[CAUSAL_BY_LINE] = { "line", "lines" },
		[CAUSAL_BY_MODULE] = { "module", "modules" },
	};
	struct strbuf sb;

	strbuf_init(&sb);
	quantity_add_things(&sb, result->candidate_count, units[result->unit][0],
			    units[result->unit][1]);
	if (result->speedup_count > 1) {
		strbuf_add_text(&sb, ", by ");
		causal_add_speedups(&sb, result);
	}
	strbuf_add_text(&sb, result->self ? "; only where innermost" : "; with what they call");
	page->ops->field(page, "Sped up", sb.data);
	strbuf_release(&sb);
}

/* "requests (var:requests_done): 1,234 a second" */
static void
add_point(struct strbuf *sb, const struct causal_input *input, size_t at)
{
	const struct causal_point *point = &input->result->point[at];

	strbuf_add_escaped(sb, point->name);
	if (strcmp(point->name, point->spec) != 0) {
		strbuf_add_text(sb, " (");
		strbuf_add_escaped(sb, point->spec);
		strbuf_add_text(sb, ")");
	}
	strbuf_add_text(sb, ": ");
	causal_add_rate(sb, input->curves->rate[at]);
	strbuf_add_text(sb, " a second");
	if (point->kind == CAUSAL_LATENCY) {
		strbuf_add_text(sb, ", taking ");
		quantity_add_time(sb, (int64_t)input->curves->latency_ns[at]);
		strbuf_add_text(sb, " each");
	}
}

static void
write_header(const struct causal_input *input, struct page *page)
{
	struct strbuf sb;

	strbuf_init(&sb);
	if (page->in_words)
		page->ops->heading(page, "What was measured");
	write_target(input, page);
	write_method(input->result, page);
	for (size_t i = 0; i < input->result->point_count; i++) {
		strbuf_clear(&sb);
		add_point(&sb, input, i);
		page->ops->field(page, i == 0 ? "Progress" : "", sb.data);
	}
	if (input->note != NULL) {
		strbuf_clear(&sb);
		strbuf_add_escaped(&sb, input->note);
		page->ops->field(page, "Recorded", sb.data);
	}
	if (input->snapshot)
		page->ops->field(page, "Note",
				 "Experiments continue: this is an intermediate report.");
	strbuf_release(&sb);
}

/* --- the ranking --------------------------------------------------------------------------- */

struct layout {
	const struct causal_input *input;
	const struct causal_ranking *ranking;
	size_t shown;
	bool verdict, shares, slope_interval;
	size_t gain[CAUSAL_SPEEDUPS_MOST]; /* the speed-ups that fit the width */
	size_t gain_count;
	char title[CAUSAL_SPEEDUPS_MOST][16];
};

static size_t
widest_gain(const struct layout *layout)
{
	size_t widest = sizeof("at 100%") - 1;
	struct strbuf sb;

	strbuf_init(&sb);
	for (size_t c = 0; c < layout->shown; c++)
		for (size_t i = 1; i < layout->ranking->known[c].gain_count; i++) {
			strbuf_clear(&sb);
			causal_add_gain(&sb, &layout->ranking->known[c].gain[i]);
			if (display_width(sb.data) > widest)
				widest = display_width(sb.data);
		}
	strbuf_release(&sb);
	return widest;
}

/* With room for one speed-up: the one in most sentences. */
static size_t
speedup_told(const struct causal_result *result)
{
	size_t at = 1;

	while (at + 1 < result->speedup_count && result->speedup[at + 1] <= 0.5)
		at++;
	return at;
}

/* Without room for all speed-ups: evenly spaced ones, and the largest. */
static void
choose_gains(struct layout *layout, size_t width)
{
	const struct causal_result *result = layout->input->result;
	const size_t there = result->speedup_count > 0 ? result->speedup_count - 1 : 0;
	const size_t others = sizeof("rank") - 1 + GAP + NAME_LEAST +
			      (layout->verdict ? sizeof("nothing") - 1 + GAP : 0) +
			      (layout->shares ? sizeof("100.00%+10.00") - 1 + 2 * GAP : 0) +
			      (layout->slope_interval ? sizeof(" [+10.00, +10.00]") - 1 : 0);
	const size_t room = width > others ? (width - others) / (widest_gain(layout) + GAP) : 0;
	const size_t count = room > there ? there : room > 0 ? room : there > 0;

	layout->gain_count = count;
	for (size_t i = 0; i < count; i++) {
		const size_t at = count == 1 ? speedup_told(result) :
					       ((i + 1) * there + count / 2) / count;

		layout->gain[i] = at;
		snprintf(layout->title[i], sizeof(layout->title[i]), "at %.4g%%",
			 100 * result->speedup[at]);
	}
}

static size_t
make_columns(const struct layout *layout, struct column *column)
{
	size_t count = 0;

	column[count++] = (struct column){ "rank", true, 0 };
	if (layout->shares)
		column[count++] = (struct column){ "share", true, 0 };
	for (size_t i = 0; i < layout->gain_count; i++)
		column[count++] = (struct column){ layout->title[i], true, 0 };
	if (layout->shares)
		column[count++] = (struct column){ "slope", true, 0 };
	if (layout->verdict)
		column[count++] = (struct column){ "verdict", false, 0 };
	column[count++] = (struct column){ "candidate (module)", false, 0 };
	return count;
}

static void
add_share(struct columns *table, struct strbuf *sb, const struct causal_input *input,
	  const struct causal_candidate *candidate)
{
	strbuf_clear(sb);
	if (input->result->profile_ns > 0)
		quantity_add_share(sb,
				   input->result->self ? candidate->self_share : candidate->share,
				   1);
	else
		strbuf_add_text(sb, "-");
	columns_add(table, sb->data);
}

static void
causal_add_name(struct columns *table, const struct causal_candidate *candidate)
{
	struct strbuf name, module;

	strbuf_init(&name);
	strbuf_init(&module);
	strbuf_add_escaped(&name, candidate->name);
	if (strcmp(candidate->name, candidate->module) != 0)
		strbuf_add_escaped(&module, candidate->module);
	columns_add_detailed(table, name.length > 0 ? name.data : "",
			     module.length > 0 ? module.data : "");
	strbuf_release(&name);
	strbuf_release(&module);
}

static void
causal_add_row(struct columns *table, struct strbuf *sb, const struct layout *layout, size_t rank)
{
	const struct causal_curve *curve = &layout->ranking->known[rank];
	const struct causal_candidate *candidate = &layout->input->result
							    ->candidate[curve->candidate];

	strbuf_clear(sb);
	quantity_add_count(sb, rank + 1);
	columns_add(table, sb->data);
	if (layout->shares)
		add_share(table, sb, layout->input, candidate);
	for (size_t i = 0; i < layout->gain_count; i++) {
		strbuf_clear(sb);
		causal_add_gain(sb, &curve->gain[layout->gain[i]]);
		columns_add(table, sb->data);
	}
	if (layout->shares) {
		strbuf_clear(sb);
		causal_add_slope(sb, curve->slope);
		if (layout->slope_interval) {
			strbuf_add_text(sb, " [");
			causal_add_slope(sb, curve->slope_low);
			strbuf_add_text(sb, ", ");
			causal_add_slope(sb, curve->slope_high);
			strbuf_add_text(sb, "]");
		}
		columns_add(table, sb->data);
	}
	if (layout->verdict)
		columns_add(table, causal_verdict_word(curve->verdict));
	causal_add_name(table, candidate);
}

static void
write_ranking(const struct causal_input *input, const struct causal_ranking *ranking,
	      struct page *page)
{
	struct layout layout = {
		.input = input,
		.ranking = ranking,
		.shown = ranking->known_count < input->limit ? ranking->known_count : input->limit,
		.verdict = page->width >= WITH_VERDICT,
		.shares = page->width >= WITH_SHARES,
		.slope_interval = page->width >= WITH_SLOPE_INTERVAL,
	};
	struct column column[COLUMNS_MAX];
	struct columns table;
	struct strbuf sb;

	strbuf_init(&sb);
	choose_gains(&layout, page->width);
	columns_init(&table, column, make_columns(&layout, column));
	for (size_t i = 0; i < layout.shown; i++)
		causal_add_row(&table, &sb, &layout, i);
	page->ops->table(page, &table);
	report_table_write_rest(page, page->ops->rest, ranking->known_count, input->limit,
				"more candidate", "more candidates");
	columns_release(&table);
	strbuf_release(&sb);
}

/* --- each candidate ------------------------------------------------------------------------ */

static void
write_candidate(const struct causal_input *input, const struct causal_ranking *ranking, size_t rank,
		struct page *page)
{
	const struct causal_curve *curve = &ranking->known[rank];
	struct strbuf sb, place;
	struct plot plot;

	strbuf_init(&sb);
	strbuf_init(&place);
	quantity_add_count(&sb, rank + 1);
	strbuf_add_text(&sb, ". ");
	causal_add_sentence(&sb, input, curve, NAME_MOST);
	causal_add_place(&place, &input->result->candidate[curve->candidate]);
	if (place.length > 0)
		strbuf_add_format(&sb, " It is at %s.", place.data);
	page->ops->lead(page, sb.data);
	causal_plot(ranking, curve, &plot);
	page->ops->plot(page, &plot);
	strbuf_release(&sb);
	strbuf_release(&place);
}

static void
write_unsure(const struct causal_input *input, const struct causal_ranking *ranking,
	     struct page *page)
{
	struct strbuf sb;

	if (ranking->unsure_count == 0)
		return;
	strbuf_init(&sb);
	page->ops->heading(page, "Not known yet");
	for (size_t i = 0; i < ranking->unsure_count && i < input->limit; i++) {
		strbuf_clear(&sb);
		causal_add_sentence(&sb, input, &ranking->unsure[i], NAME_MOST);
		page->ops->paragraph(page, sb.data);
	}
	report_table_write_rest(page, page->ops->rest, ranking->unsure_count, input->limit,
				"more candidate", "more candidates");
	strbuf_release(&sb);
}

/* --- the whole ------------------------------------------------------------------------------ */

static void
write_rules(const struct causal_input *input, const struct causal_point *point, struct page *page)
{
	struct strbuf sb;

	strbuf_init(&sb);
	if (point->kind == CAUSAL_LATENCY)
		strbuf_add_text(&sb, "Reduction of the time from begin to end in percent");
	else
		strbuf_add_text(&sb, "Gain in percent");
	strbuf_add_text(&sb,
			", with its 95% interval, if the candidate were faster by the amount "
			"above the column: at 100% it would take no time at all. The slope is the "
			"gain for each percent.");
	if (input->result->profile_ns > 0)
		strbuf_add_format(&sb,
				  " The share is that of the real time (Latency), with the "
				  "candidate %s.",
				  input->result->self ? "innermost" : "anywhere in the stack");
	page->ops->paragraph(page, sb.data);
	strbuf_release(&sb);
}

static void
write_point(const struct causal_input *input, uint32_t at, struct page *page)
{
	const struct causal_point *point = &input->result->point[at];
	const struct causal_ranking ranking = causal_ranking_of(input, at);
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_format(&sb, "What would %s ",
			  point->kind == CAUSAL_LATENCY ? "shorten" : "raise");
	strbuf_add_escaped(&sb, point->name);
	page->ops->heading(page, sb.data);
	strbuf_release(&sb);
	if (ranking.known_count > 0) {
		write_rules(input, point, page);
		write_ranking(input, &ranking, page);
		for (size_t i = 0; i < ranking.known_count && i < input->limit; i++)
			write_candidate(input, &ranking, i, page);
	} else if (ranking.unsure_count > 0) {
		page->ops->paragraph(page, "There is not enough data for any candidate yet.");
	} else {
		page->ops->paragraph(page, "There was no experiment.");
	}
	write_unsure(input, &ranking, page);
}

void
report_causal_write(const struct causal_input *input, struct page *page)
{
	write_header(input, page);
	if (input->result->candidate_count == 0)
		page->ops->lead(page, "There is no candidate: no code to speed up was chosen.");
	for (uint32_t i = 0; i < input->result->point_count; i++)
		if (input->result->candidate_count > 0)
			write_point(input, i, page);
	report_write_causal_cost(input, page);
}
