/* SPDX-License-Identifier: MIT */
/*
 * report_internal.h - functions that write the parts of a report, and titles and texts that several
 * parts have in common.
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

/* Writes a subject of any kind: a report, a comparison or a causal profile. */
void report_write(const struct export_subject *subject, struct page *page);
/* Writes the tables that options ask for, below a first screen. */
void report_write_asked(const struct export_input *input, struct page *page);
void report_diff_write(const struct diff_input *input, struct page *page);
void report_causal_write(const struct causal_input *input, struct page *page);
/* Writes a paragraph for each reason why the results are less certain, if there are any. */
void report_causal_doubts_write(const struct causal_result *result, struct page *page);
/* Write a whole dump, or only its coroutines (async_tasks.h), to the page of a terminal. */
void text_dump_write(const struct export_input *input, struct page *page);
void text_async_write(const struct async_tasks *tasks, struct page *page);

/* --- parts: each writes nothing when it has nothing to report --------------------------------- */

/* Writes what was sampled: processes, runtimes, threads, time. */
void report_write_header(const struct export_input *input, struct page *page);
/* Writes the deadlocks: the threads of each ring of threads that wait for one another. */
void report_write_deadlocks(const struct view *view, struct page *page);
/* Writes the call tree, at most input->tree nodes. */
void report_write_tree(const struct export_input *input, struct page *page);
/* Writes the callers and callees of the functions that match input->focus. */
void report_write_focus(const struct export_input *input, struct page *page);
/*
 * Writes how many threads ran at once, what more parallelism would gain, and how long no thread
 * could run, by the wait whose end let a thread run again.
 */
void report_write_parallelism(const struct export_input *input, struct page *page);
/* Writes the states of green tasks, and of the threads that run them. */
void report_write_green(const struct export_input *input, struct page *page);
/*
 * Writes the locks and other objects that threads waited for, and the lock holders. A report by
 * lock has all objects up to input->limit. Any other report has up to three objects in memory and
 * up to three other objects: those with the longest waits, of which each has at least the share
 * LEAST_SHARE (report_waiting.c) of the wall time.
 */
void report_write_waiting(const struct export_input *input, struct page *page);
/* Writes how long threads held an interpreter's lock and waited for it. */
void report_write_gil(const struct export_input *input, struct page *page);
/*
 * Writes the wall time of each thread and green task, and the share of this time in which the
 * thread or task was running or waited for a CPU.
 */
void report_write_threads(const struct export_input *input, struct page *page);
/* Writes the time of each process, if there are several. */
void report_write_processes(const struct export_input *input, struct page *page);
/* Adds the processes of the profile in words: "5 processes: nginx (812 and 4 others)", or of a
 * single process its name and pid. */
void report_add_processes(const struct export_input *input, struct strbuf *out);
/* Writes the cost of sampling, and missed samples. */
void report_write_cost(const struct export_input *input, struct page *page);

/*
 * Writes a table of functions for each process if input->by_process is set, and for each thread and
 * green task if input->by_thread is set; at most 10 tables of both.
 */
void report_write_apart(const struct export_input *input, struct page *page);
/* Writes the functions of the program itself, and all functions, at most input->limit each. */
void report_write_functions(const struct export_input *input, struct page *page);
/* Writes the first `limit` rows of `top`. total_ns[weight] is 100% of the shares of a weight. */
void report_write_top(const struct export_input *input, const struct top_table *top,
		      const int64_t *total_ns, size_t limit, struct page *page);

/* --- words ------------------------------------------------------------------------------------ */

struct report_weight_words {
	const char *title;   /* title of a column with times: "wall" */
	const char *share;   /* title of a column with shares: "wall%" */
	const char *meaning; /* the order of a table: "by Wall: the time that …" */
	const char *noun;    /* follows a time: "of Wall (all threads together)" */
};
extern const struct report_weight_words report_weight_words[]; /* indexed by enum weight */

/*
 * Returns the words for a weight, of which callers use `meaning` and `noun`. If green tasks of a
 * runtime were sampled, Wall includes the time of tasks, and the words for Wall say so; their other
 * members are NULL.
 */
const struct report_weight_words *report_words_of(const struct export_input *input,
						  enum weight weight);

/* Adds a sentence if the process exited while it was sampled. Returns false if it did not. */
bool report_add_end(const struct export_input *input, struct strbuf *out);
/* True if one of the selected samples is of a green task. */
bool report_has_green(const struct export_input *input);
/*
 * Adds the name of a thread, "pool", or the label of a green task, "NOUN 17 main.taker", or of
 * several tasks, "1,000 NOUNs main.taker", where NOUN is the runtime's word for a task. `row` is a
 * row of thread_table_make_units(). The text is not escaped.
 */
void report_add_unit(struct strbuf *out, const struct export_input *input,
		     const struct thread_row *row);
/* Writes a field with the share of all wall time that is in the samples selected by options. */
void report_write_selected(const struct view *view, const char *label, struct page *page);
/* Writes the lines of a dump about the language runtimes that were read, and that were not. */
void report_write_runtimes(const struct run_stats *stats, struct page *page);

/*
 * Adds the mean number of threads on a CPU, cpu_ns divided by busy_ns (see struct top_row):
 * "2.13"; "-" if busy_ns is 0.
 */
void report_add_parallelism(struct strbuf *out, int64_t cpu_ns, int64_t busy_ns);

/* --- pages on a terminal ---------------------------------------------------------------------- */

struct text_page {
	/* must be the first member: a pointer to it is cast to struct text_page * */
	struct page page;
	FILE *out;
};

/*
 * Returns a page that is `columns` cells wide, but at least 40, or 100 cells if `columns` is 0. The
 * caller releases page.text and closes `out`.
 */
struct text_page text_page_make(unsigned columns, FILE *out);

/* --- waits over time -------------------------------------------------------------------------- */

/* Number of bins: parts of equal length into which the sampled time is divided. */
#define WAITING_BINS 12

/*
 * Sums the waits over the selected time of the recordings, from the first to the last selected
 * tick. Raises `most` of each row to the largest number of threads that waited at once, as a mean
 * over about ten ticks; recordings of one group (recording_read.h) are added over time. Returns the
 * time of waiters in ns, WAITING_BINS numbers for each row of `waiting`; the caller frees the
 * array. Returns NULL if the input has no recording or recordings of several groups, or if no tick
 * is selected. An error of a recording is stored in input->error.
 */
double *waiting_bins_make(const struct export_input *input, const struct waiting *waiting);
/* Adds one character for each bin, a bar from "▁" to "█": the largest bin has "█", 0 has " ". */
void waiting_bins_add(const double bin[WAITING_BINS], struct strbuf *out);

#endif
