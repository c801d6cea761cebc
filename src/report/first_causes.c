/* SPDX-License-Identifier: MIT */
/* first_causes.c - says in plain words why a program is slow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/first_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/report/quantity.h"
#include "wallsample/runtime/language.h"

/* If the program used less than this part of its CPUs, other programs caused the lack of CPUs. */
#define OTHER_LOAD 0.75
/* If more than this part of the samples has no stack, the causes are not known. */
#define FAILED_LEAST 0.5
/* A thread runs an event loop if this number of its samples waits for events. */
#define EVENTS_LEAST 3
/* The mean time between two waits of an event loop is shown if there were this number of waits. */
#define TURNS_LEAST 10
/* An event loop that runs for less than this time between two waits delays no event for long. */
#define TURN_LEAST_NS ((int64_t)NS_PER_MS)

/* --- other causes ------------------------------------------------------------------------ */

static void
say_cpu(const struct first *first, const struct finding *found, struct cause *cause)
{
	struct strbuf text = STRBUF_INIT;
	const unsigned cpus = first->input->stats->cpus;

	if (cpus == 1)
		strbuf_add_format(&text,
				  "the program kept the only CPU that it may use busy %s of "
				  "the time",
				  quantity_percent(found->share).text);
	else
		strbuf_add_format(&text,
				  "the program kept all %s that it may use busy %s of the "
				  "time",
				  cpus > 0 ? quantity_things(cpus, "CPU", "CPUs").text : "CPUs",
				  quantity_percent(found->share).text);
	cause_set_text(cause, &text);
	cause_add_function(first, found, "mostly in", cause);
}

static bool
is_loop_wait(enum wait_kind kind)
{
	return kind == WAIT_EPOLL || kind == WAIT_IO_URING;
}

/* Returns the thread that ran longest. *is_loop: it also waits for events with epoll or io_uring.
 * With poll and select programs also wait for one descriptor, or for a time-out. *ran_ns: its CPU
 * time. */
static uint32_t
busiest_thread(const struct first *first, bool *is_loop, int64_t *ran_ns)
{
	const struct profile *profile = view_profile(first->view);
	const size_t threads = profile_thread_count(profile);
	struct {
		int64_t ns, events; /* events: samples of waits for events */
	} *sum = xcalloc(threads + 1, sizeof(*sum));
	uint32_t most = 0;

	for (size_t i = 0; i < profile_entry_count(profile); i++) {
		const struct profile_entry *entry = profile_entry(profile, i);
		const uint32_t *function;
		size_t depth;

		if (!view_sample(first->view, entry, &function, &depth) || depth == 0)
			continue;
		if (entry->state == RUN_RUNNING)
			sum[entry->thread].ns += entry->ns[WEIGHT_WALL];
		else if (entry->wait != 0 &&
			 !language_is_root(view_function(first->view, function[depth - 1])->name) &&
			 is_loop_wait(view_wait_kind(first->view, entry->wait, function, depth)))
			sum[entry->thread].events += entry->samples;
		if (sum[entry->thread].ns > sum[most].ns)
			most = entry->thread;
	}
	*is_loop = sum[most].events >= EVENTS_LEAST;
	*ran_ns = sum[most].ns;
	free(sum);
	return most;
}

/* Adds what an event loop does, and for how long it runs between two waits, if the number of its
 * waits is known. */
static void
add_loop(const struct first *first, uint32_t thread, int64_t ran_ns, struct strbuf *out)
{
	const struct run_stats *stats = &first->stats;
	const bool known = stats->sleeps >= TURNS_LEAST &&
			   profile_thread(view_profile(first->view), thread)->tid == stats->sleeper;
	const int64_t turn_ns = known ? ran_ns / (int64_t)stats->sleeps : 0;

	if (known && turn_ns < TURN_LEAST_NS) {
		strbuf_add_format(out, "; it handles many short events: it runs %s at a time",
				  quantity_time(turn_ns).text);
		return;
	}
	strbuf_add_text(out, "; what it runs delays all other events of its loop");
	if (known)
		strbuf_add_format(out, ", for %s at a time on average",
				  quantity_time(turn_ns).text);
}

/* Adds the name of the thread; if there are several processes also the process. */
static void
add_thread(const struct first *first, uint32_t thread, struct strbuf *out)
{
	const struct profile *profile = view_profile(first->view);
	const struct profile_thread *of = profile_thread(profile, thread);

	if (first->processes.processes < 2) {
		view_add_name(first->view, thread, out);
		return;
	}
	if (!process_is_unsampled(profile, thread) &&
	    (of->is_green || of->tid != profile_process(profile, of->process)->pid)) {
		view_add_name(first->view, thread, out);
		strbuf_add_text(out, " of ");
	}
	process_add_label_of_thread(profile, thread, out);
}

static void
say_serial(const struct first *first, const struct finding *found, struct cause *cause)
{
	struct strbuf text = STRBUF_INIT;
	uint32_t thread;
	int64_t ran_ns;
	bool is_loop;

	strbuf_add_format(&text, "only one thread was running %s of the time; the program used ",
			  quantity_percent(found->share).text);
	first_add_cpus_used(first, &text);
	cause_set_text(cause, &text);
	cause_add_function(first, found, "runs in", cause);
	thread = busiest_thread(first, &is_loop, &ran_ns);
	if (thread >= profile_thread_count(view_profile(first->view)))
		return;
	if (is_loop)
		cause->title = "Event loop";
	add_thread(first, thread, &text);
	if (is_loop)
		add_loop(first, thread, ran_ns, &text);
	cause_add_detail(cause, "thread", &text);
}

static void
say_queue(const struct first *first, const struct finding *found, struct cause *cause)
{
	const struct run_stats *stats = first->input->stats;
	const bool others = stats->cpus > 0 && first_cpus_used(first) < OTHER_LOAD * stats->cpus;
	const bool named = stats->others[0] != '\0' && strcmp(stats->others, OTHERS_NONE) != 0;
	/* CPUs were free: there was no lack of them. */
	const bool late = others && stats->machine_busy > 0 &&
			  stats->machine_busy < OTHER_LOAD * stats->cpus;
	struct strbuf text = STRBUF_INIT;

	if (others)
		cause->title = late ? "CPU wait" : "Other load";
	strbuf_add_format(&text, "runnable threads waited for a CPU %s of the time",
			  quantity_percent(found->share).text);
	if (late)
		strbuf_add_format(&text,
				  " although CPUs were free (%.1f of %u busy): the threads start "
				  "late, or are bound to busy CPUs",
				  stats->machine_busy, stats->cpus);
	else
		strbuf_add_format(&text, "; the program used %s", others ? "only " : "");
	if (!late)
		first_add_cpus_used(first, &text);
	cause_set_text(cause, &text);
	cause_add_function(first, found, "mostly in", cause);
	if (others && named) {
		strbuf_add_text(&text, stats->others);
		cause_add_detail(cause, "used by", &text);
	}
}

static void
say_gil(const struct first *first, const struct finding *found, struct cause *cause)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_add_format(&text,
			  "the interpreter's lock was held %s of the time; %.1f threads waited "
			  "for it on average. More threads do not make the program faster",
			  quantity_percent(found->share).text, found->waiting);
	cause->title = language_lock(first->input->stats->runtimes);
	cause_set_text(cause, &text);
	cause_add_function(first, found, "held in", cause);
}

#define RUNNING_CALLERS                                                                            \
	{                                                                                          \
		.options = "--state R --tree", .why = "callers of running code"                    \
	}

/* For each kind of finding: the title of the cause, the function that describes it, and the command
 * that shows more. The function may change the title and the command. */
static const struct {
	const char *title;
	void (*say)(const struct first *first, const struct finding *found, struct cause *cause);
	struct suggestion next;
} rows[FINDING_COUNT] = {
	[FINDING_CPU] = { "CPU", say_cpu, RUNNING_CALLERS },
	[FINDING_SERIAL] = { "One thread", say_serial, RUNNING_CALLERS },
	[FINDING_LOCK] = { .title = "Lock", .say = first_say_lock },
	[FINDING_IO] = { .title = "Disk", .say = first_say_disk },
	[FINDING_QUEUE] = { "Few CPUs", say_queue, RUNNING_CALLERS },
	[FINDING_GIL] = { "GIL", say_gil, FIRST_GIL_HOLDERS },
	[FINDING_STOPPED] = { .title = "Stopped", .say = first_say_stopped },
	[FINDING_LIMIT] = { "CPU limit", first_say_limit, RUNNING_CALLERS },
	[FINDING_CALLS] = { "Small calls", first_say_calls, RUNNING_CALLERS },
	[FINDING_SPIN] = { "Spinning", first_say_spin, RUNNING_CALLERS },
	[FINDING_IDLE] = { .title = "Idle", .say = first_say_idle },
};

/* --- deadlocks --------------------------------------------------------------------------- */

static void
say_deadlock(const struct first *first, const struct profile_deadlock *deadlock,
	     struct cause *cause)
{
	const struct profile *profile = view_profile(first->view);
	struct strbuf text = STRBUF_INIT;

	cause->title = "Deadlock";
	if (export_is_live(first->input)) {
		strbuf_add_format(&text, "wallsample dump -p %jd",
				  (intmax_t)first->input->process->pid);
		cause_set_next(cause, &text, "stacks of all threads");
	}
	strbuf_add_format(&text, "%s wait for one another: %s can ever continue",
			  quantity_things(deadlock->ring, "thread", "threads").text,
			  deadlock->ring == 2 ? "neither" : "none of them");
	cause_set_text(cause, &text);
	for (size_t i = 0; i < deadlock->ring && i < CAUSE_DETAILS_MOST; i++) {
		const struct profile_stuck *stuck = &deadlock->stuck[i];

		if (stuck->stack != STACK_NONE) {
			strbuf_add_text(&text, "in ");
			first_add_stack(first, stuck->stack, 0, &text);
			strbuf_add_text(&text, ": ");
		}
		deadlock_add_thread(profile, deadlock, i,
				    view_wait_object(first->view, stuck->wait), &text);
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

/* True if both findings are about the same function. */
static bool
has_same_function(const struct first *first, enum finding_kind one, enum finding_kind other)
{
	const size_t none = view_function_count(first->view);
	size_t function[2] = { none, none };

	for (size_t i = 0; i < first->findings.count; i++) {
		const struct finding *found = &first->findings.item[i];

		if (found->kind == one || found->kind == other)
			function[found->kind == other] = found->function;
	}
	return function[0] < none && function[0] == function[1];
}

/*
 * True if another cause explains the finding. Threads that wait for a lock, or that were stopped,
 * are not idle; with an interpreter's lock one thread runs at a time; the thread that runs alone is
 * the one that waits for a file. The locks of a deadlock are not named again.
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
	/* Threads that share an interpreter's lock execute its code on one CPU at a time. */
	if (kind == FINDING_QUEUE && has_finding(first, FINDING_GIL) &&
	    first_cpus_used(first) >= OTHER_LOAD)
		return true;
	if (kind == FINDING_SERIAL &&
	    ((has_finding(first, FINDING_LOCK) && first_lock_is_gil(first)) ||
	     has_same_function(first, FINDING_SERIAL, FINDING_IO)))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(explained); i++)
		if (explained[i].finding == kind && has_finding(first, explained[i].by))
			return true;
	return false;
}

/* Returns the most frequent reason for samples without a stack, if they are the greater part of all
 * samples; FAILURE_COUNT: they are not. Samples of running threads that were not to be stopped are
 * not counted. *share: their part. */
static enum sample_failure
main_failure(const struct first *first, double *share)
{
	const struct run_stats *stats = first->input->stats;
	enum sample_failure most = FAILURE_COUNT;
	uint64_t failed = 0;

	for (size_t i = 0; i < FAILURE_COUNT; i++) {
		if (i == FAILURE_NOT_STOPPED || stats->failed[i] == 0)
			continue;
		failed += stats->failed[i];
		if (most == FAILURE_COUNT || stats->failed[i] > stats->failed[most])
			most = (enum sample_failure)i;
	}
	*share = stats->thread_samples > 0 ? (double)failed / (double)stats->thread_samples : 0;
	return *share > FAILED_LEAST ? most : FAILURE_COUNT;
}

/* Says that the causes are not known because sampling failed. Returns false if it did not fail. */
static bool
say_failed(struct first *first)
{
	double share;
	const enum sample_failure failure = main_failure(first, &share);
	struct cause *cause = &first->causes.cause[first->causes.count];
	struct strbuf text = STRBUF_INIT;

	if (failure == FAILURE_COUNT)
		return false;
	strbuf_add_format(&text, "%s of the samples have no stack, mostly %s",
			  quantity_percent(fmin(share, 1)).text, sample_failure_text(failure));
	cause->title = "Not sampled";
	cause_set_text(cause, &text);
	first->causes.count++;
	return true;
}

/* True for findings about states and counters of the kernel. */
static bool
needs_no_stacks(enum finding_kind kind)
{
	return kind == FINDING_STOPPED || kind == FINDING_LIMIT;
}

void
causes_make(struct first *first)
{
	const struct profile *profile = view_profile(first->view);
	const size_t deadlocks = profile_deadlock_count(profile);
	struct causes *out = &first->causes;
	bool failed;

	out->cause = xcalloc(deadlocks + first->findings.count + 1, sizeof(*out->cause));
	failed = say_failed(first);
	for (size_t i = 0; i < deadlocks; i++)
		say_deadlock(first, profile_deadlock(profile, i), &out->cause[out->count++]);
	for (size_t i = 0; i < first->findings.count; i++) {
		const struct finding *found = &first->findings.item[i];
		struct cause *cause = &out->cause[out->count];

		if (is_explained(first, found->kind) || (failed && !needs_no_stacks(found->kind)))
			continue;
		out->count++;
		cause->title = rows[found->kind].title;
		cause->next = rows[found->kind].next;
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
		free(causes->cause[i].next.command);
	}
	free(causes->cause);
	*causes = (struct causes){ .count = 0 };
}
