/* SPDX-License-Identifier: MIT */
/*
 * report_causal.c - reports the results of virtual speed-up experiments: for each progress point
 * the candidates (functions, lines or modules) by descending slope, with their gains; what makes
 * the results less certain; and the cost.
 */
#include <inttypes.h>

#include "wallsample/report/causal_words.h"
#include "wallsample/report/display.h"
#include "wallsample/report/quantity.h"
#include "report/report_internal.h"

/* Minimum widths in cells of a page whose table has these columns. */
#define WITH_VERDICT 56         /* the verdict */
#define WITH_SHARES 70          /* the verdict, the share and the slope */
#define WITH_SLOPE_INTERVAL 120 /* the verdict, the share, the slope and its interval */
/* Maximum width in cells of a name in a sentence: names may have kilobytes. */
#define NAME_MOST 160
/* In cells, the minimum width of the column of names and the gap between columns. */
#define NAME_LEAST 16
#define GAP 2

/* --- the experiments ------------------------------------------------------------------------- */

static void
write_target(const struct causal_input *input, struct page *page)
{
	const struct causal_result *result = input->result;

	page_field(page, "Process", "%jd (%s)", (intmax_t)result->pid,
		   result->command != NULL ? result->command : "");
	page_add(page, "%s, in %s", quantity_time((int64_t)result->wall_ns).text,
		 quantity_things(result->experiment_count, "experiment", "experiments").text);
	if (result->profile_ns > 0)
		page_add(page, ", after a profile of %s",
			 quantity_time((int64_t)result->profile_ns).text);
	page_end_field(page, "Measured");
}

static void
write_method(const struct causal_result *result, struct page *page)
{
	static const char *const units[][2] = {
		[CAUSAL_BY_FUNCTION] = { "function", "functions" },
		[CAUSAL_BY_LINE] = { "line", "lines" },
		[CAUSAL_BY_MODULE] = { "module", "modules" },
	};

	page_add(page, "%s%s",
		 quantity_things(result->candidate_count, units[result->unit][0],
				 units[result->unit][1])
			 .text,
		 result->speedup_count > 1 ? ", by " : "");
	causal_add_speedups(&page->text, result);
	page_field(page, "Sped up", "%s",
		   result->self ? "; only where innermost" : "; with what they call");
}

/* Adds "requests (var:requests_done): 1,234 a second". */
static void
add_point(const struct causal_input *input, size_t at, struct page *page)
{
	const struct causal_point *point = &input->result->point[at];

	page_add(page, "%s", point->name);
	if (strcmp(point->name, point->spec) != 0)
		page_add(page, " (%s)", point->spec);
	page_add(page, ": ");
	causal_add_rate(&page->text, input->curves->rate[at]);
	page_add(page, " a second");
	if (point->kind == CAUSAL_LATENCY)
		page_add(page, ", taking %s each",
			 quantity_time((int64_t)input->curves->latency_ns[at]).text);
}

static void
write_header(const struct causal_input *input, struct page *page)
{
	if (page->in_words)
		page->ops->heading(page, "What was measured");
	write_target(input, page);
	write_method(input->result, page);
	for (size_t i = 0; i < input->result->point_count; i++) {
		add_point(input, i, page);
		page_end_field(page, i == 0 ? "Progress" : "");
	}
	if (input->note != NULL)
		page_field(page, "Recorded", "%s", input->note);
	if (input->snapshot)
		page_field(page, "Note", "Experiments continue: this is an intermediate report.");
}

/* --- the ranking --------------------------------------------------------------------------- */

/* The context of a table whose rows are curves: those of causal_ranking.known. */
struct ranking_context {
	const struct causal_input *input;
	const struct causal_curve *first; /* the curve of the first row, which has rank 1 */
	bool slope_interval;              /* the page has room for the interval of each slope */
};

static const struct causal_candidate *
candidate_of(const struct report_cell *cell)
{
	const struct ranking_context *context = cell->table->context;
	const struct causal_curve *curve = cell->row;

	return &context->input->result->candidate[curve->candidate];
}

static void
add_rank(const struct report_cell *cell, struct strbuf *out)
{
	const struct ranking_context *context = cell->table->context;
	const struct causal_curve *curve = cell->row;

	strbuf_add_text(out, quantity_count((uint64_t)(curve - context->first) + 1).text);
}

static void
add_share(const struct report_cell *cell, struct strbuf *out)
{
	const struct ranking_context *context = cell->table->context;
	const struct causal_result *result = context->input->result;
	const struct causal_candidate *candidate = candidate_of(cell);
	const double share = result->self ? candidate->self_share : candidate->share;

	strbuf_add_text(out, result->profile_ns > 0 ? quantity_share(share, 1).text : "-");
}

/* Adds the text of the struct causal_gain that is at offset column->at of the row. */
static void
add_gain(const struct report_cell *cell, struct strbuf *out)
{
	causal_add_gain(out, report_cell_value(cell));
}

static void
add_slope(const struct report_cell *cell, struct strbuf *out)
{
	const struct ranking_context *context = cell->table->context;
	const struct causal_curve *curve = cell->row;

	causal_add_slope(out, curve->slope);
	if (!context->slope_interval)
		return;
	strbuf_add_text(out, " [");
	causal_add_slope(out, curve->slope_low);
	strbuf_add_text(out, ", ");
	causal_add_slope(out, curve->slope_high);
	strbuf_add_text(out, "]");
}

static void
add_verdict(const struct report_cell *cell, struct strbuf *out)
{
	strbuf_add_text(out,
			causal_verdict_word(((const struct causal_curve *)cell->row)->verdict));
}

static void
add_candidate(const struct report_cell *cell, struct strbuf *out)
{
	strbuf_add_text(out, candidate_of(cell)->name);
}

static void
add_candidate_module(const struct report_cell *cell, struct strbuf *out)
{
	const struct causal_candidate *candidate = candidate_of(cell);

	if (strcmp(candidate->name, candidate->module) != 0)
		strbuf_add_text(out, candidate->module);
}

static size_t
widest_gain(const struct causal_ranking *ranking, size_t rows)
{
	size_t widest = sizeof("at 100%") - 1;
	struct strbuf sb = STRBUF_INIT;

	for (size_t c = 0; c < rows; c++)
		for (size_t i = 1; i < ranking->known[c].gain_count; i++) {
			strbuf_clear(&sb);
			causal_add_gain(&sb, &ranking->known[c].gain[i]);
			if (display_width(sb.data) > widest)
				widest = display_width(sb.data);
		}
	strbuf_release(&sb);
	return widest;
}

/*
 * Returns the index of the speed-up to show if there is room for only one: the largest up to 50%,
 * or if there is none, the smallest above 0.
 */
static size_t
speedup_told(const struct causal_result *result)
{
	size_t at = 1;

	while (at + 1 < result->speedup_count && result->speedup[at + 1] <= 0.5)
		at++;
	return at;
}

/*
 * Selects the speed-ups whose gains a table of `width` cells shows: all of them if there is room;
 * else as many as there is room for, at even distances and including the largest; if there is room
 * for one or none, only speedup_told(). Stores their indices in gain[] and returns their number.
 * `widest` is the width in cells of the widest gain.
 */
static size_t
choose_gains(const struct causal_result *result, size_t width, size_t widest,
	     size_t gain[CAUSAL_SPEEDUPS_MOST])
{
	const size_t there = result->speedup_count > 0 ? result->speedup_count - 1 : 0;
	const size_t others = sizeof("rank") - 1 + GAP + NAME_LEAST +
			      (width >= WITH_VERDICT ? sizeof("nothing") - 1 + GAP : 0) +
			      (width >= WITH_SHARES ? sizeof("100.00%+10.00") - 1 + 2 * GAP : 0) +
			      (width >= WITH_SLOPE_INTERVAL ? sizeof(" [+10.00, +10.00]") - 1 : 0);
	const size_t room = width > others ? (width - others) / (widest + GAP) : 0;
	const size_t count = room > there ? there : room > 0 ? room : there > 0;

	for (size_t i = 0; i < count; i++)
		gain[i] = count == 1 ? speedup_told(result) : ((i + 1) * there + count / 2) / count;
	return count;
}

static void
write_ranking(const struct causal_input *input, const struct causal_ranking *ranking,
	      struct page *page)
{
	static const struct report_column behind[] = {
		{ "slope", NULL, COLUMN_TEXT, .text = add_slope, .from_width = WITH_SHARES },
		{ "verdict", NULL, COLUMN_TEXT, .text = add_verdict, .left = true,
		  .from_width = WITH_VERDICT },
		{ "candidate (module)", NULL, COLUMN_TEXT, .text = add_candidate,
		  .detail = add_candidate_module, .left = true },
	};
	struct report_column column[2 + CAUSAL_SPEEDUPS_MOST + ARRAY_SIZE(behind)] = {
		{ "rank", NULL, COLUMN_TEXT, .text = add_rank },
		{ "share", NULL, COLUMN_TEXT, .text = add_share, .from_width = WITH_SHARES },
	};
	const struct ranking_context context = {
		.input = input,
		.first = ranking->known,
		.slope_interval = page->width >= WITH_SLOPE_INTERVAL,
	};
	struct report_table table = REPORT_TABLE(column, ranking->known, ranking->known_count,
						 .limit = input->limit, .one = "candidate",
						 .many = "candidates", .context = &context);
	size_t gain[CAUSAL_SPEEDUPS_MOST];
	char title[CAUSAL_SPEEDUPS_MOST][16];
	const size_t rows = ranking->known_count < input->limit ? ranking->known_count :
								  input->limit;
	const size_t gains = choose_gains(input->result, page->width, widest_gain(ranking, rows),
					  gain);

	for (size_t i = 0; i < gains; i++) {
		snprintf(title[i], sizeof(title[i]), "at %.4g%%",
			 100 * input->result->speedup[gain[i]]);
		column[2 + i] = (struct report_column){
			title[i],
			NULL,
			COLUMN_TEXT,
			.text = add_gain,
			.at = offsetof(struct causal_curve, gain) +
			      gain[i] * sizeof(struct causal_gain),
		};
	}
	memcpy(&column[2 + gains], behind, sizeof(behind));
	table.column_count = 2 + gains + ARRAY_SIZE(behind);
	report_table_write(&table, page);
}

/* --- each candidate ------------------------------------------------------------------------ */

/* Adds " It is at src/parse.c:10.", unless the line is not known or is the candidate's name. */
static void
add_place(const struct causal_candidate *candidate, struct page *page)
{
	struct strbuf place = STRBUF_INIT;

	if (candidate->file == NULL || candidate->line == 0)
		return;
	strbuf_add_format(&place, "%s:%" PRIu32, candidate->file, candidate->line);
	if (strcmp(place.data, candidate->name) != 0)
		page_add(page, " It is at %s.", place.data);
	strbuf_release(&place);
}

static void
write_candidate(const struct causal_input *input, const struct causal_ranking *ranking, size_t rank,
		struct page *page)
{
	const struct causal_curve *curve = &ranking->known[rank];
	struct plot plot;

	page_add(page, "%s. ", quantity_count(rank + 1).text);
	causal_add_sentence(&page->text, input, curve, NAME_MOST);
	add_place(&input->result->candidate[curve->candidate], page);
	page_end(page, page->ops->lead);
	causal_plot(ranking, curve, &plot);
	page->ops->plot(page, &plot);
}

static void
write_unsure(const struct causal_input *input, const struct causal_ranking *ranking,
	     struct page *page)
{
	if (ranking->unsure_count == 0)
		return;
	page->ops->heading(page, "Not known yet");
	for (size_t i = 0; i < ranking->unsure_count && i < input->limit; i++) {
		causal_add_sentence(&page->text, input, &ranking->unsure[i], NAME_MOST);
		page_end(page, page->ops->paragraph);
	}
	report_table_write_rest(page, page->ops->rest, ranking->unsure_count, input->limit,
				"candidate", "candidates");
}

/* --- cost --------------------------------------------------------------------------------- */

static void
write_cost(const struct causal_result *result, struct page *page)
{
	/* The time of the profile and of all experiments: --max-hold is a percentage of it. */
	const double run_ns = (double)(result->wall_ns + result->profile_ns);

	report_causal_doubts_write(result, page);
	page->ops->heading(page, "What it cost");
	page_add(page, "%s, %s of the run", quantity_time((int64_t)result->held_ns).text,
		 quantity_share((double)result->held_ns, run_ns).text);
	if (result->max_hold > 0)
		page_add(page, ", of %.4g%% allowed", 100 * result->max_hold);
	page_end_field(page, "Held");
	page_field(page, "Stops", "%s, of a thread each", quantity_count(result->stops).text);
	page_field(page, "Own cost", "%s of CPU time, %s of one CPU",
		   quantity_time((int64_t)result->own_cpu_ns).text,
		   quantity_share((double)result->own_cpu_ns, run_ns).text);
	if (report_add_excluded(&result->excluded, &page->text))
		page_end_field(page, "Excluded");
}

/* --- the whole ------------------------------------------------------------------------------ */

static void
write_rules(const struct causal_input *input, const struct causal_point *point, struct page *page)
{
	page_add(page,
		 "%s, with its 95%% interval, if the candidate were faster by the amount above the "
		 "column: at 100%% it would take no time at all. The slope is the gain for each "
		 "percent.",
		 point->kind == CAUSAL_LATENCY ?
			 "Reduction of the time from begin to end in percent" :
			 "Gain in percent");
	if (input->result->profile_ns > 0)
		page_add(page,
			 " The share is that of the real time (Latency), with the candidate %s.",
			 input->result->self ? "innermost" : "anywhere in the stack");
	page_end(page, page->ops->paragraph);
}

static void
write_point(const struct causal_input *input, uint32_t at, struct page *page)
{
	const struct causal_point *point = &input->result->point[at];
	const struct causal_ranking ranking = causal_ranking_of(input, at);

	page_write(page, page->ops->heading, "What would %s %s",
		   point->kind == CAUSAL_LATENCY ? "shorten" : "raise", point->name);
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
	write_cost(input->result, page);
}
