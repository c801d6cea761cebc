/* SPDX-License-Identifier: MIT */
/* report_waiting.c - what threads waited for, and who kept them waiting. */
#include <stdlib.h>
#include <string.h>

#include "wallsample/report/quantity.h"
#include "wallsample/report/report.h"
#include "report/time/waiting_bins_internal.h"
#include "wallsample/analysis/waiting.h"

/* Of each sort, where other things are what the report is about. */
#define GLANCE 3
/* Of each lock. */
#define HOLDERS_MOST 3
/* From this width on there is room for how it went over time. */
#define WIDE 80
/* Who waits less than this share of all time is no finding. */
#define LEAST_SHARE 0.001

/* Locks, and what is behind descriptors, are what one can do something about. */
static bool
is_at_a_glance(const struct waiting_row *row, int64_t total_ns, size_t *locks, size_t *others)
{
	if ((double)row->ns < LEAST_SHARE * (double)total_ns)
		return false;
	if (wait_kind_in_memory(row->kind))
		return row->kind != WAIT_FUTEX && (*locks)++ < GLANCE;
	/* what tasks wait for has a table of its own */
	return row->object[0] != '\0' && row->kind != WAIT_TASK && (*others)++ < GLANCE;
}

/*
 * What shares are of: the whole; of a report that is turned round, the time of those who waited
 * for what somebody can have.
 */
static int64_t
all_wall(const struct view *view, const struct waiting *waiting)
{
	int64_t sum = 0;

	if (!view_is_blame(view))
		return view_total_ns(view, WEIGHT_WALL);
	for (size_t i = 0; i < waiting->count; i++)
		sum += waiting->row[i].holders > 0 ? waiting->row[i].ns : 0;
	return sum;
}

/* Numbers of the rows that are shown; the caller frees them. */
static size_t *
choose(const struct export_input *input, const struct waiting *waiting, size_t *count)
{
	const int64_t total_ns = all_wall(input->view, waiting);
	const bool all = view_key(input->view) == VIEW_BY_LOCK;
	const bool blame = view_is_blame(input->view);
	size_t *chosen = xcalloc(waiting->count + 1, sizeof(*chosen));
	size_t locks = 0, others = 0;

	*count = 0;
	for (size_t i = 0; i < waiting->count; i++) {
		/* What nobody can have is no part of the whole. */
		if (blame && waiting->row[i].holders == 0)
			continue;
		if (all ? *count < input->limit :
			  is_at_a_glance(&waiting->row[i], total_ns, &locks, &others))
			chosen[(*count)++] = i;
	}
	return chosen;
}

/* "mutex table_lock (server)" */
static void
add_what(struct strbuf *sb, const struct waiting_row *row)
{
	struct strbuf what;

	strbuf_init(&what);
	wait_kind_add(row->kind, row->kind_text, row->object, &what);
	strbuf_add_foreign(sb, what.data);
	strbuf_release(&what);
	if (row->module[0] != '\0' && strchr(row->object, '+') == NULL) {
		strbuf_add_text(sb, " (");
		strbuf_add_foreign(sb, row->module);
		strbuf_add_text(sb, ")");
	}
}

static void
add_place_cell(const struct view *view, const struct waiting_stack *stack, struct columns *table)
{
	size_t at;

	if (stack->depth == 0) {
		columns_add(table, "");
		return;
	}
	at = waiting_place(view, stack->function, stack->depth);
	report_add_function_cell(table, view_function(view, stack->function[at]));
}

static void
write_waits(const struct export_input *input, const struct waiting *waiting, const size_t *chosen,
	    size_t count, struct page *page)
{
	static const struct column column[] = {
		{ "wall", true, 0 },      { "wall%", true, 0 },        { "at once", true, 0 },
		{ "most", true, 0 },      { "over time", false, 0 },   { "waited for", false, 40 },
		{ "mostly in", false, 0 },
	};
	/* The same without what there is no room or no recording for. */
	static const struct column few[] = {
		{ "wall", true, 0 },     { "wall%", true, 0 },       { "at once", true, 0 },
		{ "most", true, 0 },     { "waited for", false, 40 }, { "mostly in", false, 0 },
	};
	double *bins = page->width >= WIDE ? waiting_bins_make(input, waiting) : NULL;
	const int64_t total_ns = all_wall(input->view, waiting);
	const double span_ns = (double)profile_wall_ns(view_profile(input->view));
	struct columns table;
	struct strbuf sb;

	strbuf_init(&sb);
	if (bins != NULL)
		columns_init(&table, column, ARRAY_SIZE(column));
	else
		columns_init(&table, few, ARRAY_SIZE(few));
	for (size_t i = 0; i < count; i++) {
		const struct waiting_row *row = &waiting->row[chosen[i]];

		report_add_time_cell(&table, &sb, row->ns);
		report_add_share_cell(&table, &sb, row->ns, total_ns);
		strbuf_clear(&sb);
		strbuf_add_format(&sb, "%.2f", span_ns > 0 ? (double)row->ns / span_ns : 0);
		columns_add(&table, sb.data);
		strbuf_clear(&sb);
		quantity_add_count(&sb, row->most);
		columns_add(&table, sb.data);
		if (bins != NULL) {
			strbuf_clear(&sb);
			waiting_bins_add(&bins[chosen[i] * WAITING_BINS], &sb);
			columns_add(&table, sb.data);
		}
		strbuf_clear(&sb);
		add_what(&sb, row);
		columns_add(&table, sb.data);
		add_place_cell(input->view, row->waiter, &table);
	}
	page->ops->heading(page, view_key(input->view) == VIEW_BY_LOCK ?
					 "What threads waited for" :
					 "Locks, files and sockets that threads waited for most");
	page->ops->table(page, &table);
	columns_release(&table);
	strbuf_release(&sb);
	free(bins);
}

static void
add_holder(const struct export_input *input, const struct waiting_row *row,
	   const struct waiting_stack *holder, struct columns *table)
{
	const struct profile *profile = view_profile(input->view);
	const struct profile_thread *thread = profile_thread(profile, holder->thread);
	const bool there = thread->tid > 0 || thread->is_task;
	struct strbuf sb;

	strbuf_init(&sb);
	report_add_time_cell(table, &sb, holder->ns);
	strbuf_clear(&sb);
	add_what(&sb, row);
	columns_add(table, sb.data);
	strbuf_clear(&sb);
	if (holder->threads > 1) {
		quantity_add_things(&sb, holder->threads, "thread", "threads");
	} else if (there) {
		struct strbuf name;

		strbuf_init(&name);
		view_add_thread(input->view, holder->thread, &name);
		strbuf_add_foreign(&sb, name.data);
		strbuf_release(&name);
	}
	columns_add(table, sb.data);
	strbuf_clear(&sb);
	if (there)
		strbuf_add_text(&sb, run_state_text(holder->state));
	columns_add(table, sb.data);
	add_place_cell(input->view, holder, table);
	strbuf_release(&sb);
}

static void
write_holders(const struct export_input *input, const struct waiting *waiting,
	      const size_t *chosen, size_t count, struct page *page)
{
	static const struct column column[] = {
		{ "wall", true, 0 },    { "waited for", false, 30 }, { "had by", false, 20 },
		{ "state", false, 0 }, { "in", false, 0 },
	};
	struct columns table;
	bool any = false;

	columns_init(&table, column, ARRAY_SIZE(column));
	for (size_t i = 0; i < count; i++) {
		const struct waiting_row *row = &waiting->row[chosen[i]];

		for (size_t h = 0; h < row->holders && h < HOLDERS_MOST; h++) {
			add_holder(input, row, &row->holder[h], &table);
			any = true;
		}
	}
	if (any) {
		page->ops->heading(page, "Who had it meanwhile, by the time that others waited");
		page->ops->table(page, &table);
	}
	columns_release(&table);
}

void
report_write_waiting(const struct export_input *input, struct page *page)
{
	struct waiting waiting;
	size_t *chosen, count;

	waiting_make(input->view, &waiting);
	chosen = choose(input, &waiting, &count);
	if (count > 0) {
		write_waits(input, &waiting, chosen, count, page);
		write_holders(input, &waiting, chosen, count, page);
	}
	free(chosen);
	waiting_release(&waiting);
}
