/* SPDX-License-Identifier: MIT */
/*
 * first_internal.h - the first screen of a report: why the program is slow, and where its time
 * goes, in the program's own functions.
 */
#ifndef WALLSAMPLE_REPORT_FIRST_INTERNAL_H
#define WALLSAMPLE_REPORT_FIRST_INTERNAL_H

#include "report/report_internal.h"
#include "wallsample/analysis/finding.h"
#include "wallsample/analysis/code_places.h"
#include "wallsample/analysis/process_table.h"

/* --- causes ------------------------------------------------------------------------------ */

/* Maximum number of details of a cause. */
#define CAUSE_DETAILS_MOST 4

/* A line below a cause, such as "held by", "audit lock.c:9, waiting for a CPU 76%". */
struct cause_detail {
	const char *label;
	char *text;
};

/* A command that shows more. */
struct suggestion {
	const char *options; /* for a report of the same program */
	char *command;       /* a whole command in place of `options`; NULL: none; owned */
	const char *why;     /* what it shows; NULL: there is no suggestion */
};

/* An initialiser: the stacks of threads that held an interpreter's lock. */
#define FIRST_GIL_HOLDERS                                                                          \
	{                                                                                          \
		.options = "--gil has --tree", .why = "the lock holders"                           \
	}

/* Why the program is slow: a sentence, and the functions that it is about. Texts are not
 * escaped. */
struct cause {
	const char *title; /* "Lock" */
	char *text;        /* "mutex book_lock: 6 threads waited 69% of their time for it" */
	struct cause_detail detail[CAUSE_DETAILS_MOST];
	size_t details;
	struct suggestion next;
};

struct causes {
	struct cause *cause; /* the most real time first */
	size_t count;
};

/* --- the screen -------------------------------------------------------------------------- */

/* What the first screen is made of. */
struct first {
	const struct export_input *input;
	const struct view *view; /* by function */
	/* those of the input; for a part of a run, without the values that are known only for the
	 * whole run */
	struct run_stats stats;
	struct own own;
	struct waiting waiting;
	struct places places;
	struct findings findings; /* empty if options exclude samples, like `causes` */
	struct causes causes;
	struct process_table processes;
};

/* Fills `out`, which first_release() releases. `input` must outlive it. */
void first_make(const struct export_input *input, struct first *out);
void first_release(struct first *first);

/* Largest rate per second that is shown: a damaged recording may have any counters. */
#define RATE_MOST 1e15

/* --- saying causes ---------------------------------------------------------------------- */

/* Fills first->causes from the other members. */
void causes_make(struct first *first);
void causes_release(struct causes *causes);

/* Takes the text of a cause, or a detail unless the text is empty, and makes `text` empty. */
void cause_set_text(struct cause *cause, struct strbuf *text);
void cause_add_detail(struct cause *cause, const char *label, struct strbuf *text);
/* Sets the command that shows more about the cause, takes `command` and makes it empty. */
void cause_set_next(struct cause *cause, struct strbuf *command, const char *why);
/* Adds the detail `label` with the function of the finding, if it has one. */
void cause_add_function(const struct first *first, const struct finding *found, const char *label,
			struct cause *cause);

/* Say what a finding is about: set the text of the cause, and add its details. */
void first_say_lock(const struct first *first, const struct finding *found, struct cause *cause);
void first_say_disk(const struct first *first, const struct finding *found, struct cause *cause);
void first_say_idle(const struct first *first, const struct finding *found, struct cause *cause);
void first_say_stopped(const struct first *first, const struct finding *found, struct cause *cause);
void first_say_limit(const struct first *first, const struct finding *found, struct cause *cause);
void first_say_calls(const struct first *first, const struct finding *found, struct cause *cause);
void first_say_spin(const struct first *first, const struct finding *found, struct cause *cause);
/* Returns the lock for which threads waited longest; NULL if there is none, or if it does not have
 * most of the waits for locks. */
const struct waiting_row *first_main_lock(const struct first *first);
/* The holders of a lock, or the threads of awaited processes, with one place. */
struct holding {
	const struct waiting_stack *stack; /* one of them; NULL: unknown */
	/* text of the named frame in place of the holder's function; NULL: the holder is known */
	const char *named;
	int64_t ns, in_state[RUN_STATE_COUNT];
};

/* Returns the place that held the object, or in which the awaited process was, for most of the time
 * that others waited. */
struct holding first_main_holder(const struct first *first, const struct waiting_row *row);
/* Adds ", waiting for a CPU 76%": the state that the holder was in for most of the time. */
void first_add_holder_state(const struct holding *holding, struct strbuf *out);
/* Adds what the process at the other end of what the place waits for, or the child, did meanwhile.
 * Returns false if that process was not sampled. In first_peers.c. */
bool first_add_peer(const struct first *first, const struct place_row *row, struct cause *cause);
/* True if the waits for locks are mostly for the lock of an interpreter. */
bool first_lock_is_gil(const struct first *first);

/* Returns the mean number of CPUs that the program used. */
double first_cpus_used(const struct first *first);
/* Adds "0.3 of 2 CPUs". */
void first_add_cpus_used(const struct first *first, struct strbuf *out);
/* Adds a function and the line where it spent most time: "audit lock.c:9". */
void first_add_place_of(const struct first *first, uint32_t function, struct strbuf *out);
/* Adds the place of a stack of the profile with its source line, and at most `most` of the
 * program's own functions that called it, the innermost first: "sleep_for x.c:3, called by audit,
 * run". */
void first_add_stack(const struct first *first, uint32_t stack, size_t most, struct strbuf *out);
/* Adds what a thread waits for: "mutex table_lock", "GIL", "sleeping in epoll_wait". */
void first_add_wait(const struct first *first, const struct place_wait *wait, struct strbuf *out);
/* Adds what a place mostly waits for, and if that has no name, one that has: "socket receive, e.g.
 * tcp to 10.0.0.7:443". */
void first_add_wait_of(const struct first *first, const struct place_row *row, struct strbuf *out);
/* Adds the name of a function and its source line: "audit lock.c:9". */
void first_add_place(const struct first *first, uint32_t function, const char *file, uint32_t line,
		     struct strbuf *out);
/* Adds the name of a function; for one without a symbol its module, "[server]". */
void first_add_function(const struct first *first, uint32_t function, struct strbuf *out);
/* Adds "lock.c:9"; nothing if the file is not known. */
void first_add_line(const struct first *first, uint32_t function, const char *file, uint32_t line,
		    struct strbuf *out);

/* --- parts of the page ------------------------------------------------------------------- */

/* Write the line about the run, at most `most` causes, at most `rows` places, and what was left out
 * and how good the numbers are. */
void first_write_head(const struct first *first, struct page *page);
/* Writes what part of a run is shown, when it was recorded, and that it has not ended or that the
 * process has exited: a line for each that applies. */
void first_write_notes(const struct first *first, struct page *page);
void first_write_causes(const struct first *first, size_t most, struct page *page);
void first_write_places(const struct first *first, size_t rows, struct page *page);
/* Writes the first rows of the table of processes, if there are several processes. */
void first_write_processes(const struct first *first, size_t rows, struct page *page);
void first_write_quality(const struct first *first, struct page *page);
/* Writes which language runtimes were not read, if there are any. */
void first_write_unread(const struct first *first, struct page *page);
/* Writes commands that show more, on a terminal; nothing if no command is known or it is too long
 * for a line. */
void first_write_next(const struct first *first, struct page *page);

#endif
