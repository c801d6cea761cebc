/* SPDX-License-Identifier: MIT */
/*
 * report_internal.h - the parts of a report, their shared titles and cells.
 */
#ifndef WALLSAMPLE_REPORT_REPORT_INTERNAL_H
#define WALLSAMPLE_REPORT_REPORT_INTERNAL_H

#include "wallsample/analysis/result.h"
#include "wallsample/analysis/waiting.h"
#include "wallsample/report/export.h"
#include "wallsample/report/page.h"
#include "wallsample/report/report.h"
#include "wallsample/report/report_table.h"

/* --- whole reports ---------------------------------------------------------------------------- */

/* Writes a report, a comparison or a causal profile. */
void report_write(const struct export_subject *subject, struct page *page);
void report_diff_write(const struct diff_input *input, struct page *page);
void report_causal_write(const struct causal_input *input, struct page *page);
/* Write a dump, and the user-space tasks of a dump, to the page of a terminal. */
void text_dump_write(const struct export_input *input, struct page *page);
void text_tasks_write(const struct async_tasks *tasks, struct page *page);

/* --- parts: each writes nothing when it has nothing to report --------------------------------- */

/* Summary: what limits the program. */
void report_write_summary(const struct export_input *input, struct page *page);
/* Threads that wait for one another in a ring. */
void report_write_deadlocks(const struct view *view, struct page *page);
/* The call tree; the callers and callees of the functions in focus. */
void report_write_tree(const struct export_input *input, struct page *page);
void report_write_focus(const struct export_input *input, struct page *page);
/* Number of threads that ran at once, in real and CPU time, and the gain of more parallelism. */
void report_write_parallelism(const struct export_input *input, struct page *page);
/* States of a runtime's tasks, and of the threads that run them. */
void report_write_tasks(const struct export_input *input, struct page *page);
/* Locks and other awaited objects, by the time of waiters, with the lock holders. */
void report_write_waiting(const struct export_input *input, struct page *page);
/* How long threads held an interpreter's lock and waited for it. */
void report_write_gil(const struct export_input *input, struct page *page);
/* Running share and time of each thread and task. */
void report_write_threads(const struct export_input *input, struct page *page);
/* Cost of sampling, and missed samples. */
void report_write_cost(const struct export_input *input, struct page *page);
/* Reasons for doubt in experiments, and their cost. */
void report_write_causal_cost(const struct causal_input *input, struct page *page);

/* --- words ------------------------------------------------------------------------------------ */

/* Meanings of weights, and titles of their columns, by enum weight. */
struct report_weight_words {
	const char *title, *share, *meaning, *noun;
};
extern const struct report_weight_words report_weight_words[];

/* True if the view has tasks of a runtime. */
bool report_has_tasks(const struct export_input *input);
/* Adds the name of a thread, or of a unit of tasks: "NOUN 17 main.taker", "1,000 NOUNs main.taker".
 * Foreign bytes are not escaped. */
void report_add_unit(struct strbuf *out, const struct export_input *input,
		     const struct thread_row *row);
/* Writes a field with the share of all samples that the view has. */
void report_write_selected(const struct view *view, const char *label, struct page *page);
/* Adds "2.13", the mean number of threads on a CPU; "-" if busy_ns is 0. */
void report_add_parallelism(struct strbuf *out, int64_t overhead_ns, int64_t busy_ns);

/* --- pages on a terminal ---------------------------------------------------------------------- */

struct text_page {
	struct page page; /* the first member: a pointer to it is one to the text_page */
	FILE *out;
};

/* Returns a page of `columns` cells, or of 100 cells if it is 0. The caller releases page.text. */
struct text_page text_page_make(unsigned columns, FILE *out);

/* --- over time (time/waiting_bins.c) ---------------------------------------------------------- */

/* Number of parts of the sampled time. */
#define WAITING_BINS 12

/*
 * Returns the waiters' time in ns, WAITING_BINS numbers per row of the table; the caller frees the
 * array. NULL without a recording, or with several, whose times differ.
 */
double *waiting_bins_make(const struct export_input *input, const struct waiting *waiting);
/* Adds one bar per part, scaled to the largest; nothing if all are empty. */
void waiting_bins_add(const double *bin, struct strbuf *out);

#endif
