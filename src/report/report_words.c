/* SPDX-License-Identifier: MIT */
/* report_words.c - titles and nouns of rows and weights, and texts of several parts of a report. */
#include <string.h>
#include <sys/wait.h>

#include "wallsample/report/quantity.h"
#include "report/report_internal.h"

const struct report_key_words report_key_words[] = {
	[VIEW_BY_FUNCTION] = { "function (module)", "Functions", "function", "functions" },
	[VIEW_BY_LINE] = { "function (line)", "Lines", "line", "lines" },
	[VIEW_BY_MODULE] = { "module", "Modules", "module", "modules" },
	[VIEW_BY_SOURCE] = { "source file", "Source files", "file", "files" },
	[VIEW_BY_THREAD] = { "thread", "Threads", "thread", "threads" },
	[VIEW_BY_STATE] = { "state", "States", "state", "states" },
	[VIEW_BY_LOCK] = { "waited for", "Waits", "wait", "waits" },
	[VIEW_BY_GIL] = { "GIL", "GIL states", "GIL state", "GIL states" },
};

const struct report_weight_words report_weight_words[] = {
	[WEIGHT_WALL] = { "wall", "wall%",
			  "by Wall: the time that threads spent in them, running or blocked",
			  "of Wall (all threads together)" },
	[WEIGHT_OVERHEAD] = { "overhead", "overhead%", "by Overhead: the CPU time used in them",
			      "of Overhead (CPU time)" },
	[WEIGHT_LATENCY] = { "latency", "latency%",
			     "by Latency: the real time that passed, shared among the threads "
			     "that ran at once",
			     "of Latency (real time)" },
};

void
report_add_others(const struct export_input *input, struct strbuf *out)
{
	if (input->process_count > 1)
		strbuf_add_format(out, " and %s",
				  quantity_things(input->process_count - 1, "other", "others")
					  .text);
}

bool
report_add_end(const struct export_input *input, struct strbuf *out)
{
	const struct run_stats *stats = input->stats;

	if (input->end != RUN_END_EXITED)
		return false;
	strbuf_add_text(out, "The process exited while it was sampled");
	if (stats->child_exited && WIFEXITED(stats->child_status))
		strbuf_add_format(out, ", with status %d", WEXITSTATUS(stats->child_status));
	else if (stats->child_exited && WIFSIGNALED(stats->child_status))
		strbuf_add_format(out, ", killed by signal %d (%s)", WTERMSIG(stats->child_status),
				  strsignal(WTERMSIG(stats->child_status)));
	strbuf_add_text(out, ".");
	return true;
}

bool
report_add_excluded(const struct run_excluded *excluded, struct strbuf *out)
{
	if (excluded->threads == 0)
		return false;
	strbuf_add_format(out, "%s not sampled, %s of CPU time",
			  quantity_things(excluded->threads, "thread", "threads").text,
			  quantity_time((int64_t)excluded->cpu_ns).text);
	if (excluded->ended > 0)
		strbuf_add_format(out,
				  "; %llu of them ended during the run, and the last second "
				  "before the end is not counted",
				  (unsigned long long)excluded->ended);
	return true;
}

void
report_write_runtimes(const struct run_stats *stats, struct page *page)
{
	if (stats->runtimes[0] != '\0')
		page_write(page, page->ops->rest, "%s", stats->runtimes);
	if (stats->unread[0] != '\0')
		page_write(page, page->ops->rest, "%s", stats->unread);
}

void
report_add_parallelism(struct strbuf *out, int64_t overhead_ns, int64_t busy_ns)
{
	if (busy_ns > 0)
		strbuf_add_format(out, "%.2f", (double)overhead_ns / (double)busy_ns);
	else
		strbuf_add_text(out, "-");
}

void
report_write_selected(const struct view *view, const char *label, struct page *page)
{
	page_field(page, label, "%s of what was sampled, as selected by options",
		   quantity_share((double)view_total_ns(view, WEIGHT_WALL),
				  (double)view_unfiltered_ns(view))
			   .text);
}
