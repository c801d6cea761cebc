/* SPDX-License-Identifier: MIT */
/*
 * report.c - writes the report: header, functions, states, threads.
 */

#include <inttypes.h>
#include <string.h>

#include "wallsample/report/quantity.h"
#include "wallsample/analysis/margin.h"
#include "wallsample/thread/state.h"
#include "report/report_internal.h"

#define THREAD_TABLES_MOST 10
/* Narrower pages show one weight and no parallelism, to leave room for names. */
#define NARROW 70
/* Minimum width of a page with a margin of error beside each share. */
#define WIDE 120
/* Rows of the table of an interpreted program's own functions, the first table. */
#define PROGRAM_ROWS 10
#define SCRIPT_TITLE "The program's own, each with the native code that it called"
#define LIBRARY_TITLE "The program's own, each with the library's code that it called"

/* --- header -------------------------------------------------------------------------- */

/* "the process exited with status 3", if that ended sampling. */
static void
add_end(struct strbuf *sb, const struct export_input *input)
{
	const struct run_stats *stats = input->stats;

	strbuf_add_text(sb, "The process exited while it was sampled");
	if (stats->child_exited && WIFEXITED(stats->child_status))
		strbuf_add_format(sb, ", with status %d", WEXITSTATUS(stats->child_status));
	else if (stats->child_exited && WIFSIGNALED(stats->child_status))
		strbuf_add_format(sb, ", killed by signal %d (%s)", WTERMSIG(stats->child_status),
				  strsignal(WTERMSIG(stats->child_status)));
	strbuf_add_text(sb, ".");
}

static void
write_command(const struct export_input *input, struct page *page)
{
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_escaped(&sb, input->process->cmdline);
	page->ops->line(page, "Command", sb.data);
	strbuf_release(&sb);
}

static void
write_header(const struct export_input *input, struct page *page)
{
	const struct run_stats *stats = input->stats;
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_format(&sb, "%jd (", (intmax_t)input->process->pid);
	strbuf_add_escaped(&sb, input->process->comm);
	strbuf_add_text(&sb, ")");
	page->ops->field(page, "Process", sb.data);
	write_command(input, page);
	if (stats->runtimes[0] != '\0') {
		strbuf_clear(&sb);
		strbuf_add_escaped(&sb, stats->runtimes);
		page->ops->field(page, "Runtime", sb.data);
	}

	strbuf_clear(&sb);
	quantity_add_count(&sb, stats->threads_seen);
	strbuf_add_text(&sb, " seen, at most ");
	quantity_add_count(&sb, stats->threads_most);
	strbuf_add_text(&sb, " at once");
	page->ops->field(page, "Threads", sb.data);
	if (stats->tasks_seen > 0 && report_has_tasks(input)) {
		strbuf_clear(&sb);
		quantity_add_count(&sb, stats->tasks_seen);
		strbuf_add_text(&sb, " seen, at most ");
		quantity_add_count(&sb, stats->tasks_most);
		strbuf_add_text(&sb, " at once without a thread");
		page->ops->field(page, "Tasks", sb.data);
	}

	strbuf_clear(&sb);
	quantity_add_time(&sb, (int64_t)stats->elapsed_ns);
	strbuf_add_text(&sb, " at ");
	quantity_add_rate(&sb, stats->rate_wanted);
	page->ops->field(page, "Sampled", sb.data);

	if (input->note != NULL) {
		strbuf_clear(&sb);
		strbuf_add_escaped(&sb, input->note);
		page->ops->field(page, "Recorded", sb.data);
	}
	if (input->part != NULL)
		page->ops->field(page, "Only", input->part);
	if (input->filtered) {
		strbuf_clear(&sb);
		quantity_add_share(&sb, (double)view_total_ns(input->view, WEIGHT_WALL),
				   (double)view_unfiltered_ns(input->view));
		strbuf_add_text(&sb, " of what was sampled, as selected by options");
		page->ops->field(page, "Shown", sb.data);
	}
	strbuf_clear(&sb);
	if (input->snapshot)
		strbuf_add_text(&sb, "Sampling continues: this is an intermediate report.");
	else if (input->end == RUN_END_EXITED)
		add_end(&sb, input);
	if (sb.length > 0)
		page->ops->field(page, "Note", sb.data);
	strbuf_release(&sb);
}

/* --- tables ------------------------------------------------------------------------------ */

static size_t
shown(size_t count, size_t limit)
{
	return count < limit ? count : limit;
}

/* --- functions ---------------------------------------------------------------------------- */

/* With tasks, Wall includes their time. */
static const char *
meaning_of(const struct export_input *input, enum weight weight)
{
	return weight == WEIGHT_WALL && report_has_tasks(input) ?
		       "by Wall: the time that tasks and threads spent in them, running or not" :
		       report_weight_words[weight].meaning;
}

static const char *
noun_of(const struct export_input *input, enum weight weight)
{
	return weight == WEIGHT_WALL && report_has_tasks(input) ?
		       "of Wall (all tasks and threads together)" :
		       report_weight_words[weight].noun;
}

/* Writes the meaning of 100 %, with the numbers of this report. */
static void
write_unit(const struct export_input *input, struct page *page)
{
	struct strbuf sb;

	strbuf_init(&sb);
	if (view_is_blame(input->view)) {
		strbuf_add_format(&sb,
				  "%s of lock holders, weighted by the time others waited. "
				  "100%% is ",
				  report_key_words[view_key(input->view)].plural);
		quantity_add_time(&sb, view_total_ns(input->view, WEIGHT_WALL));
		strbuf_add_text(&sb, " of all waiters together.");
		page->ops->paragraph(page, sb.data);
		strbuf_release(&sb);
		return;
	}
	strbuf_add_format(&sb, "%s %s. 100%% is ", report_key_words[view_key(input->view)].plural,
			  meaning_of(input, input->sort));
	for (int w = 0; w < WEIGHT_COUNT; w++) {
		quantity_add_time(&sb, view_total_ns(input->view, (enum weight)w));
		strbuf_add_format(&sb, " %s%s", noun_of(input, (enum weight)w),
				  w + 1 < WEIGHT_COUNT ? ", " : "");
	}
	strbuf_add_text(&sb, input->filtered ? ", of the samples shown." : ".");
	report_add_margins(&sb, input);
	page->ops->paragraph(page, sb.data);
	strbuf_release(&sb);
}

/* The weight that the table is sorted by, then the others. */
static enum weight
weight_at(enum weight sort, int place)
{
	return place == 0 ? sort : (enum weight)(place <= (int)sort ? place - 1 : place);
}

/* The data from which the margins of a table are computed. */
struct top_context {
	enum weight sort;
	int64_t total_ns;
	double ticks; /* number of independent samples, see margin.h */
};

static void
add_margin(const struct report_table *table, const void *row, struct strbuf *out)
{
	const struct top_context *context = table->context;
	const double flat = (double)((const struct top_row *)row)->flat[context->sort];
	const double share = context->total_ns > 0 ? flat / (double)context->total_ns : 0;

	strbuf_add_text(out, "±");
	quantity_add_share(out, margin_of_share(share, context->ticks), 1);
}

static void
add_parallelism(const struct report_table *table, const void *row, struct strbuf *out)
{
	(void)table;
	report_add_parallelism(out, ((const struct top_row *)row)->cum[WEIGHT_OVERHEAD],
			       ((const struct top_row *)row)->busy_ns);
}

#define FLAT(weight) (offsetof(struct top_row, flat) + (size_t)(weight) * sizeof(int64_t))
#define CUM(weight) (offsetof(struct top_row, cum) + (size_t)(weight) * sizeof(int64_t))

/* Writes the first `limit` rows; shares are relative to `total_ns`. */
static void
write_top(const struct export_input *input, const struct top_table *top, const int64_t *total_ns,
	  size_t limit, struct page *page)
{
	const enum weight sort = input->sort, second = weight_at(sort, 1),
			  third = weight_at(sort, 2);
	const struct report_key_words *key = &report_key_words[view_key(input->view)];
	/* Columns by width; lock holders have one weight. */
	const bool blame = view_is_blame(input->view);
	const size_t narrow = blame ? SIZE_MAX : NARROW, wide = blame ? SIZE_MAX : WIDE;
	const struct report_column column[] = {
		{ report_weight_words[sort].title, NULL, COLUMN_TIME, .at = FLAT(sort) },
		{ weight_share_title(sort), NULL, COLUMN_SHARE, .at = FLAT(sort) },
		{ "margin", NULL, COLUMN_TEXT, .text = add_margin, .from_width = wide },
		{ "cum%", NULL, COLUMN_SHARE, .at = CUM(sort) },
		{ weight_share_title(second), NULL, COLUMN_SHARE, .at = FLAT(second),
		  .whole = total_ns[second], .from_width = narrow },
		{ weight_share_title(third), NULL, COLUMN_SHARE, .at = FLAT(third),
		  .whole = total_ns[third], .from_width = narrow },
		{ "par", NULL, COLUMN_TEXT, .text = add_parallelism, .from_width = narrow },
		{ key->title, NULL, COLUMN_FUNCTION, .at = offsetof(struct top_row, function),
		  .left = true },
	};
	const struct top_context context = {
		.sort = sort,
		.total_ns = total_ns[sort],
		.ticks = margin_ticks(view_profile(input->view), sort, total_ns[sort]),
	};

	report_table_write(&REPORT_TABLE(column, top->row, top->count, .limit = limit,
					 .one = key->one, .many = key->many,
					 .whole = total_ns[sort], .view = input->view,
					 .context = &context),
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

static void
write_functions(const struct export_input *input, struct page *page)
{
	int64_t total_ns[WEIGHT_COUNT];
	struct top_table top;

	for (int w = 0; w < WEIGHT_COUNT; w++)
		total_ns[w] = view_total_ns(input->view, (enum weight)w);
	write_unit(input, page);
	top_table_make_program(input->view, input->sort, &top);
	if (top.count > 0 && !view_key_is_of_sample(view_key(input->view))) {
		page->ops->heading(page, has_scripts(input->view) ? SCRIPT_TITLE : LIBRARY_TITLE);
		write_top(input, &top, total_ns, shown(PROGRAM_ROWS, input->limit), page);
		page->ops->heading(page, "All, each by itself");
	}
	top_table_release(&top);
	top_table_make(input->view, input->sort, &top);
	write_top(input, &top, total_ns, input->limit, page);
	top_table_release(&top);
}

static void
write_thread_unit(const struct export_input *input, struct page *page)
{
	const bool tasks = report_has_tasks(input);
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_format(&sb, "%s of each %s %s. 100%% is %s%s.",
			  report_key_words[view_key(input->view)].plural,
			  tasks ? "thread and of each task, or all that began with one function," :
				  "thread",
			  meaning_of(input, input->sort),
			  tasks ? "their own time" : "the thread's own time",
			  input->filtered ? " in the samples shown" : "");
	page->ops->paragraph(page, sb.data);
	strbuf_release(&sb);
}

/* "Thread 4250 (pool): 29.03s, 27.63% of it running; margin of error ±1.8% at 50%" */
static void
write_thread_title(const struct export_input *input, const struct thread_row *row,
		   struct page *page)
{
	const struct profile *profile = view_profile(input->view);
	const struct profile_thread *thread = profile_thread(profile, row->thread);
	struct strbuf sb;

	strbuf_init(&sb);
	if (!thread->is_task)
		strbuf_add_format(&sb, "Thread %jd (", (intmax_t)thread->tid);
	report_add_unit(&sb, input, row);
	strbuf_add_text(&sb, thread->is_task ? ": " : "): ");
	quantity_add_time(&sb, row->ns[WEIGHT_WALL]);
	strbuf_add_text(&sb, ", ");
	quantity_add_share(&sb, (double)row->runnable_ns, (double)row->ns[WEIGHT_WALL]);
	strbuf_add_text(&sb, " of it running");
	report_add_margin_of_half(&sb, input, row->ns[input->sort]);
	page->ops->heading(page, sb.data);
	strbuf_release(&sb);
}

/* Writes a table for each thread, ordered by running time. */
static void
write_functions_by_thread(const struct export_input *input, struct page *page)
{
	const bool tasks = report_has_tasks(input);
	struct thread_table threads;

	thread_table_make_units(input->view, &threads);
	write_thread_unit(input, page);
	for (size_t i = 0; i < shown(threads.count, THREAD_TABLES_MOST); i++) {
		const struct thread_row *row = &threads.row[i];
		struct top_table top;

		top_table_make_thread(input->view, input->sort, row->thread, &top);
		write_thread_title(input, row, page);
		write_top(input, &top, row->ns, input->thread_limit, page);
		top_table_release(&top);
	}
	report_table_write_rest(page, page->ops->lead, threads.count, THREAD_TABLES_MOST,
				tasks ? "more" : "more thread", tasks ? "more" : "more threads");
	thread_table_release(&threads);
}

/* --- states --------------------------------------------------------------------------------- */

static void
add_state_word(const struct report_table *table, const void *row, struct json_stream *stream,
	       json_t *object)
{
	const struct state_row *state = row;

	(void)table;
	(void)stream;
	json_add_state(object, state->state, state->syscall);
}

static void
add_state(const struct report_table *table, const void *row, struct strbuf *out)
{
	(void)table;
	run_state_add(out, ((const struct state_row *)row)->state,
		      ((const struct state_row *)row)->syscall);
}

#define AT(member) offsetof(struct state_row, member)

static const struct report_column state_columns[] = {
	{ .unit = COLUMN_JSON, .json = add_state_word },
	{ NULL, "samples", COLUMN_COUNT, .at = AT(samples) },
	{ "wall", "wall_ns", COLUMN_TIME, .at = AT(ns[WEIGHT_WALL]) },
	{ "wall%", NULL, COLUMN_SHARE, .at = AT(ns[WEIGHT_WALL]) },
	{ NULL, "overhead_ns", COLUMN_TIME, .at = AT(ns[WEIGHT_OVERHEAD]) },
	{ NULL, "latency_ns", COLUMN_TIME, .at = AT(ns[WEIGHT_LATENCY]) },
	{ "state", NULL, COLUMN_TEXT, .text = add_state, .left = true },
};

static struct report_table
describe_states(const struct view *view, const struct state_table *states, size_t limit)
{
	return REPORT_TABLE(state_columns, states->row, states->count, .limit = limit,
			    .one = "more state", .many = "more states",
			    .whole = view_total_ns(view, WEIGHT_WALL));
}

static void
write_states(const struct export_input *input, struct page *page)
{
	struct state_table states;
	struct report_table table;

	state_table_make(input->view, &states);
	table = describe_states(input->view, &states, input->limit);
	page->ops->heading(page, report_has_tasks(input) ? "What tasks and threads were doing" :
							   "What the threads were doing");
	report_table_write(&table, page);
	state_table_release(&states);
}

void
report_json_states(const struct view *view, struct json_stream *stream)
{
	struct state_table states;
	struct report_table table;

	state_table_make(view, &states);
	table = describe_states(view, &states, states.count);
	report_table_write_json(&table, stream, "states");
	state_table_release(&states);
}

/* --- the whole -------------------------------------------------------------------------------- */

void
report_write(const struct export_input *input, struct page *page)
{
	if (page->in_words) {
		report_write_summary(input, page);
		page->ops->heading(page, "What was sampled");
	}
	write_header(input, page);
	report_write_deadlocks(input->view, page);
	page->ops->section(page, report_key_words[view_key(input->view)].plural);
	if (view_row_count(input->view) > 0) {
		if (input->by_thread)
			write_functions_by_thread(input, page);
		else
			write_functions(input, page);
		if (input->focus != NULL)
			report_write_focus(input, page);
		if (input->tree > 0)
			report_write_tree(input, page);
		if (!view_is_blame(input->view)) {
			report_write_parallelism(input, page);
			write_states(input, page);
			report_write_tasks(input, page);
		}
		report_write_waiting(input, page);
		if (!view_is_blame(input->view)) {
			report_write_gil(input, page);
			report_write_threads(input, page);
		}
	} else {
		page->ops->paragraph(page, view_unfiltered_ns(input->view) > 0 ?
						   "No sample was selected." :
						   "There are no samples.");
	}
	report_write_cost(input, page);
}
