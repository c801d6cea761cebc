/* SPDX-License-Identifier: MIT */
/* report_summary.c - reports what limits the program. */
#include "report/report_internal.h"
#include "wallsample/analysis/finding.h"
#include "wallsample/report/quantity.h"

/*
 * The words of a sentence on each kind of finding (finding.h): the name of the finding, the text
 * before and behind its share, and the text before the name of its function.
 */
static const struct {
	const char *what, *before, *behind, *where;
} words[] = {
	[FINDING_CPU] = { "CPU", "for ", " of the time all CPUs that it may use were busy with it",
			  "; most CPU time went to " },
	[FINDING_SERIAL] = { "A serial part", "for ",
			     " of the time one thread ran alone, while there was more than one CPU",
			     "; most of that in " },
	[FINDING_LOCK] = { "A lock", "threads that had work waited for a lock for ",
			   " of their time", "; most of that in " },
	[FINDING_IO] = { "Input or output", "for ",
			 " of the time no thread could run until a file or disk had answered",
			 "; most of that in " },
	[FINDING_QUEUE] = { "Too few CPUs for its threads",
			    "threads that could run waited for a CPU for ",
			    " of that time, because of each other or of other programs",
			    "; most of that in " },
	[FINDING_GIL] = { "The interpreter's lock", "the GIL was held ", " of the time",
			  "; most of that in " },
	[FINDING_IDLE] = { "Nothing in the program itself", "for ",
			   " of the time all of its threads waited for replies, events, timers "
			   "or one another",
			   "; most of that ended in " },
};

static void
write_finding(const struct view *view, struct page *page, const struct finding *found)
{
	page_add(page, "%s%s (±%s)%s", words[found->kind].before,
		 quantity_percent(found->share).text, quantity_percent(found->margin).text,
		 words[found->kind].behind);
	if (found->kind == FINDING_GIL)
		page_add(page,
			 ", and %.1f threads waited for it on average: more threads will not make "
			 "it faster",
			 found->waiting);
	if (found->function < view_function_count(view))
		page_add(page, "%s%s", words[found->kind].where,
			 view_function(view, found->function)->label);
	page_field(page, words[found->kind].what, ".");
}

void
report_write_summary(const struct export_input *input, struct page *page)
{
	/* The findings recognise waits for locks by the names of functions, so they need a view
	 * by function. */
	const struct view *view = input->functions != NULL ? input->functions : input->view;
	struct findings findings;

	if (view_row_count(view) == 0)
		return;
	page->ops->heading(page, "What limits it");
	if (input->filtered) {
		page->ops->paragraph(page, "Not determined: options have selected a part of "
					   "the samples.");
		return;
	}
	if (profile_deadlock_count(view_profile(view)) > 0)
		page->ops->paragraph(page, "There is a deadlock, shown below: threads wait for "
					   "one another.");
	findings_make(view, input->stats->cpus, &input->stats->division, &findings);
	if (findings.count == 0)
		page->ops->paragraph(page, "Nothing stands out: no rule finds more than its "
					   "threshold and the margin of error.");
	else
		page->ops->paragraph(page, "By the rules in wallsample-theory(7), the most real "
					   "time first; in brackets the margin of error.");
	for (size_t i = 0; i < findings.count; i++)
		write_finding(view, page, &findings.item[i]);
}
