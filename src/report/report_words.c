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
	[VIEW_BY_PROCESS] = { "process", "Processes", "process", "processes" },
	[VIEW_BY_GIL] = { "GIL", "GIL states", "GIL state", "GIL states" },
};

const struct report_weight_words report_weight_words[] = {
	[WEIGHT_WALL] = { "wall", "wall%",
			  "by Wall: the time that threads spent in them, running or blocked",
			  "of Wall (all threads together)" },
	[WEIGHT_CPU] = { "cpu", "cpu%", "by CPU: the CPU time used in them", "of CPU time" },
	[WEIGHT_LATENCY] = { "latency", "latency%",
			     "by Latency: the real time that passed, shared among the threads "
			     "that ran at once",
			     "of Latency (real time)" },
};

/* Most process ids, and most names, in a list of processes. */
#define PIDS_MOST 3
#define NAMES_MOST 4

void
report_add_others(const struct export_input *input, struct strbuf *out)
{
	const size_t count = profile_process_count(view_profile(input->view));

	if (count > 1)
		strbuf_add_format(out, " and %s",
				  quantity_things(count - 1, "other", "others").text);
}

/* Adds the ids of the processes; of more than PIDS_MOST the first, and the number of others. */
static void
add_pids(const struct profile *profile, struct strbuf *out)
{
	const size_t count = profile_process_count(profile);
	const size_t shown = count <= PIDS_MOST ? count : 1;

	for (uint32_t i = 0; i < shown; i++)
		strbuf_add_format(out, "%s%jd", i > 0 ? ", " : "",
				  (intmax_t)profile_process(profile, i)->pid);
	if (shown < count)
		strbuf_add_format(out, " and %s",
				  quantity_things(count - shown, "other", "others").text);
}

/* Adds the names of processes, each with its number of processes, or with the pid of the only one:
 * "8 php-fpm, nginx (812)". Returns false, and adds nothing, if all have the same name. */
static bool
add_names(const struct profile *profile, struct strbuf *out)
{
	const size_t count = profile_process_count(profile);
	struct table known = { 0 };
	uint32_t *number = xcalloc(count, sizeof(*number)), *first = xcalloc(count, sizeof(*first));
	size_t names;

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t name = profile_process(profile, i)->name;
		const uint32_t at = *table_insert(&known, name, 0, (uint32_t)known.count, NULL);

		if (number[at]++ == 0)
			first[at] = i;
	}
	names = known.count;
	for (size_t i = 0; names > 1 && i < names && i < NAMES_MOST; i++) {
		const struct profile_process *process = profile_process(profile, first[i]);

		strbuf_add_text(out, i > 0 ? ", " : "");
		if (number[i] > 1)
			strbuf_add_format(out, "%s ", quantity_count(number[i]).text);
		strbuf_add_text(out, profile_text(profile, process->name));
		if (number[i] == 1)
			strbuf_add_format(out, " (%jd)", (intmax_t)process->pid);
	}
	strbuf_add_text(out, names > NAMES_MOST ? ", …" : "");
	free(number);
	free(first);
	table_release(&known);
	return names > 1;
}

void
report_add_processes(const struct export_input *input, struct strbuf *out)
{
	const struct profile *profile = view_profile(input->view);
	const size_t count = profile_process_count(profile);

	if (count < 2) {
		strbuf_add_format(out, "%s (%jd)", input->process->comm,
				  (intmax_t)input->process->pid);
		return;
	}
	strbuf_add_format(out, "%s: ", quantity_things(count, "process", "processes").text);
	if (add_names(profile, out))
		return;
	strbuf_add_format(out, "%s (", input->process->comm);
	add_pids(profile, out);
	strbuf_add_text(out, ")");
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

bool
report_add_excluded_processes(const struct run_excluded_processes *excluded, struct strbuf *out)
{
	if (excluded->count == 0)
		return false;
	strbuf_add_format(out, "%s not sampled, %s of CPU time",
			  quantity_things(excluded->count, "process", "processes").text,
			  quantity_time((int64_t)excluded->cpu_ns).text);
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
report_add_parallelism(struct strbuf *out, int64_t cpu_ns, int64_t busy_ns)
{
	if (busy_ns > 0)
		strbuf_add_format(out, "%.2f", (double)cpu_ns / (double)busy_ns);
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
