/* SPDX-License-Identifier: MIT */
/*
 * report_first.c - writes the first screen of a report: what was sampled, why it is slow, and where
 * the time goes.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/first_internal.h"
#include "wallsample/analysis/margin.h"
#include "wallsample/base/base.h"
#include "wallsample/report/display.h"
#include "wallsample/report/quantity.h"

/*
 * Greatest widths in cells of the columns of places, and the length of a bar for the longest time,
 * for pages of this width and above; the last column gets at least 16 cells (columns.c). The source
 * line has no column if its width is 0.
 */
static const struct layout {
	size_t width, name, line, bar;
	bool waits; /* the column of waits is shown */
} layouts[] = {
	{ 140, 40, 32, 20, true }, { 100, 25, 24, 14, true }, { 80, 18, 16, 10, true },
	{ 60, 16, 0, 8, true },    { 0, 13, 0, 8, false },
};
/* Between the marks that a legend explains. */
#define LEGEND_GAP "  "
/* A place needs this part of the time to have a row. */
#define PLACE_LEAST 0.005

/* --- what the screen is made of ---------------------------------------------------------- */

void
first_make(const struct export_input *input, struct first *out)
{
	*out = (struct first){ .input = input,
			       .view = input->functions != NULL ? input->functions : input->view,
			       .stats = *input->stats };
	if (input->part != NULL) {
		out->stats.work = (struct counters){ .reads = 0 };
		out->stats.sleeps = 0;
		out->stats.target_cpu_known = false;
		out->stats.elapsed_ns = (uint64_t)profile_wall_ns(view_profile(out->view));
	}
	own_make(out->view, input->modules, &out->own);
	waiting_make(out->view, &out->waiting);
	places_make(out->view, input->lines, &out->own, &out->waiting, &out->places);
	process_table_make(out->view, &out->own, out->places.is_idle, &out->processes);
	if (input->filtered)
		return;
	findings_make(out->view, &out->own, &out->stats, &out->findings);
	causes_make(out);
}

void
first_release(struct first *first)
{
	causes_release(&first->causes);
	process_table_release(&first->processes);
	places_release(&first->places);
	waiting_release(&first->waiting);
	own_release(&first->own);
}

/* --- the first line ---------------------------------------------------------------------- */

/* Returns the command line without the directory of the program. */
static const char *
without_directory(const char *cmdline)
{
	const size_t length = strcspn(cmdline, " ");
	const char *slash = memrchr(cmdline, '/', length);

	return slash != NULL ? slash + 1 : cmdline;
}

void
first_write_head(const struct first *first, struct page *page)
{
	const struct export_input *input = first->input;
	const struct run_stats *stats = input->stats;
	struct strbuf left = STRBUF_INIT, right = STRBUF_INIT, raw = STRBUF_INIT;

	report_add_processes(input, &raw);
	if (first->processes.count <= 1)
		strbuf_add_format(&raw, "  %s", without_directory(input->process->cmdline));
	strbuf_add_escaped(&left, raw.data);
	strbuf_add_format(&right, "%s at %s, %s", quantity_time((int64_t)stats->elapsed_ns).text,
			  quantity_rate(stats->rate_wanted).text,
			  report_has_green(input) ?
				  quantity_things(first->places.threads, "thread or task",
						  "threads and tasks")
					  .text :
				  quantity_things(first->places.threads, "thread", "threads").text);
	if (first->places.idle_threads > 0)
		strbuf_add_format(&right, " (%s idle)",
				  quantity_count(first->places.idle_threads).text);
	page->ops->head(page, left.data, right.data);
	strbuf_release(&raw);
	strbuf_release(&left);
	strbuf_release(&right);
}

/* --- why --------------------------------------------------------------------------------- */

static void
write_cause(struct page *page, size_t number, const struct cause *cause)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_add_escaped(&text, cause->text);
	page->ops->cause(page, number, cause->title, text.data);
	for (size_t i = 0; i < cause->details; i++) {
		strbuf_clear(&text);
		strbuf_add_escaped(&text, cause->detail[i].text);
		page->ops->detail(page, cause->detail[i].label, text.data);
	}
	strbuf_release(&text);
}

void
first_write_causes(const struct first *first, size_t most, struct page *page)
{
	const struct causes *causes = &first->causes;

	page->ops->part(page, "Why it is slow", "");
	if (first->input->filtered) {
		page->ops->paragraph(page, "Not determined: options exclude some samples.");
		return;
	}
	if (causes->count == 0)
		page->ops->paragraph(page, "No cause was found: no rule reaches its threshold.");
	for (size_t i = 0; i < causes->count && i < most; i++)
		write_cause(page, i + 1, &causes->cause[i]);
	report_table_write_rest(page, page->ops->rest, causes->count, most, "cause (--full)",
				"causes (--full)");
}

/* --- where ------------------------------------------------------------------------------- */

/* What the columns of places need. */
struct where {
	const struct first *first;
	size_t bar; /* cells of the longest bar */
};

static void
add_name(const struct report_cell *cell, struct strbuf *out)
{
	const struct where *where = cell->table->context;

	first_add_function(where->first, ((const struct place_row *)cell->row)->function, out);
}

static void
add_source(const struct report_cell *cell, struct strbuf *out)
{
	const struct where *where = cell->table->context;
	const struct place_row *row = cell->row;

	first_add_line(where->first, row->function, row->file, row->line, out);
}

static void
add_share(const struct report_cell *cell, struct strbuf *out)
{
	const struct place_row *row = cell->row;

	strbuf_add_text(out,
			quantity_percent((double)row->wall_ns / (double)cell->table->whole).text);
}

/* Adds a bar whose length shows the time, made of the marks of what the threads did. */
static void
add_bar(const struct report_cell *cell, struct strbuf *out)
{
	static const char marks[] =
#define X(name, word, mark) mark
		PLACE_DOINGS(X);
#undef X
	const struct where *where = cell->table->context;
	const struct place_row *row = cell->row;
	const double longest = (double)where->first->places.row[0].wall_ns;
	const double length = round((double)row->wall_ns / longest * (double)where->bar);
	const size_t cells = length < 1                  ? 1 :
			     length > (double)where->bar ? where->bar :
							   (size_t)length;
	double sum = 0, until = 0;
	size_t written = 0;

	/* Corrections may have made a part negative. */
	for (size_t doing = 0; doing < PLACE_DOING_COUNT; doing++)
		sum += fmax((double)row->ns[doing], 0);
	for (size_t doing = 0; doing < PLACE_DOING_COUNT && sum > 0; doing++) {
		until += fmax((double)row->ns[doing], 0);
		while (written < cells && (double)written + 0.5 < until / sum * (double)cells) {
			strbuf_add(out, &marks[doing], 1);
			written++;
		}
	}
}

static void
add_awaited(const struct report_cell *cell, struct strbuf *out)
{
	const struct where *where = cell->table->context;
	const struct place_row *row = cell->row;

	/* Most of the time of a place that runs is not for this wait. */
	if (row->wait_ns * 4 < row->wall_ns || row->wait.state == RUN_UNKNOWN)
		return;
	first_add_wait_of(where->first, row, out);
	if (row->wait_ns * 4 < row->ns[PLACE_BLOCKED] * 3)
		strbuf_add_text(out, ", …");
}

#define AT(member) offsetof(struct place_row, member)

static const struct layout *
layout_of(size_t width)
{
	const struct layout *layout = layouts;

	while (width < layout->width)
		layout++;
	return layout;
}

void
first_write_places(const struct first *first, size_t rows, struct page *page)
{
	const struct places *places = &first->places;
	const struct layout *layout = layout_of(page->width);
	const struct where where = { first, layout->bar };
	const struct report_column column[] = {
		{ "time", NULL, COLUMN_TIME, .at = AT(wall_ns) },
		{ "share", NULL, COLUMN_TEXT, .text = add_share },
		{ "function", NULL, COLUMN_TEXT, .text = add_name, .left = true,
		  .most = page->in_words ? page->width : layout->name },
		{ "line", NULL, COLUMN_TEXT, .text = add_source, .left = true,
		  .most = page->in_words ? page->width : layout->line,
		  .from_width = layout->line > 0 ? 0 : SIZE_MAX },
		{ "states", NULL, COLUMN_TEXT, .text = add_bar, .left = true, .marks = true },
		{ "waits for", NULL, COLUMN_TEXT, .text = add_awaited, .left = true,
		  .from_width = layout->waits ? 0 : SIZE_MAX },
	};
	/* "# runs  ~ waits for a CPU  . blocked" */
	static const char legend[] =
#define X(name, word, mark) LEGEND_GAP mark " " word
		PLACE_DOINGS(X);
#undef X
	size_t shown = 0;

	page->ops->part(page, "Where the time goes", legend + strlen(LEGEND_GAP));
	while (shown < places->count && shown < rows &&
	       (shown == 0 ||
		(double)places->row[shown].wall_ns >= PLACE_LEAST * (double)places->wall_ns))
		shown++;
	report_table_write(&REPORT_TABLE(column, places->row, shown, .view = first->view,
					 .whole = places->wall_ns, .context = &where,
					 .untitled = true),
			   page);
}

/* --- what to ask next -------------------------------------------------------------------- */

/* Widths in cells: of the word "next", and of a suggested command on a page that is wide enough. */
#define NEXT_WIDTH 6
#define COMMAND_WIDTH 48

/* Writes the suggested command below `written` others, unless it is too long for a line. Returns
 * the number of commands that are written then. */
static size_t
suggest(const struct first *first, const struct suggestion *suggestion, size_t written,
	struct page *page)
{
	const size_t room = page->width - NEXT_WIDTH - 2 - strlen(suggestion->why);
	struct strbuf line = STRBUF_INIT, escaped = STRBUF_INIT;
	size_t width;

	if (suggestion->command != NULL)
		strbuf_add_text(&line, suggestion->command);
	else
		strbuf_add_format(&line, "%s %s%s", first->input->again_before, suggestion->options,
				  first->input->again_after);
	strbuf_add_escaped(&escaped, line.data);
	width = display_width(escaped.data);
	/* A name that cannot be shown as it is cannot be pasted either. */
	if (width <= room && strcmp(line.data, escaped.data) == 0) {
		if (written == 0)
			page->ops->section(page, "Next");
		page_add(page, "%-*s%s", NEXT_WIDTH, written == 0 ? "next" : "", line.data);
		while (width++ < (room < COMMAND_WIDTH ? room : COMMAND_WIDTH))
			page_add(page, " ");
		page_add(page, "  %s", suggestion->why);
		page_end(page, page->ops->rest);
		written++;
	}
	strbuf_release(&line);
	strbuf_release(&escaped);
	return written;
}

void
first_write_next(const struct first *first, struct page *page)
{
	const struct suggestion all = { .options = "--full", .why = "all tables" };
	const struct causes *causes = &first->causes;
	char page_name[64];
	const struct suggestion graph = { .options = page_name, .why = "flame graph" };
	size_t written = 0;

	snprintf(page_name, sizeof(page_name), "-o wallsample-%jd.html",
		 (intmax_t)first->input->process->pid);
	if (first->input->again_before == NULL || first->input->snapshot ||
	    (first->input->note == NULL && first->input->end == RUN_END_EXITED))
		return;
	for (size_t i = 0; i < causes->count && written == 0; i++)
		if (causes->cause[i].next.why != NULL)
			written = suggest(first, &causes->cause[i].next, 0, page);
	if (written == 0)
		written = suggest(first, &all, 0, page);
	suggest(first, &graph, written, page);
}
