/* SPDX-License-Identifier: MIT */
/*
 * report_cost.c - reports the cost of sampling, and missed samples: the end of a report.
 */
#include <stdlib.h>

#include "wallsample/report/quantity.h"
#include "report/report_internal.h"
#include "wallsample/unwind/chain.h"

struct closing {
	const struct export_input *input;
	const struct run_stats *stats;
	struct page *page;
	struct strbuf sb; /* the current line */
};

static void
end_field(struct closing *c, const char *label)
{
	c->page->ops->field(c->page, label, c->sb.data);
	strbuf_clear(&c->sb);
}

static void
write_item(struct closing *c, uint64_t count, const char *what)
{
	struct strbuf number;

	strbuf_init(&number);
	quantity_add_count(&number, count);
	c->page->ops->item(c->page, number.data, NULL, what);
	strbuf_release(&number);
}

static void
write_samples(struct closing *c)
{
	const struct run_stats *stats = c->stats;

	quantity_add_count(&c->sb, stats->thread_samples);
	strbuf_add_text(&c->sb, " of ");
	quantity_add_things(&c->sb, stats->threads_seen, "thread", "threads");
	if (stats->tasks_seen > 0) {
		strbuf_add_text(&c->sb, " and ");
		quantity_add_things(&c->sb, stats->tasks_seen, "task", "tasks");
	}
	strbuf_add_text(&c->sb, " in ");
	quantity_add_things(&c->sb, stats->ticks, "tick", "ticks");
	strbuf_add_text(&c->sb, ", from ");
	quantity_add_things(&c->sb, stats->looks, "observation of a thread",
			    "observations of threads");
	if (stats->tasks_seen > 0) {
		strbuf_add_text(&c->sb, " and ");
		quantity_add_things(&c->sb, stats->task_looks, "of a task", "of tasks");
	}
	end_field(c, "Samples");

	quantity_add_count(&c->sb, stats->reused);
	strbuf_add_text(&c->sb, " reused, ");
	quantity_add_count(&c->sb, stats->read);
	strbuf_add_text(&c->sb, " read without a stop, ");
	quantity_add_count(&c->sb, stats->stopped);
	strbuf_add_text(&c->sb, " read in a stop");
	if (stats->task_stacks > 0) {
		strbuf_add_text(&c->sb, ", ");
		quantity_add_count(&c->sb, stats->task_stacks);
		strbuf_add_text(&c->sb, " of tasks without a thread");
	}
	end_field(c, "Stacks");
}

/* Threads that --nonblocking skips on purpose do not count. */
static bool
is_failure(size_t reason)
{
	return reason != FAILURE_NOT_STOPPED;
}

static void
write_failures(struct closing *c)
{
	uint64_t failed = 0;

	for (size_t i = 0; i < FAILURE_COUNT; i++)
		if (is_failure(i))
			failed += c->stats->failed[i];
	if (failed == 0) {
		strbuf_add_text(&c->sb, "none");
	} else {
		quantity_add_things(&c->sb, failed, "sample", "samples");
		strbuf_add_text(&c->sb, " without a stack, ");
		quantity_add_share(&c->sb, (double)failed, (double)c->stats->thread_samples);
		strbuf_add_text(&c->sb, " of all:");
	}
	end_field(c, "Failed");
	for (size_t i = 0; i < FAILURE_COUNT; i++)
		if (is_failure(i) && c->stats->failed[i] > 0)
			write_item(c, c->stats->failed[i],
				   sample_failure_text((enum sample_failure)i));
}

static void
write_unstopped(struct closing *c)
{
	const uint64_t count = c->stats->failed[FAILURE_NOT_STOPPED];

	if (count == 0)
		return;
	quantity_add_things(&c->sb, count, "sample", "samples");
	strbuf_add_text(&c->sb, " of running threads, ");
	quantity_add_share(&c->sb, (double)count, (double)c->stats->thread_samples);
	strbuf_add_text(&c->sb, " of all, as --nonblocking asks");
	end_field(c, "Unstopped");
}

static void
write_excluded(struct closing *c)
{
	const struct run_excluded of_view = view_excluded(c->input->view);

	if (report_add_excluded(&c->stats->excluded, &c->sb))
		end_field(c, "Excluded");
	/* The statistics of a live run include its excluded threads already. */
	if (c->input->note == NULL || of_view.threads == 0)
		return;
	quantity_add_things(&c->sb, of_view.threads, "recorded thread", "recorded threads");
	strbuf_add_text(&c->sb, ", left out of this report with ");
	quantity_add_time(&c->sb, (int64_t)of_view.cpu_ns);
	strbuf_add_text(&c->sb, " of CPU time in samples");
	end_field(c, "Excluded");
}

static void
write_broken(struct closing *c)
{
	uint64_t walks = 0, broken = 0;

	for (size_t i = 0; i < CHAIN_END_COUNT; i++) {
		walks += c->stats->chains[i];
		if (!chain_end_is_whole((enum chain_end)i))
			broken += c->stats->chains[i];
	}
	if (broken == 0) {
		strbuf_add_text(&c->sb, "none");
	} else {
		quantity_add_things(&c->sb, broken, "stack", "stacks");
		strbuf_add_text(&c->sb, ", ");
		quantity_add_share(&c->sb, (double)broken, (double)walks);
		strbuf_add_format(&c->sb, " of those unwound, %s:",
				  broken == 1 ? "is incomplete at its outer end" :
						"are incomplete at their outer ends");
	}
	end_field(c, "Cut off");
	for (size_t i = 0; i < CHAIN_END_COUNT; i++)
		if (c->stats->chains[i] > 0 && !chain_end_is_whole((enum chain_end)i))
			write_item(c, c->stats->chains[i], chain_end_text((enum chain_end)i));
}

/*
 * Returns the time of samples with a guessed frame: of all samples, as the counts around it, not
 * only of the selected ones.
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
write_guessed(struct closing *c)
{
	const int64_t ns = guessed_ns(view_profile(c->input->view));

	if (ns <= 0)
		return;
	quantity_add_share(&c->sb, (double)ns, (double)view_unfiltered_ns(c->input->view));
	strbuf_add_text(&c->sb, " of the time is in stacks with frames found by a scan for return "
				"addresses, where unwind tables are missing");
	end_field(c, "Guessed");
}

/* Tasks without a thread are not included. */
static int64_t
threads_wall_ns(const struct profile *profile)
{
	int64_t ns = 0;

	for (size_t i = 0; i < profile_entry_count(profile); i++) {
		const struct profile_entry *entry = profile_entry(profile, i);

		if (entry->carrier != 0 || !profile_thread(profile, entry->thread)->is_task)
			ns += entry->ns[WEIGHT_WALL];
	}
	return ns;
}

static void
write_stops(struct closing *c)
{
	const struct histogram *stops = &c->stats->stop_ns;

	if (stops->count == 0) {
		strbuf_add_text(&c->sb, "no thread was stopped");
		end_field(c, "Stops");
		return;
	}
	quantity_add_count(&c->sb, stops->count);
	strbuf_add_text(&c->sb, ", of a thread each: median ");
	quantity_add_time(&c->sb, (int64_t)histogram_quantile(stops, 0.5));
	strbuf_add_text(&c->sb, ", p99 ");
	quantity_add_time(&c->sb, (int64_t)histogram_quantile(stops, 0.99));
	strbuf_add_text(&c->sb, ", longest ");
	quantity_add_time(&c->sb, (int64_t)stops->max);
	/* The stops of the whole run cannot be compared with the time of a part. */
	if (c->input->part == NULL) {
		strbuf_add_text(&c->sb, "; together ");
		quantity_add_share(&c->sb, (double)stops->sum,
				   (double)threads_wall_ns(view_profile(c->input->view)));
		strbuf_add_text(&c->sb, " of the threads' wall time");
	}
	end_field(c, "Stops");
}

/*
 * Compares the time sampled as running with the CPU time counted by the kernel: it shows how
 * reliable the states are. Both cover all samples, so it is left out of filtered reports.
 */
static void
write_cpu(struct closing *c)
{
	const struct profile *profile = view_profile(c->input->view);
	int64_t running = 0;

	if (!c->stats->target_cpu_known || c->input->filtered || c->input->snapshot ||
	    c->input->part != NULL)
		return;
	for (size_t i = 0; i < profile_entry_count(profile); i++)
		if (profile_entry(profile, i)->state == RUN_RUNNING)
			running += profile_entry(profile, i)->ns[WEIGHT_WALL];
	quantity_add_time(&c->sb, (int64_t)c->stats->target_cpu_ns);
	strbuf_add_text(&c->sb, " used by the process as the kernel counts, ");
	quantity_add_time(&c->sb, running);
	strbuf_add_text(&c->sb, " sampled as running");
	end_field(c, "CPU time");
}

static void
write_repairs(struct closing *c)
{
	if (c->stats->repaired > 0) {
		quantity_add_things(&c->sb, c->stats->repaired, "system call", "system calls");
		strbuf_add_text(&c->sb, " resumed that a stop would have ended with EINTR");
		end_field(c, "Repaired");
	}
	if (c->stats->signals_passed > 0) {
		quantity_add_things(&c->sb, c->stats->signals_passed, "signal", "signals");
		strbuf_add_text(&c->sb, " that arrived during a stop passed on");
		end_field(c, "Signals");
	}
}

static void
write_own_cost(struct closing *c)
{
	const struct run_stats *stats = c->stats;
	const double seconds = (double)stats->elapsed_ns / (double)NS_PER_SEC;

	quantity_add_rate(&c->sb, stats->rate_wanted);
	strbuf_add_text(&c->sb, " wanted, ");
	quantity_add_rate(&c->sb, seconds > 0 ? (double)stats->ticks / seconds : 0);
	strbuf_add_text(&c->sb, " reached");
	if (stats->rate_lowest > 0 && stats->rate_lowest < stats->rate_wanted) {
		strbuf_add_text(&c->sb, ", at times lowered to ");
		quantity_add_rate(&c->sb, stats->rate_lowest);
		strbuf_add_text(&c->sb, " to stay within --max-overhead");
	}
	end_field(c, "Rate");
	if (stats->thinnest > 1) {
		strbuf_add_format(&c->sb, "busy threads sampled in one of %u ticks at times",
				  (unsigned)stats->thinnest);
		strbuf_add_text(&c->sb, ", to keep to --max-overhead");
		end_field(c, "Thinned");
	}

	quantity_add_share(&c->sb, (double)stats->own_cpu_ns, (double)stats->elapsed_ns);
	strbuf_add_text(&c->sb, " of one CPU, ");
	quantity_add_memory(&c->sb, stats->peak_memory);
	strbuf_add_text(&c->sb, " of memory");
	end_field(c, "Own cost");
}

/* "libc.so.6 (/usr/lib/libc.so.6, build-id 4f2a…)": the data to find its symbols by. */
static void
add_unnamed_module(struct closing *c, const struct unnamed_row *row)
{
	const struct module *module = c->input->modules != NULL ?
					      modules_get(c->input->modules, row->module_id) :
					      NULL;

	strbuf_add_escaped(&c->sb, row->module);
	if (module == NULL || module->path[0] != '/')
		return;
	strbuf_add_text(&c->sb, " (");
	strbuf_add_escaped(&c->sb, module->path);
	if (module->why != NULL)
		strbuf_add_format(&c->sb, ": %s", module->why);
	if (module->build_id[0] != '\0')
		strbuf_add_format(&c->sb, ", build-id %s", module->build_id);
	strbuf_add_text(&c->sb, ")");
}

/*
 * Writes the modules with missing symbols. Unlike the rest of this block it covers the selected
 * samples only. Views by module or source file cannot tell the share of the time, because a module
 * may have functions with and without names.
 */
static void
write_unnamed(struct closing *c)
{
	const double total = (double)view_total_ns(c->input->view, WEIGHT_WALL);
	const enum view_key key = view_key(c->input->view);
	const bool shares = key == VIEW_BY_FUNCTION || key == VIEW_BY_LINE;
	struct unnamed_table unnamed;
	struct strbuf cum, flat;

	strbuf_init(&cum);
	strbuf_init(&flat);
	unnamed_table_make(c->input->view, &unnamed);
	if (unnamed.count > 0) {
		strbuf_add_text(&c->sb, "symbols are missing in ");
		quantity_add_things(&c->sb, unnamed.count, "module", "modules");
		strbuf_add_text(&c->sb, shares ? " (share of the time, and as innermost frame):" :
						 " (--by function shows the share of the time):");
		end_field(c, "Unnamed");
	}
	for (size_t i = 0; i < unnamed.count && i < c->input->limit; i++) {
		strbuf_clear(&cum);
		strbuf_clear(&flat);
		strbuf_add_text(&cum, "");
		strbuf_add_text(&flat, "");
		if (shares)
			quantity_add_share(&cum, (double)unnamed.row[i].cum[WEIGHT_WALL], total);
		if (shares)
			quantity_add_share(&flat, (double)unnamed.row[i].flat[WEIGHT_WALL], total);
		add_unnamed_module(c, &unnamed.row[i]);
		c->page->ops->item(c->page, cum.data, flat.data, c->sb.data);
		strbuf_clear(&c->sb);
	}
	if (unnamed.count > c->input->limit) {
		strbuf_add_text(&c->sb, "… and ");
		quantity_add_things(&c->sb, unnamed.count - c->input->limit, "more", "more");
		end_field(c, "");
	}
	if (unnamed.count > 0 && c->input->names_hint != NULL) {
		strbuf_add_text(&c->sb, c->input->names_hint);
		end_field(c, "");
	}
	strbuf_release(&cum);
	strbuf_release(&flat);
	unnamed_table_release(&unnamed);
}

void
report_write_cost(const struct export_input *input, struct page *page)
{
	struct closing c = { .input = input, .stats = input->stats, .page = page };

	strbuf_init(&c.sb);
	page->ops->heading(page, "What it cost and missed");
	write_samples(&c);
	write_failures(&c);
	write_unstopped(&c);
	write_excluded(&c);
	write_broken(&c);
	write_guessed(&c);
	write_unnamed(&c);
	write_cpu(&c);
	write_stops(&c);
	write_repairs(&c);
	write_own_cost(&c);
	if (input->stats->execed) {
		strbuf_add_text(&c.sb, "The process called exec during the run: this report has "
				       "samples of the program before and the one after.");
		end_field(&c, "Note");
	}
	strbuf_release(&c.sb);
}
