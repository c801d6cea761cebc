/* SPDX-License-Identifier: MIT */
/* report_functions.c - writes tables of functions, or of what else the key of the view names. */
#include <string.h>

#include "report/report_internal.h"
#include "wallsample/analysis/margin.h"
#include "wallsample/report/quantity.h"

/* Pages of fewer cells than this show one weight and no parallelism, to leave room for names. */
#define NARROW 70
/* Minimum width in cells of a page with the margin of error of each function's own time. */
#define WIDE 120
/* Maximum number of rows of the first table, which has the program's own functions. */
#define PROGRAM_ROWS 10
#define SCRIPT_TITLE "Your functions, including the native code they call"
#define LIBRARY_TITLE "Your functions, including the library code they call"

static size_t
shown(size_t count, size_t limit)
{
	return count < limit ? count : limit;
}

const struct report_weight_words *
report_words_of(const struct export_input *input, enum weight weight)
{
	static const struct report_weight_words wall_with_green = {
		.meaning = "by Wall: the time that tasks and threads spent in them, running or not",
		.noun = "of Wall (all tasks and threads together)",
	};

	return weight == WEIGHT_WALL && report_has_green(input) ? &wall_with_green :
								  &report_weight_words[weight];
}

/* Adds the margins of error that a share of 1%, of 10% and of 50% would have. */
static void
add_margins(const struct export_input *input, struct page *page)
{
	static const double shares[] = { 0.01, 0.10, 0.50 };
	const double ticks = margin_ticks(view_profile(input->view), &input->stats->division,
					  input->sort, view_total_ns(input->view, input->sort));

	for (size_t i = 0; ticks > 0 && i < ARRAY_SIZE(shares); i++)
		page_add(page, "%s%.1f%s at %.0f%%", i == 0 ? ". Margins of error (95%): ±" : ", ±",
			 100 * margin_of_share(shares[i], ticks), i == 0 ? " points" : "",
			 100 * shares[i]);
}

/*
 * Writes by which weight the table is ordered, and which time is 100% for each weight. For lock
 * holders, whose only weight is the time of waiters, writes that time.
 */
static void
write_unit(const struct export_input *input, struct page *page)
{
	const char *plural = report_key_words[view_key(input->view)].plural;

	if (view_is_blame(input->view)) {
		page_write(page, page->ops->paragraph,
			   "%s of lock holders and awaited processes, weighted by the time others "
			   "waited. 100%% is %s of all waiters together.",
			   plural, quantity_time(view_total_ns(input->view, WEIGHT_WALL)).text);
		return;
	}
	page_add(page, "%s %s. 100%% is ", plural, report_words_of(input, input->sort)->meaning);
	for (int w = 0; w < WEIGHT_COUNT; w++)
		page_add(page, "%s%s %s", w > 0 ? ", " : "",
			 quantity_time(view_total_ns(input->view, (enum weight)w)).text,
			 report_words_of(input, (enum weight)w)->noun);
	if (input->filtered)
		page_add(page, ", of the samples shown");
	add_margins(input, page);
	page_write(page, page->ops->paragraph, ".");
}

/* Returns `sort` for place 0, and for the places 1 and 2 the other two weights. */
static enum weight
weight_at(enum weight sort, int place)
{
	return place == 0 ? sort : (enum weight)(place <= (int)sort ? place - 1 : place);
}

/*
 * Adds the margin of error of a share. The context of the table is a double: the number of
 * independent samples (see margin.h).
 */
static void
add_margin(const struct report_cell *cell, struct strbuf *out)
{
	const int64_t flat = *(const int64_t *)report_cell_value(cell);
	const double whole = (double)cell->table->whole;
	const double share = whole > 0 ? (double)flat / whole : 0;
	const double ticks = *(const double *)cell->table->context;

	strbuf_add_format(out, "±%s", quantity_share(margin_of_share(share, ticks), 1).text);
}

static void
add_parallelism(const struct report_cell *cell, struct strbuf *out)
{
	const struct top_row *row = cell->row;

	report_add_parallelism(out, row->cum[WEIGHT_CPU], row->busy_ns);
}

#define FLAT(weight) (offsetof(struct top_row, flat) + (size_t)(weight) * sizeof(int64_t))
#define CUM(weight) (offsetof(struct top_row, cum) + (size_t)(weight) * sizeof(int64_t))

void
report_write_top(const struct export_input *input, const struct top_table *top,
		 const int64_t *total_ns, size_t limit, struct page *page)
{
	const enum weight sort = input->sort, second = weight_at(sort, 1),
			  third = weight_at(sort, 2);
	const struct report_key_words *key = &report_key_words[view_key(input->view)];
	/* Minimum widths of a page with the other two weights and the parallelism (`narrow`), and
	 * with the margin (`wide`). Tables of lock holders have one weight only, the time that
	 * others waited, and never have these columns. */
	const bool blame = view_is_blame(input->view);
	const size_t narrow = blame ? SIZE_MAX : NARROW, wide = blame ? SIZE_MAX : WIDE;
	const struct report_column column[] = {
		{ report_weight_words[sort].title, NULL, COLUMN_TIME, .at = FLAT(sort) },
		{ report_weight_words[sort].share, NULL, COLUMN_SHARE, .at = FLAT(sort) },
		{ "margin", NULL, COLUMN_TEXT, .at = FLAT(sort), .text = add_margin,
		  .from_width = wide },
		{ "cum%", NULL, COLUMN_SHARE, .at = CUM(sort) },
		{ report_weight_words[second].share, NULL, COLUMN_SHARE, .at = FLAT(second),
		  .whole = total_ns[second], .from_width = narrow },
		{ report_weight_words[third].share, NULL, COLUMN_SHARE, .at = FLAT(third),
		  .whole = total_ns[third], .from_width = narrow },
		{ "par", NULL, COLUMN_TEXT, .text = add_parallelism, .from_width = narrow },
		{ key->title, NULL, COLUMN_FUNCTION, .at = offsetof(struct top_row, function),
		  .left = true },
	};
	const double ticks = margin_ticks(view_profile(input->view), &input->stats->division, sort,
					  total_ns[sort]);

	report_table_write(&REPORT_TABLE(column, top->row, top->count, .limit = limit,
					 .one = key->one, .many = key->many,
					 .whole = total_ns[sort], .view = input->view,
					 .context = &ticks),
			   page);
}

static bool
has_scripts(const struct view *view)
{
	for (uint32_t i = 0; i < view_function_count(view); i++)
		if (view_function(view, i)->script)
			return true;
	return false;
}

void
report_write_functions(const struct export_input *input, struct page *page)
{
	int64_t total_ns[WEIGHT_COUNT];
	struct top_table top;

	for (int w = 0; w < WEIGHT_COUNT; w++)
		total_ns[w] = view_total_ns(input->view, (enum weight)w);
	write_unit(input, page);
	top_table_make_program(input->view, input->sort, &top);
	if (top.count > 0 && !view_key_is_of_sample(view_key(input->view))) {
		page->ops->heading(page, has_scripts(input->view) ? SCRIPT_TITLE : LIBRARY_TITLE);
		report_write_top(input, &top, total_ns, shown(PROGRAM_ROWS, input->limit), page);
		page->ops->heading(page, "All functions, each by itself");
	}
	top_table_release(&top);
	top_table_make(input->view, input->sort, &top);
	report_write_top(input, &top, total_ns, input->limit, page);
	top_table_release(&top);
}
