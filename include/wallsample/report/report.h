/* SPDX-License-Identifier: MIT */
/*
 * report.h - the readable report: its exporters for a terminal and for documents, its titles, and
 * the tables that JSON shares with it.
 */
#ifndef WALLSAMPLE_REPORT_REPORT_H
#define WALLSAMPLE_REPORT_REPORT_H

#include "wallsample/report/export.h"
#include "wallsample/report/json_stream.h"

/* Why a build without libcmark-gfm has no documents: struct exporter.absent. */
#define DOCUMENT_ABSENT                                                                            \
	"wallsample was built without libcmark-gfm; with it there, configure "                     \
	"--with-cmark builds it in"

extern const struct exporter exporter_text;
extern const struct exporter exporter_markdown;
extern const struct exporter exporter_latex;
extern const struct exporter exporter_man;

/* Titles and nouns of rows, by enum view_key. */
struct report_key_words {
	const char *title, *plural, *one, *many, *other, *others;
};
extern const struct report_key_words report_key_words[];

/* Returns the column title of shares, "latency%". */
const char *weight_share_title(enum weight weight);
/* Adds "3 threads, 1.2 s of CPU time"; adds nothing and returns false if no thread is excluded. */
bool report_add_excluded(const struct run_excluded *excluded, struct strbuf *out);

/* JSON values that several exporters share; the caller owns returned values. */

/* An object with the process' pid, name and command_line. */
json_t *json_process(struct json_stream *stream, const struct process *process);
/* Sets object[key] to the excluded threads; no key if there are none. */
void json_set_excluded(json_t *object, const char *key, const struct run_excluded *excluded);
/* Adds the members "state" and "syscall": the system call of a sleep, or null. */
void json_add_state(json_t *object, enum run_state state, int32_t syscall);
/* Adds "tid" and "name" of a thread; for a task of a runtime a null tid and more members. */
void json_add_thread(struct json_stream *stream, const struct view *view, uint32_t thread,
		     json_t *to);

/* Tables of the report as JSON. */

/* Writes the list "states". */
void report_json_states(const struct view *view, struct json_stream *stream);
/* Writes the object "scheduled": states of a runtime's tasks; nothing without tasks. */
void report_json_tasks(const struct view *view, const struct run_stats *stats,
		       struct json_stream *stream);
/* Writes the list "waits". */
void report_json_waiting(const struct view *view, struct json_stream *stream);
/* Writes the object "gil"; nothing without an interpreter that has such a lock. */
void report_json_gil(const struct view *view, struct json_stream *stream);

#endif
