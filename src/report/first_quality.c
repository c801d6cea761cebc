/* SPDX-License-Identifier: MIT */
/* first_quality.c - writes which threads a first screen leaves out, and how accurate its numbers
 * are. */
#include <math.h>

#include "report/first_internal.h"
#include "wallsample/analysis/process_choice.h"
#include "wallsample/analysis/margin.h"
#include "wallsample/base/base.h"
#include "wallsample/report/quantity.h"

/* Groups of idle threads that are described; the others are counted. */
#define IDLE_GROUPS 2
/* The report says that its CPU time agrees with the kernel's if the two differ by less than this
 * part, and a scheduler tick (10 ms at most) for each thread. */
#define CPU_AGREES 0.02
#define SCHEDULER_TICK_NS (10.0 * NS_PER_MS)
/* A doubt is reported if it affects more than this part of the time or of the samples. */
#define DOUBT_LEAST 0.02

/* --- what is left out -------------------------------------------------------------------- */

static void
add_idle_groups(const struct first *first, struct strbuf *out)
{
	const struct profile *profile = view_profile(first->view);
	const struct places *places = &first->places;

	for (size_t i = 0; i < places->idle_count && i < IDLE_GROUPS; i++) {
		const struct idle_row *row = &places->idle[i];

		strbuf_add_text(out, i > 0 ? "; " : "");
		if (row->threads > 1)
			strbuf_add_format(out, "%s ", quantity_count(row->threads).text);
		if (row->threads > 1 && profile_thread(profile, row->thread)->is_green)
			view_add_unit(first->view, view_unit(first->view, row->thread), out);
		else
			view_add_name(first->view, row->thread, out);
		strbuf_add_text(out, ", ");
		first_add_wait(first, &row->wait, out);
	}
	if (places->idle_count > IDLE_GROUPS)
		strbuf_add_text(out, "; …");
}

/* Returns the number of processes that are left out. */
static uint64_t
count_excluded_processes(const struct first *first)
{
	return first->input->stats->excluded_processes.count +
	       (first->input->note != NULL ? view_excluded_processes(first->view).count : 0);
}

/* Adds "Left out: 2 excluded processes, 1 idle thread (main, sleep). " */
static void
add_left_out(const struct first *first, struct strbuf *out)
{
	const struct run_excluded *live = &first->input->stats->excluded;
	/* Of a live run, the threads that the view excludes are those that were not sampled. */
	const uint64_t excluded = live->threads + (first->input->note != NULL ?
							   view_excluded(first->view).threads :
							   0);
	const uint64_t processes = count_excluded_processes(first);
	const size_t idle = first->places.idle_threads;

	if (processes + excluded + idle == 0)
		return;
	strbuf_add_text(out, "Left out: ");
	if (processes > 0)
		strbuf_add_format(out, "%s%s",
				  quantity_things(processes, "excluded process",
						  "excluded processes")
					  .text,
				  excluded + idle > 0 ? ", " : "");
	if (excluded > 0)
		strbuf_add_format(out, "%s%s",
				  quantity_things(excluded, "excluded thread", "excluded threads")
					  .text,
				  idle > 0 ? ", " : "");
	if (idle > 0) {
		strbuf_add_format(out, "%s (",
				  quantity_things(idle, "idle thread", "idle threads").text);
		add_idle_groups(first, out);
		strbuf_add_text(out, ")");
	}
	strbuf_add_text(out, ". ");
}

/* --- how good the numbers are ------------------------------------------------------------ */

/* Adds " 3.5% WHAT." if that part of the whole exceeds DOUBT_LEAST. */
static void
add_doubt(struct strbuf *out, double part, double whole, const char *what)
{
	if (part > DOUBT_LEAST * whole)
		strbuf_add_format(out, " %s %s.", quantity_percent(part / whole).text, what);
}

/* True if one of the `count` innermost functions is generated code without a name. */
static bool
has_generated(const struct first *first, const uint32_t *function, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (own_is_generated(view_function(first->view, function[i])))
			return true;
	return false;
}

/* Returns the time of places without symbols, and the time in which threads could run in other
 * places that had called generated code without a name. */
static int64_t
unnamed_ns(const struct first *first)
{
	const struct profile *profile = view_profile(first->view);
	const unsigned char *rank = first->own.rank;
	int64_t ns = 0;

	for (size_t i = 0; i < first->places.count; i++)
		if (rank[first->places.row[i].function] == OWN_UNNAMED)
			ns += first->places.row[i].wall_ns;
	for (size_t i = 0; i < profile_entry_count(profile); i++) {
		const struct profile_entry *entry = profile_entry(profile, i);
		const uint32_t *function;
		size_t depth, place;

		if (!run_state_runnable(entry->state) ||
		    !view_sample(first->view, entry, &function, &depth) || depth == 0)
			continue;
		place = own_place(&first->own, function, depth);
		if (rank[function[place]] != OWN_UNNAMED &&
		    has_generated(first, function, place + 1))
			ns += entry->ns[WEIGHT_WALL];
	}
	return ns < first->places.wall_ns ? ns : first->places.wall_ns;
}

/* Adds a sentence for each thing that makes the numbers less certain. */
static void
add_doubts(const struct first *first, struct strbuf *out)
{
	const struct run_stats *stats = first->input->stats;
	uint64_t walks, broken, failed = 0;
	struct strbuf unnamed = STRBUF_INIT;

	run_stats_count_chains(stats, &walks, &broken);
	for (size_t i = 0; i < FAILURE_COUNT; i++)
		failed += stats->failed[i];
	add_doubt(out, (double)failed, (double)stats->thread_samples,
		  "of the samples have no stack");
	add_doubt(out, (double)broken, (double)walks, "of the stacks are incomplete");
	strbuf_add_text(&unnamed, "of the time is in code without symbols");
	if (first->input->advice != NULL && first->input->advice->brief != NULL)
		strbuf_add_format(&unnamed, " (%s)", first->input->advice->brief);
	add_doubt(out, (double)unnamed_ns(first), (double)first->places.wall_ns, unnamed.data);
	strbuf_release(&unnamed);
	if (stats->absences > 0)
		strbuf_add_format(out, " wallsample did not run for %s.",
				  quantity_time((int64_t)stats->absent_ns).text);
}

/* True if the CPU time of all samples can be compared with that of the kernel. */
static bool
covers_run(const struct first *first)
{
	const struct export_input *input = first->input;

	return input->stats->target_cpu_known && !input->filtered && !input->snapshot &&
	       input->part == NULL && input->stats->excluded.threads == 0 &&
	       view_excluded(first->view).threads == 0;
}

/* Adds whether the CPU time of all samples agrees with the kernel's. */
static void
add_agreement(const struct first *first, struct strbuf *out)
{
	const int64_t kernel = (int64_t)first->input->stats->target_cpu_ns;
	const int64_t own = view_total_ns(first->view, WEIGHT_CPU);
	const double most = CPU_AGREES * (double)kernel +
			    SCHEDULER_TICK_NS * (double)first->places.threads;

	if (fabs((double)(own - kernel)) < most)
		strbuf_add_text(out, " CPU time agrees with the kernel's.");
	else
		strbuf_add_format(out, " CPU time: %s sampled, %s counted by the kernel.",
				  quantity_time(own).text, quantity_time(kernel).text);
}

static void
add_quality(const struct first *first, struct strbuf *out)
{
	const double ticks = margin_ticks(view_profile(first->view), &first->input->stats->division,
					  WEIGHT_WALL, first->places.wall_ns);
	struct strbuf text = STRBUF_INIT;

	/* Each sentence begins with a space. */
	if (first->places.threads > first->places.idle_threads + 1)
		strbuf_add_text(&text, " Times are sums over threads.");
	if (ticks > 0)
		strbuf_add_format(&text, " Margin of error: at most ±%.1f percentage points.",
				  100 * margin_of_share(0.5, ticks));
	if (covers_run(first))
		add_agreement(first, &text);
	add_doubts(first, &text);
	if (text.length > 0)
		strbuf_add_text(out, text.data + 1);
	strbuf_release(&text);
}

/* --- lines ------------------------------------------------------------------------------- */

void
first_write_notes(const struct first *first, struct page *page)
{
	const struct export_input *input = first->input;

	if (input->note != NULL)
		page_write(page, page->ops->paragraph, "Recorded %s", input->note);
	if (input->part != NULL)
		page_write(page, page->ops->paragraph, "Part shown: %s", input->part);
	if (input->filtered)
		page_write(page, page->ops->paragraph, "Options select %s of the time.",
			   quantity_share((double)view_total_ns(first->view, WEIGHT_WALL),
					  (double)view_unfiltered_ns(first->view))
				   .text);
	if (input->snapshot)
		page_write(page, page->ops->paragraph,
			   "Sampling continues: this is an intermediate report.");
	else if (report_add_end(input, &page->text))
		page_end(page, page->ops->paragraph);
}

void
first_write_quality(const struct first *first, struct page *page)
{
	add_left_out(first, &page->text);
	add_quality(first, &page->text);
	if (page->text.length > 0)
		page_end(page, page->ops->paragraph);
}

void
first_write_unread(const struct first *first, struct page *page)
{
	if (first->input->stats->unread[0] != '\0')
		page_write(page, page->ops->paragraph, "Not read: %s", first->input->stats->unread);
}
