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
/*
 * The rate of a wait is shown if the place has at least this share of all blocked time, and threads
 * waited at least this number of times: other waits are counted, too.
 */
#define WAITS_SHARE 0.8
#define WAITS_LEAST 20
/* Waits for another program of this mean length or less are round trips: their number matters, not
 * the other program. Sleeps of this mean length or less are polling: a timer would be longer. */
#define ROUND_TRIP_MOST_NS (1.0 * NS_PER_MS)
#define POLLING_MOST_NS (100.0 * NS_PER_MS)

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

/* Returns the thread that ran longest. *is_loop: it also waits for events (wait_kind_is_events). */
static uint32_t
busiest_thread(const struct first *first, bool *is_loop)
{
	const struct profile *profile = view_profile(first->view);
	const size_t threads = profile_thread_count(profile);
	struct {
		int64_t ns;
		bool is_loop;
	} *sum = xcalloc(threads + 1, sizeof(*sum));
	uint32_t most = 0;

	for (size_t i = 0; i < profile_entry_count(profile); i++) {
		const struct profile_entry *entry = profile_entry(profile, i);
		const uint32_t *function;
		size_t depth;

		if (!view_sample(first->view, entry, &function, &depth))
			continue;
		if (entry->state == RUN_RUNNING)
			sum[entry->thread].ns += entry->ns[WEIGHT_WALL];
		else if (entry->wait != 0 &&
			 wait_kind_is_events(
				 view_wait_kind(first->view, entry->wait, function, depth)))
			sum[entry->thread].is_loop = true;
		if (sum[entry->thread].ns > sum[most].ns)
			most = entry->thread;
	}
	*is_loop = sum[most].is_loop;
	free(sum);
	return most;
}

static void
say_serial(const struct first *first, const struct finding *found, struct cause *cause)
{
	struct strbuf text = STRBUF_INIT;
	uint32_t thread;
	bool is_loop;

	strbuf_add_format(&text,
			  "only one thread was running %s of the time, and no other waited for a "
			  "CPU; the program used ",
			  quantity_percent(found->share).text);
	first_add_cpus_used(first, &text);
	cause_set_text(cause, &text);
	cause_add_function(first, found, "runs in", cause);
	thread = busiest_thread(first, &is_loop);
	if (thread >= profile_thread_count(view_profile(first->view)))
		return;
	if (is_loop)
		cause->title = "Event loop";
	view_add_name(first->view, thread, &text);
	if (is_loop)
		strbuf_add_text(&text, "; what it runs delays all other events of its loop");
	cause_add_detail(cause, "thread", &text);
}

static void
say_queue(const struct first *first, const struct finding *found, struct cause *cause)
{
	const unsigned cpus = first->input->stats->cpus;
	const bool others = cpus > 0 && first_cpus_used(first) < OTHER_LOAD * cpus;
	const char *used_by = first->input->stats->others;
	const bool none = strcmp(used_by, OTHERS_NONE) == 0;
	struct strbuf text = STRBUF_INIT;

	if (others)
		cause->title = none ? "CPU wait" : "Other load";
	strbuf_add_format(&text,
			  "runnable threads waited for a CPU %s of the time; the program used %s",
			  quantity_percent(found->share).text, others ? "only " : "");
	first_add_cpus_used(first, &text);
	if (others && none)
		strbuf_add_text(&text, ", and no other program was busy");
	cause_set_text(cause, &text);
	cause_add_function(first, found, "mostly in", cause);
	if (others && !none && used_by[0] != '\0') {
		strbuf_add_text(&text, used_by);
		cause_add_detail(cause, "used by", &text);
	}
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

/* Adds the system call and the file: "fsync of /var/lib/record". */
static void
add_file_call(const struct first *first, const struct place_row *row, struct strbuf *out)
{
	const char *file = first->waiting.row[row->wait.row].object;
	const char *call = syscall_name(row->wait.syscall);

	if (call != NULL)
		strbuf_add_format(out, "%s of %s", call, file);
	else
		strbuf_add_format(out, "%s to be read or written", file);
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
		add_file_call(first, row, &text);
	else
		strbuf_add_text(&text, "files or a disk");
	cause_set_text(cause, &text);
	add_blocked_in(first, row, cause);
}

/* Returns the title of the cause if the wait is for another program or a child process; otherwise
 * NULL. */
static const char *
title_of_peer(enum wait_kind kind)
{
	switch (kind) {
	case WAIT_SOCKET_READ:
	case WAIT_SOCKET_WRITE:
	case WAIT_CONNECT:
		return "Socket";
	case WAIT_PIPE_READ:
	case WAIT_PIPE_WRITE:
		return "Pipe";
	case WAIT_CHILD:
		return "Child process";
	default:
		return NULL;
	}
}

/* Returns the number of waits per second of a place that has nearly all blocked time; 0: not
 * known. *each_ns: their mean length. */
static double
waits_per_second(const struct first *first, const struct place_row *row, double *each_ns)
{
	const double sleeps = (double)first->stats.sleeps;
	const double blocked = (double)first->places.ns[PLACE_BLOCKED];

	/* The sleeps of threads are not those of green tasks. */
	if (row->wait.syscall == SYSCALL_GREEN || sleeps < WAITS_LEAST ||
	    first->stats.elapsed_ns == 0 || (double)row->wait_ns < WAITS_SHARE * blocked)
		return 0;
	*each_ns = (double)row->wait_ns / sleeps;
	return sleeps * (double)NS_PER_SEC / (double)first->stats.elapsed_ns;
}

/* Adds how often the place waits. Returns true if its waits are at most `most_ns` long. */
static bool
add_rate(const struct first *first, const struct place_row *row, double most_ns,
	 struct strbuf *text)
{
	double each_ns = 0;
	const double rate = waits_per_second(first, row, &each_ns);

	if (rate > 0)
		strbuf_add_format(text, ", %s per second, %s each",
				  quantity_things((uint64_t)fmin(rate + 0.5, RATE_MOST), "time",
						  "times")
					  .text,
				  quantity_time((int64_t)each_ns).text);
	return rate > 0 && each_ns <= most_ns;
}

/* Says that a thread waits for another program or a child process; false: it does not. */
static bool
say_peer(const struct first *first, const struct finding *found, const struct place_row *row,
	 struct cause *cause)
{
	const char *title = title_of_peer(row->wait.kind);
	struct strbuf text = STRBUF_INIT;

	if (title == NULL)
		return false;
	strbuf_add_format(&text, "%s of the time every thread was waiting, mostly in ",
			  quantity_percent(found->share).text);
	first_add_wait_of(first, row, &text);
	cause->title = add_rate(first, row, ROUND_TRIP_MOST_NS, &text) ? "Round trips" : title;
	cause_set_text(cause, &text);
	add_blocked_in(first, row, cause);
	return true;
}

/* Says that a thread polls; false: it does not. */
static bool
say_polling(const struct first *first, const struct finding *found, const struct place_row *row,
	    struct cause *cause)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_add_format(&text,
			  "%s of the time every thread was waiting, mostly in sleeps of a fixed "
			  "time",
			  quantity_percent(found->share).text);
	if (row->wait.kind != WAIT_SLEEP || !add_rate(first, row, POLLING_MOST_NS, &text)) {
		strbuf_release(&text);
		return false;
	}
	cause->title = "Polling";
	cause_set_text(cause, &text);
	add_blocked_in(first, row, cause);
	return true;
}

static void
say_idle(const struct first *first, const struct finding *found, struct cause *cause)
{
	const struct place_row *row = main_blocked(first, false);
	struct strbuf text = STRBUF_INIT;

	if (row != NULL &&
	    (say_peer(first, found, row, cause) || say_polling(first, found, row, cause)))
		return;
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
 * are not idle; with an interpreter's lock one thread runs at a time. The locks of a deadlock are
 * not named again.
 */
static bool
is_explained(const struct first *first, enum finding_kind kind)
{
	static const struct {
		enum finding_kind finding, by;
	} explained[] = {
		{ FINDING_IDLE, FINDING_LOCK },      { FINDING_IDLE, FINDING_STOPPED },
		{ FINDING_QUEUE, FINDING_LIMIT },    { FINDING_SERIAL, FINDING_CALLS },
		{ FINDING_SERIAL, FINDING_STOPPED }, { FINDING_SERIAL, FINDING_GIL },
		{ FINDING_CPU, FINDING_QUEUE },      { FINDING_CPU, FINDING_SPIN },
	};

	if (profile_deadlock_count(view_profile(first->view)) > 0 &&
	    (kind == FINDING_IDLE || kind == FINDING_LOCK))
		return true;
	if (kind == FINDING_SERIAL && has_finding(first, FINDING_LOCK) && first_lock_is_gil(first))
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
