/* SPDX-License-Identifier: MIT */
/* report_header.c - writes what was sampled: processes, runtimes, threads, time. */
#include <inttypes.h>
#include <string.h>

#include "report/report_internal.h"
#include "wallsample/base/table.h"
#include "wallsample/report/quantity.h"

/* Maximum number of command lines of several processes, and of process ids. */
#define COMMANDS_MOST 5
#define PIDS_MOST 20

/* Writes "101, 102 (postgres), 204 (nginx)": the name follows the last of successive processes that
 * have it. */
static void
write_processes(const struct export_input *input, struct page *page)
{
	const struct profile *profile = view_profile(input->view);
	const uint32_t count = (uint32_t)profile_process_count(profile);
	const uint32_t shown_count = count < PIDS_MOST ? count : PIDS_MOST;

	for (uint32_t i = 0; i < shown_count; i++) {
		const struct profile_process *process = profile_process(profile, i);

		page_add(page, "%s%jd", i > 0 ? ", " : "", (intmax_t)process->pid);
		if (i + 1 == shown_count || process->name != profile_process(profile, i + 1)->name)
			page_add(page, " (%s)", profile_text(profile, process->name));
	}
	if (count > shown_count)
		page_add(page, " and %s",
			 quantity_things(count - shown_count, "other", "others").text);
	page_end_field(page, "Processes");
}

/* Writes the different command lines, at most COMMANDS_MOST. */
static void
write_commands(const struct export_input *input, struct page *page)
{
	const struct profile *profile = view_profile(input->view);
	struct table known = { 0 };
	size_t written = 0, others = 0;

	for (uint32_t i = 0; i < profile_process_count(profile); i++) {
		const uint32_t cmdline = profile_process(profile, i)->cmdline;
		bool added;

		table_insert(&known, cmdline, 0, 0, &added);
		if (added && written == COMMANDS_MOST)
			others++;
		else if (added)
			page_line(page, written++ == 0 ? "Command" : "",
				  profile_text(profile, cmdline));
	}
	table_release(&known);
	if (others > 0)
		page_field(page, "", "… and %s",
			   quantity_things(others, "other command", "other commands").text);
}

void
report_write_header(const struct export_input *input, struct page *page)
{
	const struct run_stats *stats = input->stats;

	if (profile_process_count(view_profile(input->view)) > 1) {
		write_processes(input, page);
		write_commands(input, page);
	} else {
		page_field(page, "Process", "%jd (%s)", (intmax_t)input->process->pid,
			   input->process->comm);
		page_line(page, "Command", input->process->cmdline);
	}
	if (stats->runtimes[0] != '\0')
		page_field(page, "Runtime", "%s", stats->runtimes);
	if (stats->unread[0] != '\0')
		page_field(page, "Not read", "%s", stats->unread);
	page_field(page, "Threads", "%s seen, at most %s at once",
		   quantity_count(stats->threads_seen).text,
		   quantity_count(stats->threads_most).text);
	if (stats->green_seen > 0 && report_has_green(input))
		page_field(page, "Tasks", "%s seen, at most %s at once without a thread",
			   quantity_count(stats->green_seen).text,
			   quantity_count(stats->green_most).text);
	page_field(page, "Sampled", "%s at %s", quantity_time((int64_t)stats->elapsed_ns).text,
		   quantity_rate(stats->rate_wanted).text);
	if (input->note != NULL)
		page_field(page, "Recorded", "%s", input->note);
	if (input->part != NULL)
		page_field(page, "Only", "%s", input->part);
	if (input->filtered)
		report_write_selected(input->view, "Shown", page);
	if (input->snapshot)
		page_field(page, "Note", "Sampling continues: this is an intermediate report.");
	else if (report_add_end(input, &page->text))
		page_end_field(page, "Note");
}
