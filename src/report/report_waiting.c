/* SPDX-License-Identifier: MIT */
/* report_waiting.c - reports the objects that threads waited for, and the lock holders. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/report/quantity.h"
#include "report/report_internal.h"
#include "wallsample/analysis/code_places.h"

/*
 * A report that is not by lock (VIEW_BY_LOCK) shows at most this number of objects in memory, such
 * as locks and condition variables, and at most this number of other objects.
 */
#define GLANCE 3
/* Maximum number of stacks of holders that are shown for a lock. */
#define HOLDERS_MOST 3
/* Maximum numbers of stacks of waiters, and of holders, of an awaited object in JSON. */
#define JSON_STACKS_MOST 20
/* Minimum width in cells of a page with the columns of waits over time and of their mean number. */
#define WIDE 80
/* Names of objects get half of the width beyond this. */
#define WIDER 100
/* A report that is not by lock leaves out objects with waits below this share of the time. */
#define LEAST_SHARE 0.001

/*
 * True if a report that is not by lock shows the row. The time of its waits must reach LEAST_SHARE
 * of `total_ns`. The object must be one of the first GLANCE objects in memory
 * (wait_kind_in_memory()), not counting futexes of unknown use, or one of the first GLANCE other
 * objects with a name. *locks and *others are the numbers of rows of these two kinds that were
 * shown before; the function updates them.
 */
static bool
is_at_a_glance(const struct waiting_row *row, int64_t total_ns, size_t *locks, size_t *others)
{
	if ((double)row->ns < LEAST_SHARE * (double)total_ns)
		return false;
	if (wait_kind_in_memory(row->kind))
		return row->kind != WAIT_FUTEX && (*locks)++ < GLANCE;
	/* Waits of green tasks are in the table of report_write_green(). */
	return row->object[0] != '\0' && row->kind != WAIT_GREEN && (*others)++ < GLANCE;
}

/*
 * Returns the time that is 100%: all wall time, or in a report of lock holders the time of waits
 * for objects that have holders.
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

/* A row of the tables: an awaited object, and the stack of a waiter or a lock holder. */
struct line {
	const struct waiting_row *row; /* the element of waiting.row */
	struct waiting_row wait;       /* equal to *row */
	const struct waiting_stack *stack;
	/* time of all waiters; for the stack of a lock holder, the time that others waited while
	 * the holder had this stack */
	int64_t ns;
	/* the view's function that waits or holds the lock; UINT32_MAX: no stack */
	uint32_t function;
	/* WAITING_BINS values from waiting_bins_make(); NULL: the waits over time are not known */
	const double *bins;
};

/* `own` NULL: the frames of the view are no functions of code, or are not needed. */
static struct line
make_line(const struct view *view, const struct own *own, const struct waiting_row *wait,
	  const struct waiting_stack *stack)
{
	const size_t depth = stack->depth;
	const size_t place = depth == 0  ? 0 :
			     own != NULL ? own_place(own, stack->function, depth) :
					   waiting_place(view, stack->function, depth);

	return (struct line){
		.row = wait,
		.wait = *wait,
		.stack = stack,
		.ns = stack->holds ? stack->ns : wait->ns,
		.function = depth > 0 ? stack->function[place] : UINT32_MAX,
	};
}

/*
 * Returns the order in which rows may be shown, an array of waiting->count indices that the caller
 * frees. Rows whose waiters are mostly idle threads (code_places.h) come last; with NULL as `own`
 * these are not known.
 */
static size_t *
order_rows(const struct view *view, const struct own *own, const struct waiting *waiting)
{
	size_t *order = xcalloc(waiting->count + 1, sizeof(*order)), filled = 0;
	int64_t *idle_ns = xcalloc(waiting->count + 1, sizeof(*idle_ns));
	struct places places = { .idle_count = 0 };

	if (own != NULL)
		places_make(view, NULL, own, waiting, &places);
	for (size_t i = 0; i < places.idle_count; i++)
		if (places.idle[i].wait.row < waiting->count)
			idle_ns[places.idle[i].wait.row] += places.idle[i].wall_ns;
	for (int idle = 0; idle < 2; idle++)
		for (size_t i = 0; i < waiting->count; i++)
			if ((idle_ns[i] > waiting->row[i].ns / 2) == (idle == 1))
				order[filled++] = i;
	places_release(&places);
	free(idle_ns);
	return order;
}

/* Returns the rows to show, and stores their number in *count; the caller frees the array. */
static struct line *
choose(const struct export_input *input, const struct own *own, const struct waiting *waiting,
       size_t *count)
{
	size_t *order = order_rows(input->view, own, waiting);
	const int64_t total_ns = all_wall(input->view, waiting);
	const bool all = view_key(input->view) == VIEW_BY_LOCK;
	const bool blame = view_is_blame(input->view);
	struct line *chosen = xcalloc(waiting->count + 1, sizeof(*chosen));
	size_t locks = 0, others = 0;

	*count = 0;
	for (size_t i = 0; i < waiting->count; i++) {
		const struct waiting_row *row = &waiting->row[order[i]];

		/* Reports of lock holders leave out objects without holders: see all_wall(). */
		if (blame && row->holders == 0)
			continue;
		if (all ? *count < input->limit : is_at_a_glance(row, total_ns, &locks, &others))
			chosen[(*count)++] = make_line(input->view, own, row, row->waiter);
	}
	free(order);
	return chosen;
}

/* Adds "mutex table_lock (server)". */
static void
add_what(const struct report_cell *cell, struct strbuf *out)
{
	const struct waiting_row *wait = ((const struct line *)cell->row)->row;

	wait_kind_add(wait->kind, wait->kind_text, wait->object, out);
	if (wait->module[0] != '\0' && strchr(wait->object, '+') == NULL)
		strbuf_add_format(out, " (%s)", wait->module);
	if (wait_kind_is_socket(wait->kind) && wait->objects > 1)
		strbuf_add_format(out, ", %s",
				  quantity_things(wait->objects, "socket", "sockets").text);
}

/* --- waits over time -------------------------------------------------------------------------- */

void
waiting_bins_add(const double bin[WAITING_BINS], struct strbuf *out)
{
	static const char *const bars[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	double most = 0;

	for (size_t i = 0; i < WAITING_BINS; i++)
		most = bin[i] > most ? bin[i] : most;
	for (size_t i = 0; i < WAITING_BINS; i++) {
		const double share = most > 0 ? bin[i] / most : 0;

		/* Even the smallest time above 0 gets a visible bar. */
		strbuf_add_text(out, bars[share > 0 ? 1 + (size_t)(share * 7 + 0.5) : 0]);
	}
}

/* --- awaited objects ----------------------------------------------------------------------- */

/* Adds the mean number of threads that waited for the object of the row, but no more than their
 * largest number: the mean is an estimate, and may exceed it by its error. */
static void
add_mean(const struct report_cell *cell, struct strbuf *out)
{
	const double span_ns = (double)profile_wall_ns(view_profile(cell->table->view));
	const struct waiting_row *wait = &((const struct line *)cell->row)->wait;

	strbuf_add_format(out, "%.2f",
			  span_ns > 0 ? fmin((double)wait->ns / span_ns, wait->most) : 0);
}

static void
add_bins(const struct report_cell *cell, struct strbuf *out)
{
	waiting_bins_add(((const struct line *)cell->row)->bins, out);
}

static json_t *
stack_object(struct json_stream *stream, const struct view *view, const struct waiting_stack *stack)
{
	json_t *object = json_object(), *functions = json_array();

	if (stack->holds && stack->threads == 1)
		json_add_thread(stream, view, stack->thread, object);
	else if (stack->holds)
		json_object_update_new(object, json_pack("{s:n, s:n}", "tid", "name"));
	if (stack->holds)
		json_object_update_new(object, json_pack("{s:I, s:s}", "threads",
							 (json_int_t)stack->threads, "state",
							 run_state_text(stack->state)));
	for (size_t f = 0; f < stack->depth; f++) {
		const struct view_function *function = view_function(view, stack->function[f]);

		json_array_append_new(functions, json_stream_text(stream, function->name));
	}
	json_object_set_new(object, "wall_ns", json_integer(stack->ns));
	json_object_set_new(object, "functions", functions);
	return object;
}

static json_t *
stack_list(const struct report_cell *cell, const struct waiting_stack *stack, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count && i < JSON_STACKS_MOST; i++)
		json_array_append_new(list,
				      stack_object(cell->stream, cell->table->view, &stack[i]));
	return list;
}

static void
add_stacks(const struct report_cell *cell, json_t *object)
{
	const struct waiting_row *wait = ((const struct line *)cell->row)->row;

	json_object_set_new(object, "waiters", stack_list(cell, wait->waiter, wait->waiters));
	json_object_set_new(object, "holders", stack_list(cell, wait->holder, wait->holders));
}

#define AT(member) offsetof(struct line, member)

/* Writes the table of waits to `stream`, or to the page if `stream` is NULL. */
static void
write_lines(const struct view *view, const struct line *line, size_t count, int64_t whole_ns,
	    struct page *page, struct json_stream *stream)
{
	const bool over_time = count > 0 && line[0].bins != NULL;
	const size_t wide = page != NULL && page->width > WIDER ? (page->width - WIDER) / 2 : 0;
	const struct report_column column[] = {
		{ NULL, "kind", COLUMN_TEXT, .at = AT(wait.kind_text) },
		{ NULL, "object", COLUMN_TEXT, .at = AT(wait.object) },
		{ NULL, "module", COLUMN_TEXT, .at = AT(wait.module) },
		{ NULL, "samples", COLUMN_COUNT, .at = AT(wait.samples) },
		{ "wall", "wall_ns", COLUMN_TIME, .at = AT(ns) },
		{ "wall%", NULL, COLUMN_SHARE, .at = AT(ns) },
		{ "at once", NULL, COLUMN_TEXT, .text = add_mean, .from_width = WIDE },
		{ NULL, "threads", COLUMN_COUNT32, .at = AT(wait.threads) },
		{ NULL, "objects", COLUMN_COUNT32, .at = AT(wait.objects) },
		{ "most", "most_at_once", COLUMN_COUNT32, .at = AT(wait.most) },
		{ over_time ? "over time" : NULL, NULL, COLUMN_TEXT, .text = add_bins,
		  .left = true },
		{ "waited for", NULL, COLUMN_TEXT, .text = add_what, .left = true,
		  .most = 40 + wide },
		{ "mostly in", NULL, COLUMN_FUNCTION, .at = AT(function), .json = add_stacks,
		  .left = true },
	};
	const struct report_table table = REPORT_TABLE(column, line, count, .view = view,
						       .whole = whole_ns);

	if (stream != NULL)
		report_table_write_json(&table, stream, "waits");
	else
		report_table_write(&table, page);
}

/* --- lock holders --------------------------------------------------------------------------- */

static bool
has_thread(const struct view *view, const struct waiting_stack *holder)
{
	const struct profile_thread *thread = profile_thread(view_profile(view), holder->thread);

	return thread->tid > 0 || thread->is_green;
}

static void
add_holder(const struct report_cell *cell, struct strbuf *out)
{
	const struct waiting_stack *holder = ((const struct line *)cell->row)->stack;

	if (holder->threads > 1)
		strbuf_add_text(out, quantity_things(holder->threads, "thread", "threads").text);
	else if (has_thread(cell->table->view, holder))
		view_add_thread(cell->table->view, holder->thread, out);
}

static void
add_holder_state(const struct report_cell *cell, struct strbuf *out)
{
	const struct waiting_stack *holder = ((const struct line *)cell->row)->stack;

	if (has_thread(cell->table->view, holder))
		strbuf_add_text(out, run_state_text(holder->state));
}

static const struct report_column holder_columns[] = {
	{ "wall", NULL, COLUMN_TIME, .at = AT(ns) },
	{ "waited for", NULL, COLUMN_TEXT, .text = add_what, .left = true, .most = 30 },
	{ "holder", NULL, COLUMN_TEXT, .text = add_holder, .left = true, .most = 20 },
	{ "state", NULL, COLUMN_TEXT, .text = add_holder_state, .left = true, .from_width = WIDE },
	{ "in", NULL, COLUMN_FUNCTION, .at = AT(function), .left = true },
};

/* Adds the processes between the waiter and the last process of a chain: "middle (812)". */
static void
add_through(const struct report_cell *cell, struct strbuf *out)
{
	const struct waiting_stack *stack = ((const struct line *)cell->row)->stack;

	waiting_add_through(cell->table->view, stack, out);
}

/* Columns of what awaited processes did; `through`: a chain was followed. */
#define PEER_COLUMNS(through)                                                                      \
	{ "wall", NULL, COLUMN_TIME, .at = AT(ns) },                                               \
		{ "waited for", NULL, COLUMN_TEXT, .text = add_what, .left = true, .most = 30 },   \
		{ through, NULL, COLUMN_TEXT, .text = add_through, .left = true, .most = 20 },     \
		{ "thread", NULL, COLUMN_TEXT, .text = add_holder, .left = true, .most = 20 },     \
		{ "state",           NULL, COLUMN_TEXT, .text = add_holder_state, .left = true,    \
		  .from_width = WIDE },                                                            \
		{ "in", NULL, COLUMN_FUNCTION, .at = AT(function), .left = true },

static const struct report_column peer_columns[] = { PEER_COLUMNS(NULL) };
static const struct report_column chain_columns[] = { PEER_COLUMNS("through") };

/* Returns the lines of lock holders, or with `peers` of awaited processes, and stores their number
 * in *holders; the caller frees the array. */
static struct line *
holder_lines(const struct view *view, const struct own *own, const struct line *line, size_t count,
	     bool peers, size_t *holders)
{
	struct line *holder = xcalloc(count * HOLDERS_MOST + 1, sizeof(*holder));

	*holders = 0;
	for (size_t i = 0; i < count; i++) {
		const struct waiting_row *row = line[i].row;

		for (size_t h = 0; wait_kind_is_blamed(row->kind) != peers && h < row->holders &&
				   h < HOLDERS_MOST;
		     h++)
			holder[(*holders)++] = make_line(view, own, row, &row->holder[h]);
	}
	return holder;
}

static void
write_holders(const struct view *view, const struct own *own, const struct line *line, size_t count,
	      struct page *page)
{
	struct strbuf through = STRBUF_INIT;
	size_t holders;
	struct line *holder = holder_lines(view, own, line, count, false, &holders);

	if (holders > 0) {
		page->ops->heading(page, "Lock holders, weighted by the time others waited");
		report_table_write(&REPORT_TABLE(holder_columns, holder, holders, .view = view),
				   page);
	}
	free(holder);
	holder = holder_lines(view, own, line, count, true, &holders);
	if (holders > 0)
		page->ops->heading(page, "What the other end did meanwhile");
	for (size_t i = 0; i < holders && through.length == 0; i++)
		waiting_add_through(view, holder[i].stack, &through);
	if (holders > 0 && through.length > 0)
		report_table_write(&REPORT_TABLE(chain_columns, holder, holders, .view = view),
				   page);
	else if (holders > 0)
		report_table_write(&REPORT_TABLE(peer_columns, holder, holders, .view = view),
				   page);
	strbuf_release(&through);
	free(holder);
}

/* --- the whole ------------------------------------------------------------------------------ */

void
report_write_waiting(const struct export_input *input, struct page *page)
{
	const bool code = view_key_is_of_function(view_key(input->view));
	struct own of_view = { .rank = NULL }, *own = code ? &of_view : NULL;
	struct waiting waiting;
	struct line *line;
	double *bins;
	size_t count;

	if (code)
		own_make(input->view, input->modules, &of_view);
	waiting_make(input->view, &waiting);
	bins = waiting_bins_make(input, &waiting);
	line = choose(input, own, &waiting, &count);
	for (size_t i = 0; page->width >= WIDE && bins != NULL && i < count; i++)
		line[i].bins = &bins[(size_t)(line[i].row - waiting.row) * WAITING_BINS];
	if (count > 0) {
		page->ops->heading(page,
				   view_key(input->view) == VIEW_BY_LOCK ?
					   "What threads waited for" :
					   "Locks, files and sockets that threads waited for most");
		write_lines(input->view, line, count, all_wall(input->view, &waiting), page, NULL);
		write_holders(input->view, own, line, count, page);
	}
	free(bins);
	free(line);
	waiting_release(&waiting);
	own_release(&of_view);
}

void
report_json_waiting(const struct export_input *input, struct json_stream *stream)
{
	const struct view *view = input->view;
	struct waiting waiting;
	struct line *line;

	waiting_make(view, &waiting);
	free(waiting_bins_make(input, &waiting));
	line = xcalloc(waiting.count + 1, sizeof(*line));
	for (size_t i = 0; i < waiting.count; i++)
		line[i] = make_line(view, NULL, &waiting.row[i], waiting.row[i].waiter);
	write_lines(view, line, waiting.count, 0, NULL, stream);
	free(line);
	waiting_release(&waiting);
}
