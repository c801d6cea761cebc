/* SPDX-License-Identifier: MIT */
/*
 * report.h - what the report for people says, whoever lays it out.
 */
#ifndef WALLSAMPLE_REPORT_REPORT_H
#define WALLSAMPLE_REPORT_REPORT_H

#include "wallsample/report/page.h"
#include "wallsample/report/export.h"
#include "wallsample/analysis/result.h"

/* Why a build without libcmark-gfm has no documents: struct exporter.absent. */
#define DOCUMENT_ABSENT                                                                           \
	"wallsample was built without libcmark-gfm; with it there, configure "                    \
	"--with-cmark builds it in"

extern const struct exporter exporter_text;
extern const struct exporter exporter_markdown;
extern const struct exporter exporter_latex;
extern const struct exporter exporter_man;

/* All of it, from the process to what it cost. */
void report_write(const struct export_input *input, struct page *page);

/* The same of two runs: what changed. */
void report_diff_write(const struct diff_input *input, struct page *page);

/* What experiments found, from the process to what they cost. */
void report_causal_write(const struct causal_input *input, struct page *page);

/* --- the parts that stand in files of their own -------------------------------------- */

/* Cells of a time, of a share, and "name (module)". `sb` is for scratch. */
void report_add_time_cell(struct columns *table, struct strbuf *sb, int64_t ns);
void report_add_share_cell(struct columns *table, struct strbuf *sb, int64_t part, int64_t whole);
void report_add_function_cell(struct columns *table, const struct view_function *function);
/* "2.13": mean of how many threads ran at once; "-" of what never ran. */
void report_add_parallelism_cell(struct columns *table, struct strbuf *sb, int64_t overhead_ns,
				 int64_t busy_ns);

/* How rows are called, by enum view_key. */
struct report_key_words {
	const char *title, *plural, *one, *many, *other, *others;
};
extern const struct report_key_words report_key_words[];

/* What weights mean, and what their columns are called, by enum weight. */
struct report_weight_words {
	const char *title, *share, *meaning, *noun;
};
extern const struct report_weight_words report_weight_words[];

/* "latency%" */
const char *weight_share_title(enum weight weight);
/* Adds "3 threads, 1.2 s of CPU time"; adds nothing and returns false if no thread is excluded. */
bool report_add_excluded(const struct run_excluded *excluded, struct strbuf *out);

/* "… and 12 more functions", by one of the page's writers; nothing if there are no more. */
void report_write_rest(struct page *page, void (*write)(struct page *, const char *), size_t count,
		       size_t limit, const char *one, const char *many);

/* The call tree, and the callers and callees of what is in focus. */
void report_write_tree(const struct export_input *input, struct page *page);
void report_write_focus(const struct export_input *input, struct page *page);

/* "±1.5%": how sure the share is, of what so many ticks are worth. */
void report_add_margin_cell(struct columns *table, struct strbuf *sb, int64_t part, int64_t whole,
			    double ticks);

/* What limits the program, in words. */
void report_write_summary(const struct export_input *input, struct page *page);

/* "A share of 10% is sure to ±1.5% …" */
void report_add_margins(struct strbuf *sb, const struct export_input *input);
/* "; a half is sure to ±5%", of so much of the weight that is sorted by. */
void report_add_margin_of_half(struct strbuf *sb, const struct export_input *input,
			       int64_t whole_ns);

/* How many threads ran at once, in real time and in CPU time, and what that cost. */
void report_write_parallelism(const struct export_input *input, struct page *page);

/* Threads that wait for one another; nothing if there are none. */
void report_write_deadlocks(const struct view *view, struct page *page);
/* What tasks did, and the threads that ran them; nothing without tasks. */
void report_write_tasks(const struct export_input *input, struct page *page);
/* How much each thread and task did. */
void report_write_threads(const struct export_input *input, struct page *page);
bool report_has_tasks(const struct export_input *input);
/* A thread's name alone; of tasks "NOUN 17 main.taker", "1,000 NOUNs main.taker". */
void report_add_unit(struct strbuf *sb, const struct export_input *input,
		     const struct thread_row *row);

/* What threads waited for, and who kept them waiting. */
void report_write_waiting(const struct export_input *input, struct page *page);

/* Who had the interpreter's lock, and who waited for it; nothing where there is none. */
void report_write_gil(const struct export_input *input, struct page *page);

/* The end of what experiments found: what makes it less sure, and what it cost. */
void report_write_causal_cost(const struct causal_input *input, struct page *page);

/* The closing block: what sampling cost, and what it missed. */
void report_write_cost(const struct export_input *input, struct page *page);

#endif
