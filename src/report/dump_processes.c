/* SPDX-License-Identifier: MIT */
/* dump_processes.c - names the processes of a dump of several. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/dump_internal.h"
#include "wallsample/analysis/process_table.h"
#include "wallsample/base/table.h"
#include "wallsample/report/display.h"
#include "wallsample/report/quantity.h"

/* Maximum width in cells of a title, which may be a long command line. */
#define TITLE_MOST 60
/* Maximum number of lines of the list of processes. */
#define LINES_MOST 10

static void
add_title(struct page *page, const char *title)
{
	struct strbuf shown = STRBUF_INIT;

	strbuf_add_escaped(&shown, title);
	display_add_fitted(&page->text, shown.length > 0 ? shown.data : "", TITLE_MOST);
	strbuf_release(&shown);
}

/* Returns the different processes of the group, group->processes of them; the caller frees the
 * array. */
static uint32_t *
list_processes(const struct profile *profile, const struct dump_group *group)
{
	uint32_t *process = xcalloc(group->processes + 1, sizeof(*process));
	struct table seen = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < group->count; i++) {
		const uint32_t of = profile_thread(profile, group->thread[i].thread)->process;
		bool added;

		table_insert(&seen, of, 0, 0, &added);
		if (added && count < group->processes)
			process[count++] = of;
	}
	table_release(&seen);
	return process;
}

void
dump_add_processes(const struct profile *profile, const struct dump_group *group, struct page *page)
{
	struct strbuf title = STRBUF_INIT;
	uint32_t *process;

	if (profile_process_count(profile) < 2)
		return;
	process = list_processes(profile, group);
	page_add(page, " of ");
	if (group->processes > 1)
		page_add(page, "%s processes, ", quantity_count(group->processes).text);
	process_add_common(profile, process, group->processes, &title);
	add_title(page, title.data);
	if (group->processes == 1)
		page_add(page, " (%jd)", (intmax_t)profile_process(profile, process[0])->pid);
	strbuf_release(&title);
	free(process);
}

void
dump_write_processes(const struct view *view, struct page *page)
{
	const struct profile *profile = view_profile(view);
	struct process_table table;

	if (profile_process_count(profile) < 2)
		return;
	process_table_make(view, NULL, NULL, &table);
	page->ops->section(page, "");
	for (size_t i = 0; i < table.count && i < LINES_MOST; i++) {
		const struct process_row *row = &table.row[i];

		if (row->count > 1)
			page_add(page, "%s processes, ", quantity_count(row->count).text);
		else
			page_add(page, "Process %jd, ",
				 (intmax_t)profile_process(profile, row->process)->pid);
		add_title(page, row->title);
		page_write(page, page->ops->rest, ": %s",
			   quantity_things(row->threads, "thread", "threads").text);
	}
	if (table.count > LINES_MOST)
		page_write(page, page->ops->rest, "… and %s",
			   quantity_things(table.count - LINES_MOST, "more", "more").text);
	process_table_release(&table);
}
