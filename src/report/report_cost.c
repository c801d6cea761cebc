/* SPDX-License-Identifier: MIT */
/* report_cost.c - writes the last part of a report: the cost of sampling, and missed samples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/analysis/process_choice.h"
#include "wallsample/report/quantity.h"
#include "report/report_internal.h"
#include "wallsample/unwind/chain.h"

static void
write_samples(const struct run_stats *stats, struct page *page)
{
	page_add(page, "%s of %s", quantity_count(stats->thread_samples).text,
		 quantity_things(stats->threads_seen, "thread", "threads").text);
	if (stats->green_seen > 0)
		page_add(page, " and %s", quantity_things(stats->green_seen, "task", "tasks").text);
	page_add(page, " in %s; thread states read %s",
		 quantity_things(stats->ticks, "tick", "ticks").text,
		 quantity_things(stats->looks, "time", "times").text);
	if (stats->green_seen > 0)
		page_add(page, ", task states %s",
			 quantity_things(stats->green_looks, "time", "times").text);
	page_end_field(page, "Samples");

	page_add(page, "%s reused, %s read without a stop, %s read in a stop",
		 quantity_count(stats->reused).text, quantity_count(stats->read).text,
		 quantity_count(stats->stopped).text);
	if (stats->green_stacks > 0)
		page_add(page, ", %s of tasks without a thread",
			 quantity_count(stats->green_stacks).text);
	page_end_field(page, "Stacks");
}

/*
 * True if `reason`, an enum sample_failure, is a failure. False for FAILURE_NOT_STOPPED, which
 * --nonblocking and --max-stopped intend, and for FAILURE_ABSENT and FAILURE_TRACED, which have
 * fields of their own.
 */
static bool
is_failure(size_t reason)
{
	return reason != FAILURE_NOT_STOPPED && reason != FAILURE_ABSENT &&
	       reason != FAILURE_TRACED;
}

static void
write_failures(const struct run_stats *stats, struct page *page)
{
	uint64_t failed = 0;

	for (size_t i = 0; i < FAILURE_COUNT; i++)
		if (is_failure(i))
			failed += stats->failed[i];
	if (failed == 0)
		page_field(page, "Failed", "none");
	else
		page_field(page, "Failed", "%s without a stack, %s of all:",
			   quantity_things(failed, "sample", "samples").text,
			   quantity_share((double)failed, (double)stats->thread_samples).text);
	for (size_t i = 0; i < FAILURE_COUNT; i++)
		if (is_failure(i) && stats->failed[i] > 0)
			page_item(page, quantity_count(stats->failed[i]).text, NULL,
				  sample_failure_text((enum sample_failure)i));
}

static void
write_unstopped(const struct run_stats *stats, struct page *page)
{
	const uint64_t count = stats->failed[FAILURE_NOT_STOPPED];

	if (count > 0)
		page_field(page, "Unstopped", "%s of running threads, %s of all, as --%s asks",
			   quantity_things(count, "sample", "samples").text,
			   quantity_share((double)count, (double)stats->thread_samples).text,
			   stats->stop_delays > 0 ? "max-stopped" : "nonblocking");
}

static void
write_traced(const struct run_stats *stats, struct page *page)
{
	const uint64_t count = stats->failed[FAILURE_TRACED];

	if (count > 0)
		page_field(page, "Traced",
			   "%s without a stack, %s of all, because another tracer traced the "
			   "thread",
			   quantity_things(count, "sample", "samples").text,
			   quantity_share((double)count, (double)stats->thread_samples).text);
}

static void
write_excluded(const struct export_input *input, struct page *page)
{
	const struct run_excluded of_view = view_excluded(input->view);

	if (report_add_excluded(&input->stats->excluded, &page->text))
		page_end_field(page, "Excluded");
	/* Only for recordings. In a live run the threads that the view excludes were not sampled,
	 * and the field written above includes them. */
	if (input->note != NULL && of_view.threads > 0)
		page_field(page, "Excluded",
			   "%s, left out of this report with %s of CPU time in samples",
			   quantity_things(of_view.threads, "recorded thread", "recorded threads")
				   .text,
			   quantity_time((int64_t)of_view.cpu_ns).text);
}

static void
write_excluded_processes(const struct export_input *input, struct page *page)
{
	const struct run_excluded_processes of_view = view_excluded_processes(input->view);

	if (report_add_excluded_processes(&input->stats->excluded_processes, &page->text))
		page_end_field(page, "Excluded");
	/* Only for recordings, as above. */
	if (input->note != NULL && of_view.count > 0)
		page_field(page, "Excluded",
			   "%s, left out of this report with %s of CPU time in samples",
			   quantity_things(of_view.count, "recorded process", "recorded processes")
				   .text,
			   quantity_time((int64_t)of_view.cpu_ns).text);
}

static void
write_broken(const struct run_stats *stats, struct page *page)
{
	uint64_t walks, broken;

	run_stats_count_chains(stats, &walks, &broken);
	if (broken == 0)
		page_field(page, "Cut off", "none");
	else
		page_field(page, "Cut off", "%s, %s of those unwound, %s:",
			   quantity_things(broken, "stack", "stacks").text,
			   quantity_share((double)broken, (double)walks).text,
			   broken == 1 ? "is incomplete at its outer end" :
					 "are incomplete at their outer ends");
	for (size_t i = 0; i < CHAIN_END_COUNT; i++)
		if (stats->chains[i] > 0 && !chain_end_is_whole((enum chain_end)i))
			page_item(page, quantity_count(stats->chains[i]).text, NULL,
				  chain_end_text((enum chain_end)i));
}

/*
 * Returns the wall time of samples with a guessed frame (FRAME_GUESS) in their stacks. Like most
 * numbers in this part of the report, it covers all samples, selected or not.
 */
static int64_t
guessed_ns(const struct profile *profile)
{
	const size_t stacks = profile_stack_count(profile);
	bool *guessed = xcalloc(stacks + 1, sizeof(*guessed));
	int64_t ns = 0;

	for (uint32_t i = 0; i < stacks; i++) {
		const struct profile_stack *stack = profile_stack(profile, i);

		guessed[i] = profile_frame(profile, stack->frame)->origin == FRAME_GUESS ||
			     (stack->caller != STACK_NONE && guessed[stack->caller]);
	}
	for (size_t i = 0; i < profile_entry_count(profile); i++) {
		const struct profile_entry *entry = profile_entry(profile, i);

		if (entry->stack != STACK_NONE && guessed[entry->stack])
			ns += entry->ns[WEIGHT_WALL];
	}
	free(guessed);
	return ns;
}

static void
write_guessed(const struct view *view, struct page *page)
{
	const int64_t ns = guessed_ns(view_profile(view));

	if (ns > 0)
		page_field(page, "Guessed",
			   "%s of the time is in stacks with frames found by a scan for return "
			   "addresses, where unwind tables are missing",
			   quantity_share((double)ns, (double)view_unfiltered_ns(view)).text);
}

/* Returns the wall time of all threads. The time of green tasks that no thread ran is not
 * included. */
static int64_t
threads_wall_ns(const struct profile *profile)
{
	int64_t ns = 0;

	for (size_t i = 0; i < profile_entry_count(profile); i++) {
		const struct profile_entry *entry = profile_entry(profile, i);

		if (entry->carrier != 0 || !profile_thread(profile, entry->thread)->is_green)
			ns += entry->ns[WEIGHT_WALL];
	}
	return ns;
}

static void
write_stops(const struct export_input *input, struct page *page)
{
	const struct histogram *stops = &input->stats->stop_ns;

	if (stops->count == 0) {
		page_field(page, "Stops", "no thread was stopped");
		return;
	}
	page_add(page, "%s, of a thread each: median %s, p99 %s, longest %s",
		 quantity_count(stops->count).text,
		 quantity_time((int64_t)histogram_quantile(stops, 0.5)).text,
		 quantity_time((int64_t)histogram_quantile(stops, 0.99)).text,
		 quantity_time((int64_t)stops->max).text);
	/* The time of stops covers the whole run, so it is no share of the time of a selected
	 * part. */
	if (input->part == NULL)
		page_add(page, "; together %s of the threads' wall time",
			 quantity_share((double)stops->sum,
					(double)threads_wall_ns(view_profile(input->view)))
				 .text);
	page_end_field(page, "Stops");
}

/*
 * Writes the CPU time counted by the kernel and the time sampled as running: their difference shows
 * how reliable the states are. Both times are those of the whole run, so this field is left out of
 * a report on selected samples or ticks, and of an intermediate report.
 */
static void
write_cpu(const struct export_input *input, struct page *page)
{
	const struct profile *profile = view_profile(input->view);
	int64_t running = 0;

	if (!input->stats->target_cpu_known || input->filtered || input->snapshot ||
	    input->part != NULL)
		return;
	for (size_t i = 0; i < profile_entry_count(profile); i++)
		if (profile_entry(profile, i)->state == RUN_RUNNING)
			running += profile_entry(profile, i)->ns[WEIGHT_WALL];
	page_field(page, "CPU time",
		   "%s used by the process as the kernel counts, %s sampled as running",
		   quantity_time((int64_t)input->stats->target_cpu_ns).text,
		   quantity_time(running).text);
}

/* Share of exact samples below which the report warns. An exact sample weighs 64 times as much as
 * another one (src/sampler/occupy_internal.h): at this share the others divide 6 % of the CPU
 * time. */
#define EXACT_FEW 0.2

/* Writes how many samples of running threads are exact (run_stats.h), and warns if they are few.
 * The share is 0 in runs that have no exact samples, and in recordings of older versions `running`
 * is 0. */
static void
write_exact(const struct run_stats *stats, struct page *page)
{
	const double share = stats->running == 0 ?
				     1 :
				     (double)stats->running_exact / (double)stats->running;

	if (stats->running == 0)
		return;
	page_field(
		page, "Exact",
		"%s of %s of running threads were interrupted at a random moment; the others show "
		"system calls too often",
		quantity_share((double)stats->running_exact, (double)stats->running).text,
		quantity_things(stats->running, "sample", "samples").text);
	if (share < EXACT_FEW)
		page_field(page, "",
			   "Few samples are exact: the shares of functions that make system calls "
			   "more often than once a millisecond can be several points too high. "
			   "Usual causes are other programs on the CPUs (--realtime helps), a low "
			   "--max-overhead, and --stop-all.");
}

static void
write_stolen(const struct run_stats *stats, struct page *page)
{
	if (stats->stolen_ns > 0)
		page_field(page, "Stolen",
			   "%s: the hypervisor of this virtual machine gave the CPUs of running "
			   "threads to others; it is part of \"waiting for a CPU\"",
			   quantity_time((int64_t)stats->stolen_ns).text);
}

static void
write_absences(const struct run_stats *stats, struct page *page)
{
	if (stats->absences > 0)
		page_field(
			page, "Absent",
			"%s in %s: wallsample was stopped, frozen, without a CPU or waiting for a "
			"file; threads that ran then are counted as \"%s\"",
			quantity_time((int64_t)stats->absent_ns).text,
			quantity_things(stats->absences, "pause", "pauses").text,
			sample_failure_text(FAILURE_ABSENT));
}

static void
write_repairs(const struct run_stats *stats, struct page *page)
{
	if (stats->repaired > 0)
		page_field(page, "Repaired", "%s resumed that a stop would have ended with EINTR",
			   quantity_things(stats->repaired, "system call", "system calls").text);
	if (stats->signals_passed > 0)
		page_field(page, "Signals", "%s that arrived during a stop passed on",
			   quantity_things(stats->signals_passed, "signal", "signals").text);
}

/* True if clearly fewer ticks than wanted took place: by more than 5 %, and by more than the random
 * intervals of recordings of earlier versions explain (four standard deviations). */
static bool
rate_was_missed(const struct run_stats *stats, double seconds)
{
	const double wanted = stats->rate_wanted * seconds;
	const double missing = wanted - (double)stats->ticks;

	return missing > 0.05 * wanted && missing > 4.0 * sqrt(wanted);
}

/* Returns the names of the options whose limits have lowered the rate. */
static const char *
limits_met(const struct run_stats *stats)
{
	if (stats->stop_delays == 0)
		return "--max-overhead";
	return stats->overhead_delays == 0 ? "--max-stopped" : "--max-overhead and --max-stopped";
}

static void
write_own_cost(const struct run_stats *stats, struct page *page)
{
	const double seconds = (double)(stats->elapsed_ns + stats->overlap_ns - stats->absent_ns) /
			       (double)NS_PER_SEC;

	page_add(page, "%s wanted, %s reached", quantity_rate(stats->rate_wanted).text,
		 quantity_rate(seconds > 0 ? (double)stats->ticks / seconds : 0).text);
	if (stats->rate_lowest > 0 && stats->rate_lowest < stats->rate_wanted)
		page_add(page, ", at times lowered to %s to stay within %s",
			 quantity_rate(stats->rate_lowest).text, limits_met(stats));
	else if (rate_was_missed(stats, seconds))
		page_add(page, ", because ticks began late: they took longer than the interval, or "
			       "wallsample waited for a CPU");
	page_end_field(page, "Rate");
	if (stats->thinnest > 1)
		page_field(page, "Thinned",
			   "busy threads sampled in one of %u ticks at times, to keep to "
			   "--max-overhead",
			   (unsigned)stats->thinnest);
	page_field(page, "Own cost", "%s of one CPU, %s of memory",
		   quantity_share((double)stats->own_cpu_ns, (double)stats->elapsed_ns).text,
		   quantity_memory(stats->peak_memory).text);
}

/*
 * Adds "libc.so.6 (/usr/lib/libc.so.6, build-id 4f2a…)", by which a user can find the symbols of
 * the module. If the file could not be opened or is not an ELF file, the reason (module->why)
 * follows the path. Adds only the name if the module has no file.
 */
static void
add_unnamed_module(const struct export_input *input, const struct unnamed_row *row,
		   struct page *page)
{
	const struct module *module = input->modules != NULL ?
					      modules_get(input->modules, row->module_id) :
					      NULL;

	page_add(page, "%s", row->module);
	if (module == NULL || module->path[0] != '/')
		return;
	page_add(page, " (%s", module->path);
	if (module->why != NULL)
		page_add(page, ": %s", module->why);
	if (module->build_id[0] != '\0')
		page_add(page, ", build-id %s", module->build_id);
	page_add(page, ")");
}

/*
 * Returns true if the advice on symbols, advice->files, helps for the module. It does not help for
 * code without a file. The symbols of an interpreter that is not read name only the functions of
 * the interpreter, and not those of the program: the advice is then given only for other files in
 * which the program spends time.
 */
static bool
symbols_would_help(const struct export_input *input, const struct unnamed_row *row)
{
	const struct module *module = input->modules != NULL ?
					      modules_get(input->modules, row->module_id) :
					      NULL;
	const char *unread = input->stats->unread;

	if (module != NULL && module->kind != MODULE_FILE && module->kind != MODULE_OTHER)
		return false;
	return unread[0] == '\0' ||
	       (strstr(unread, row->module) == NULL && row->flat[WEIGHT_WALL] > 0);
}

/*
 * Writes the modules with missing symbols. Unlike most fields of this part of the report, this
 * field covers only the selected samples. The share of the time is written only in reports by
 * function or by line: in other reports a row may merge functions with and without names.
 */
static void
write_unnamed(const struct export_input *input, struct page *page)
{
	const double total = (double)view_total_ns(input->view, WEIGHT_WALL);
	const bool shares = view_key_is_of_function(view_key(input->view));
	struct unnamed_table unnamed;
	bool advice = false;

	unnamed_table_make(input->view, &unnamed);
	if (unnamed.count > 0)
		page_field(page, "Unnamed", "symbols are missing in %s%s",
			   quantity_things(unnamed.count, "module", "modules").text,
			   shares ? " (share of the time, and as innermost frame):" :
				    " (--by function shows the share of the time):");
	for (size_t i = 0; i < unnamed.count && i < input->limit; i++) {
		const struct unnamed_row *row = &unnamed.row[i];

		add_unnamed_module(input, row, page);
		page_item(page,
			  shares ? quantity_share((double)row->cum[WEIGHT_WALL], total).text : "",
			  shares ? quantity_share((double)row->flat[WEIGHT_WALL], total).text : "",
			  "");
	}
	if (unnamed.count > input->limit)
		page_field(page, "", "… and %s more",
			   quantity_count(unnamed.count - input->limit).text);
	for (size_t i = 0; i < unnamed.count; i++)
		advice |= symbols_would_help(input, &unnamed.row[i]);
	if (advice && input->advice != NULL && input->advice->files != NULL)
		page_field(page, "", "%s", input->advice->files);
	if (unnamed.count > 0 && input->advice != NULL && input->advice->generated != NULL)
		page_field(page, "", "Names of generated code: %s.", input->advice->generated);
	free(unnamed.row);
}

void
report_write_cost(const struct export_input *input, struct page *page)
{
	const struct run_stats *stats = input->stats;

	page->ops->heading(page, "Cost and quality of sampling");
	write_samples(stats, page);
	write_failures(stats, page);
	write_unstopped(stats, page);
	write_traced(stats, page);
	write_excluded(input, page);
	write_excluded_processes(input, page);
	write_broken(stats, page);
	write_guessed(input->view, page);
	write_unnamed(input, page);
	write_cpu(input, page);
	write_stops(input, page);
	write_exact(stats, page);
	write_stolen(stats, page);
	write_absences(stats, page);
	write_repairs(stats, page);
	write_own_cost(stats, page);
	if (stats->execed)
		page_field(page, "Note",
			   "The process called exec during the run: this report has samples of the "
			   "program before and the one after.");
}
