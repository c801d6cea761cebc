/* SPDX-License-Identifier: MIT */
/* dump_internal.h - the words of a text dump. */
#ifndef WALLSAMPLE_REPORT_DUMP_INTERNAL_H
#define WALLSAMPLE_REPORT_DUMP_INTERNAL_H

#include "report/report_internal.h"
#include "wallsample/analysis/dump.h"

/* Adds "12 (worker)"; "12 (worker, process 10)" if there are several processes, and it is not the
 * first thread of its process. */
void dump_add_thread(const struct profile *profile, uint32_t id, struct page *page);
/* Adds a thread of the group as dump_add_thread() does. If the waits of the members differ in
 * length, also adds the time for which this thread has waited: "12 (worker) 3.20s". In a group of
 * several processes, of which the title has the names, the first thread of a process is its id. */
void dump_add_member(const struct profile *profile, const struct dump_group *group, uint32_t thread,
		     struct page *page);
/* Adds the label of a green task, as view_add_thread() does, but capitalised: "Task 17 taker". */
void dump_add_green(const struct view *view, uint32_t id, struct page *page);
/* Adds "mutex table_lock, held by thread 14 (writer), in copy_rows (table.c:42)". `function` and
 * `depth` are the stack of the thread. */
void dump_add_wait(const struct view *view, const struct dump_thread *thread,
		   const uint32_t *function, size_t depth, struct page *page);
/* Adds for how long the members of a group have waited, ", for 1.20s to 5m 10s"; nothing if that is
 * not known. */
void dump_add_waiting(const struct dump_group *group, struct page *page);
/* --- dump_processes.c ------------------------------------------------------------------------ */

/* Adds of which processes the threads of a group are: " of 58 processes, postgres: …", or " of
 * nginx: worker process (812)"; nothing if the dump is of one process. */
void dump_add_processes(const struct profile *profile, const struct dump_group *group,
			struct page *page);
/* Writes the processes of a dump of several: those that do the same work in one line, at most 10
 * lines. */
void dump_write_processes(const struct view *view, struct page *page);

/* --- dump_words.c ---------------------------------------------------------------------------- */

/* Writes how many threads can run, except for a core file, and the most contended locks. */
void dump_write_finding(const struct export_input *input, const struct dump *dump,
			struct page *page);

#endif
