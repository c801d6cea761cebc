/* SPDX-License-Identifier: MIT */
/* first_causes.c - says in plain words why a program is slow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/first_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/report/quantity.h"
#include "wallsample/runtime/language.h"

/* Maximum number of callers that are named for a wait. If a program wraps every wait in functions
 * of its own, the innermost ones say little. */
#define CALLERS_MOST 5
/* If the program used less than this part of its CPUs, other programs caused the lack of CPUs. */
#define OTHER_LOAD 0.75
/* A file is named if it has at least this part of the blocked time of its place. */
#define FILE_LEAST 0.5

/* --- other causes ------------------------------------------------------------------------ */

static void
say_cpu(const struct first *first, const struct finding *found, struct cause *cause)
{
	struct strbuf text = STRBUF_INIT;
	const unsigned cpus = first->input->stats->cpus;

	if (cpus == 1)
		strbuf_add_format(&text,
				  "the only CPU that the program may use was busy with it "
				  "%s of the time",
				  quantity_percent(found->share).text);
	else
		strbuf_add_format(&text,
				  "all %s that the program may use were busy with it %s of "
				  "the time",
				  cpus > 0 ? quantity_things(cpus, "CPU", "CPUs").text : "CPUs",
				  quantity_percent(found->share).text);
	cause_set_text(cause, &text);
	cause_add_function(first, found, "mostly in", cause);
}

static void
say_serial(const struct first *first, const struct finding *found, struct cause *cause)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_add_format(&text,
			  "only one thread was running %s of the time, and no other waited for a "
			  "CPU; the program used ",
			  quantity_percent(found->share).text);
	first_add_cpus_used(first, &text);
	cause_set_text(cause, &text);
	cause_add_function(first, found, "runs in", cause);
}

static void
say_queue(const struct first *first, const struct finding *found, struct cause *cause)
{
	const unsigned cpus = first->input->stats->cpus;
	const bool others = cpus > 0 && first_cpus_used(first) < OTHER_LOAD * cpus;
	struct strbuf text = STRBUF_INIT;

	if (others)
		cause->title = "Other load";
	strbuf_add_format(&text,
			  "runnable threads waited for a CPU %s of the time; the program used %s",
			  quantity_percent(found->share).text, others ? "only " : "");
	first_add_cpus_used(first, &text);
	cause_set_text(cause, &text);
	cause_add_function(first, found, "waits in", cause);
}

static void
say_gil(const struct first *first, const struct finding *found, struct cause *cause)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_add_format(&text,
			  "held %s of the time; %.1f threads waited for it on average. More "
			  "threads do not make the program faster",
			  quantity_percent(found->share).text, found->waiting);
	cause->title = language_lock(first->input->stats->runtimes);
	cause_set_text(cause, &text);
	cause_add_function(first, found, "held in", cause);
}

/* Returns the place with the most blocked time for a file (`files`), or for anything but a file or
 * a lock; NULL: there is none. */
static const struct place_row *
main_blocked(const struct first *first, bool files)
{
	const struct place_row *best = NULL;

	for (size_t i = 0; i < first->places.count; i++) {
		const struct place_row *row = &first->places.row[i];
		const bool file = row->wait.kind == WAIT_FILE ||
				  finding_waits_for_file(row->wait.state, row->wait.syscall);

		if (row->wait_ns > 0 && file == files && !first_is_lock(row->wait.kind) &&
		    (best == NULL || row->ns[PLACE_BLOCKED] > best->ns[PLACE_BLOCKED]))
			best = row;
	}
	return best;
}

static void
add_blocked_in(const struct first *first, const struct place_row *row, struct cause *cause)
{
	struct strbuf text = STRBUF_INIT;

	if (row != NULL && row->stack != STACK_NONE)
		first_add_stack(first, row->stack, CALLERS_MOST, &text);
	cause_add_detail(cause, "waits in", &text);
}

/* Adds what is waited for; "sleeping in poll" if that is not known. */
static void
add_blocked_for(const struct first *first, const struct place_row *row, struct cause *cause)
{
	struct strbuf wait = STRBUF_INIT;

	if (row == NULL)
		return;
	first_add_wait(first, &row->wait, &wait);
	cause_add_detail(cause, row->wait.row < first->waiting.count ? "waits for" : "", &wait);
}

/* Continues the sentence for a page fault. */
static void
say_fault(const struct first *first, struct strbuf *text, struct cause *cause)
{
	const struct run_stats *stats = &first->stats;
	const double faults = (double)first->stats.work.major_faults;

	cause->title = "Page faults";
	strbuf_add_text(text, "memory to be read from a file or swap");
	if (faults > 0 && stats->elapsed_ns > 0)
		strbuf_add_format(text, "; %s per second",
				  quantity_things((uint64_t)fmin(faults * (double)NS_PER_SEC /
									 (double)stats->elapsed_ns,
								 RATE_MOST),
						  "such page fault", "such page faults")
					  .text);
}

static void
say_disk(const struct first *first, const struct finding *found, struct cause *cause)
{
	struct strbuf text = STRBUF_INIT;

	const struct place_row *row = main_blocked(first, true);

	strbuf_add_format(&text, "%s of the time all threads were waiting for ",
			  quantity_percent(found->share).text);
	if (row != NULL && row->wait.syscall == SYSCALL_NONE)
		say_fault(first, &text, cause);
	else if (row != NULL && row->wait.row < first->waiting.count &&
		 (double)row->wait_ns >= FILE_LEAST * (double)row->ns[PLACE_BLOCKED])
		strbuf_add_format(&text, "%s to be read or written",
				  first->waiting.row[row->wait.row].object);
	else
		strbuf_add_text(&text, "files or a disk");
	cause_set_text(cause, &text);
	add_blocked_in(first, row, cause);
}

/* True if the wait is for another program or a child process. */
static bool
waits_for_peer(const struct place_row *row)
{
	const enum wait_kind kind = row != NULL ? row->wait.kind : WAIT_NONE;

	return kind == WAIT_SOCKET_READ || kind == WAIT_SOCKET_WRITE || kind == WAIT_CONNECT ||
	       kind == WAIT_PIPE_READ || kind == WAIT_PIPE_WRITE || kind == WAIT_CHILD;
}

static void
say_idle(const struct first *first, const struct finding *found, struct cause *cause)
{
	const struct place_row *row = main_blocked(first, false);
	struct strbuf text = STRBUF_INIT;

	if (waits_for_peer(row)) {
		cause->title = "Outside";
		strbuf_add_format(&text, "%s of the time every thread was waiting, mostly in ",
				  quantity_percent(found->share).text);
		first_add_wait(first, &row->wait, &text);
		cause_set_text(cause, &text);
		add_blocked_in(first, row, cause);
		return;
	}
	strbuf_add_format(&text,
			  "%s of the time every thread was waiting: the program had no work, or "
			  "what it waits for is slow",
			  quantity_percent(found->share).text);
	cause_set_text(cause, &text);
	add_blocked_in(first, row, cause);
	add_blocked_for(first, row, cause);
}

static const struct {
	const char *title;
	void (*say)(const struct first *first, const struct finding *found, struct cause *cause);
} rows[FINDING_COUNT] = {
	[FINDING_CPU] = { "CPU", say_cpu },
	[FINDING_SERIAL] = { "One thread", say_serial },
	[FINDING_LOCK] = { "Lock", first_say_lock },
	[FINDING_IO] = { "Disk", say_disk },
	[FINDING_QUEUE] = { "Few CPUs", say_queue },
	[FINDING_GIL] = { "GIL", say_gil },
	[FINDING_STOPPED] = { "Stopped", first_say_stopped },
	[FINDING_LIMIT] = { "CPU limit", first_say_limit },
	[FINDING_CALLS] = { "Small calls", first_say_calls },
	[FINDING_SPIN] = { "Spinning", first_say_spin },
	[FINDING_IDLE] = { "Idle", say_idle },
};

/* --- deadlocks --------------------------------------------------------------------------- */

static void
say_deadlock(const struct first *first, const struct profile_deadlock *deadlock,
	     struct cause *cause)
{
	const struct profile *profile = view_profile(first->view);
	struct strbuf text = STRBUF_INIT;

	cause->title = "Deadlock";
	strbuf_add_format(&text, "%s wait for one another, so none of them will ever run again",
			  quantity_things(deadlock->ring, "thread", "threads").text);
	cause_set_text(cause, &text);
	for (size_t i = 0; i < deadlock->ring && i < CAUSE_DETAILS_MOST; i++) {
		const struct profile_stuck *stuck = &deadlock->stuck[i];

		deadlock_add_thread(profile, deadlock, i,
				    view_wait_object(first->view, stuck->wait), &text);
		if (stuck->stack != STACK_NONE) {
			strbuf_add_text(&text, "; it waits in ");
			first_add_stack(first, stuck->stack, 0, &text);
		}
		cause_add_detail(cause, "", &text);
	}
}

/* --- the whole --------------------------------------------------------------------------- */

static bool
has_finding(const struct first *first, enum finding_kind kind)
{
	for (size_t i = 0; i < first->findings.count; i++)
		if (first->findings.item[i].kind == kind)
			return true;
	return false;
}

/*
 * True if another cause explains the finding. Threads that wait for a lock, or that were stopped,
 * are not idle. The locks of a deadlock are not named again.
 */
static bool
is_explained(const struct first *first, enum finding_kind kind)
{
	static const struct {
		enum finding_kind finding, by;
	} explained[] = {
		{ FINDING_IDLE, FINDING_LOCK },      { FINDING_IDLE, FINDING_STOPPED },
		{ FINDING_QUEUE, FINDING_LIMIT },    { FINDING_SERIAL, FINDING_CALLS },
		{ FINDING_SERIAL, FINDING_STOPPED },
	};

	if (profile_deadlock_count(view_profile(first->view)) > 0 &&
	    (kind == FINDING_IDLE || kind == FINDING_LOCK))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(explained); i++)
		if (explained[i].finding == kind && has_finding(first, explained[i].by))
			return true;
	return false;
}

void
causes_make(const struct first *first, struct causes *out)
{
	const struct profile *profile = view_profile(first->view);
	const size_t deadlocks = profile_deadlock_count(profile);

	*out = (struct causes){ .count = 0 };
	out->cause = xcalloc(deadlocks + first->findings.count + 1, sizeof(*out->cause));
	for (size_t i = 0; i < deadlocks; i++)
		say_deadlock(first, profile_deadlock(profile, i), &out->cause[out->count++]);
	for (size_t i = 0; i < first->findings.count; i++) {
		const struct finding *found = &first->findings.item[i];
		struct cause *cause = &out->cause[out->count];

		if (is_explained(first, found->kind))
			continue;
		out->count++;
		cause->title = rows[found->kind].title;
		rows[found->kind].say(first, found, cause);
	}
}

void
causes_release(struct causes *causes)
{
	for (size_t i = 0; i < causes->count; i++) {
		for (size_t d = 0; d < causes->cause[i].details; d++)
			free(causes->cause[i].detail[d].text);
		free(causes->cause[i].text);
	}
	free(causes->cause);
	*causes = (struct causes){ .count = 0 };
}
