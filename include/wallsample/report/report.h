/* SPDX-License-Identifier: MIT */
/*
 * report.h - the readable report: its exporters for a terminal and for documents, its titles, and
 * the tables that JSON shares with it.
 */
#ifndef WALLSAMPLE_REPORT_REPORT_H
#define WALLSAMPLE_REPORT_REPORT_H

#include "wallsample/report/export.h"
#include "wallsample/report/json_stream.h"

/* The text of exporter.absent for the formats that a build without libcmark-gfm lacks. */
#define DOCUMENT_ABSENT                                                                            \
	"wallsample was built without libcmark-gfm; with it there, configure "                     \
	"--with-cmark builds it in"

extern const struct exporter exporter_text;
extern const struct exporter exporter_markdown;
extern const struct exporter exporter_latex;
extern const struct exporter exporter_man;

/* Words for the rows of a table of functions, of threads, and so on. */
struct report_key_words {
	const char *title;  /* title of the column with the names of rows: "function (module)" */
	const char *plural; /* plural noun with a capital letter: "Functions" */
	const char *one, *many; /* nouns: "function", "functions" */
};
/* indexed by enum view_key; there is no element for VIEW_BY_ADDRESS */
extern const struct report_key_words report_key_words[];

/*
 * Adds "3 threads not sampled, 1.20s of CPU time" and, if some of these threads ended during the
 * run, how many ended. Returns true; if no thread is excluded, adds nothing and returns false.
 */
bool report_add_excluded(const struct run_excluded *excluded, struct strbuf *out);

/* The same of processes: "3 processes not sampled, 1.20s of CPU time". */
bool report_add_excluded_processes(const struct run_excluded_processes *excluded,
				   struct strbuf *out);

/* If the input has n > 1 processes, adds " and n - 1 others", to follow the name of the first. */
void report_add_others(const struct export_input *input, struct strbuf *out);

/* --- JSON values that several exporters share; the caller owns returned values --------------- */

/* Returns an object with the pid, name and command_line of the process. */
json_t *json_process(struct json_stream *stream, const struct process *process);
/* As json_process, of a process of a profile. */
json_t *json_profile_process(struct json_stream *stream, const struct profile *profile,
			     uint32_t id);
/* Returns a list of all processes of a profile. */
json_t *json_profile_processes(struct json_stream *stream, const struct profile *profile);
/*
 * If threads are excluded, sets object[key] to an object with the number of excluded threads, the
 * number of those that ended, and their CPU time. Otherwise does nothing.
 */
void json_set_excluded(json_t *object, const char *key, const struct run_excluded *excluded);
/* The same of processes: the object has their number, "processes", and their CPU time. */
void json_set_excluded_processes(json_t *object, const char *key,
				 const struct run_excluded_processes *excluded);
/*
 * Adds the members "state" and "syscall" to the object. "syscall" is the name of the system call in
 * which the thread sleeps, or its number as a text if it has no name; "unknown" if it could not be
 * read; null if the thread does not sleep in a system call.
 */
void json_add_state(json_t *object, enum run_state state, int32_t syscall);
/* Adds the member "process" of a thread if the profile has several processes: the index in the list
 * that report_json_processes() writes. */
void json_add_process(const struct view *view, uint32_t thread, json_t *to);
/*
 * Adds the members "tid", "process" (json_add_process()) and "name" of a thread of the profile.
 * "tid" is null for a green task (green_task.h), and for a record that threads of the same name
 * share. For a task, "name" is the label that view_add_thread() makes, and these members are
 * added: "noun", the runtime's word for a task; "system", whether the task belongs to the runtime;
 * and if they are known, "task" (its id), "entry", "created_at" and "creator".
 */
void json_add_thread(struct json_stream *stream, const struct view *view, uint32_t thread,
		     json_t *to);

/* --- tables of the report as JSON ------------------------------------------------------------- */

/*
 * Writes the list "causes" (missing if options exclude samples), the list "places" and the number
 * "idle_threads": why the program is slow, and where its time goes. Writes nothing for lock
 * holders.
 */
void report_json_first(const struct export_input *input, struct json_stream *stream);
/* Writes the list "targets" of all processes, if there are several. */
void report_json_processes(const struct export_input *input, struct json_stream *stream);
/* Writes the list "states": the samples and the time of each state and system call. */
void report_json_states(const struct view *view, struct json_stream *stream);
/*
 * Writes the object "scheduled": the states of the green tasks. Writes nothing
 * without tasks.
 */
void report_json_green(const struct view *view, const struct run_stats *stats,
		       struct json_stream *stream);
/*
 * Writes the list "waits": the awaited objects, each with up to 20 stacks of waiters and up to 20
 * of lock holders.
 */
void report_json_waiting(const struct export_input *input, struct json_stream *stream);
/*
 * Writes the object "gil": how long threads held an interpreter's lock and waited for it. Writes
 * nothing if no interpreter has a lock.
 */
void report_json_gil(const struct view *view, struct json_stream *stream);

#endif
