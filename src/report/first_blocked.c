/* SPDX-License-Identifier: MIT */
/* first_blocked.c - describes what a program waits for while none of its threads can run: a file,
 * another program, time to pass. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/first_internal.h"
#include "wallsample/analysis/pools.h"
#include "wallsample/base/base.h"
#include "wallsample/report/quantity.h"

/* Maximum number of callers that are named for a wait. If a program wraps every wait in functions
 * of its own, the innermost ones say little. */
#define CALLERS_MOST 5
/* A file is named if it has at least this part of the blocked time of its place. */
#define FILE_LEAST 0.5
/* The rate of a wait is shown if a thread spends at least this share of the run in it, and has
 * waited at least this number of times. */
#define WAITS_SHARE 0.8
#define WAITS_LEAST 20
/* Waits for another program of this mean length or less are round trips: their number matters, not
 * the other program. Sleeps of this mean length or less are polling: a timer would be longer. */
#define ROUND_TRIP_MOST_NS (1.0 * NS_PER_MS)
#define POLLING_MOST_NS (100.0 * NS_PER_MS)

/* Minimum of the time for which tasks of a client library wait for replies, divided by the time for
 * which the asking tasks wait. A library may handle some requests without a task. */
#define READER_LEAST 0.5

/* True for a place of green tasks of a library. */
static bool
is_of_library(const struct first *first, const struct place_row *row)
{
	return profile_thread(view_profile(first->view), row->thread)->is_green &&
	       first->own.rank[row->function] == OWN_STANDARD;
}

/* Returns the place with the most blocked time for a file (`files`), or for anything but a file or
 * a lock; NULL: there is none. The time of a library's own tasks counts half: for each task of the
 * program, a library may have one that waits as long. */
static const struct place_row *
main_blocked(const struct first *first, bool files)
{
	const struct place_row *best = NULL;
	int64_t best_ns = 0;

	for (size_t i = 0; i < first->places.count; i++) {
		const struct place_row *row = &first->places.row[i];
		const bool file = row->wait.kind == WAIT_FILE ||
				  finding_waits_for_file(row->wait.state, row->wait.syscall);
		const int64_t ns = row->ns[PLACE_BLOCKED] / (is_of_library(first, row) ? 2 : 1);

		if (row->wait_ns > 0 && file == files && !wait_kind_is_lock(row->wait.kind) &&
		    (best == NULL || ns > best_ns)) {
			best = row;
			best_ns = ns;
		}
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

/* Adds that all threads of a pool are busy, and the title if another thread seems to wait for one
 * of them. */
static void
add_pool(const struct first *first, struct cause *cause)
{
	struct strbuf text = STRBUF_INIT;
	struct pool pool;

	if (!pools_find_busy(first->view, &first->own, &pool))
		return;
	strbuf_add_format(&text, "all %" PRIu32 " of ", pool.threads);
	first_add_function(first, pool.function, &text);
	strbuf_add_format(
		&text, " were occupied %s of the time; a larger pool could wait for more at once",
		quantity_percent(pool.busy).text);
	cause_add_detail(cause, "threads", &text);
	if (pool.queue == UINT32_MAX)
		return;
	cause->title = "Small pool";
	first_add_place_of(first, pool.queue, &text);
	cause_add_detail(cause, "queue in", &text);
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

void
first_say_disk(const struct first *first, const struct finding *found, struct cause *cause)
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
	add_pool(first, cause);
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
		return "Child";
	default:
		return NULL;
	}
}

/* Returns the same for the wait of a place. A server that waits for requests, over connections that
 * others have made, waits for no other program; a client may wait for its only connection with
 * poll or epoll. */
static const char *
title_of_place(const struct first *first, const struct place_row *row)
{
	/* Of sockets that are not identified, the example stands for all. */
	const size_t at = row->wait.row < first->waiting.count ? row->wait.row : row->example;
	const bool named = at < first->waiting.count;
	const char *object = named ? first->waiting.row[at].object : "";
	const bool socket = row->wait.kind == WAIT_SOCKET_READ ||
			    row->wait.kind == WAIT_SOCKET_WRITE;

	if (wait_kind_is_events(row->wait.kind)) {
		if (strncmp(object, "epoll of 1: ", strlen("epoll of 1: ")) == 0)
			object += strlen("epoll of 1: ");
		return wait_object_is_made(object) ? "Socket" : NULL;
	}
	if (socket && named && !wait_object_is_made(object))
		return NULL;
	return title_of_peer(row->wait.kind);
}

/* Returns the number of waits per second of a place of one thread, which waits nowhere else; 0: not
 * known. *each_ns: their mean length. */
static double
waits_per_second(const struct first *first, const struct place_row *row, double *each_ns)
{
	const struct profile *profile = view_profile(first->view);
	const struct profile_thread *thread = profile_thread(profile, row->thread);
	const double sleeps = (double)first->stats.sleeps;

	/* The number is that of one thread in the whole run. */
	if (row->threads != 1 || thread->is_green || thread->tid != first->stats.sleeper ||
	    sleeps < WAITS_LEAST || first->stats.elapsed_ns == 0 ||
	    (double)row->wait_ns < WAITS_SHARE * (double)profile_wall_ns(profile))
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

/* Suggests a command that samples the process at the other end of what the place waits for, for the
 * duration of this run. */
static void
suggest_peer(const struct first *first, const struct place_row *row, struct cause *cause)
{
	const size_t at = row->wait.row < first->waiting.count ? row->wait.row : row->example;
	const char *object = at < first->waiting.count ? first->waiting.row[at].object : "";
	const uint64_t pid = wait_object_process(object);
	struct strbuf command = STRBUF_INIT;

	if (pid == 0 || !export_is_live(first->input))
		return;
	strbuf_add_format(&command, "wallsample -p %" PRIu64 " -d %.0f", pid,
			  fmax((double)first->stats.elapsed_ns / (double)NS_PER_SEC, 1));
	cause_set_next(cause, &command, "the awaited process");
}

/* Finds two places: tasks that ask another program by a library (code_places.h), and the readers of
 * this library, which wait for the replies (READER_LEAST). One of the two places must be `of`. */
static bool
find_reader(const struct first *first, const struct place_row *of, const struct place_row **asker,
	    const struct place_row **reader)
{
	const struct places *places = &first->places;

	for (size_t r = 0; r < places->count; r++) {
		const struct place_row *reads = &places->row[r];

		for (size_t i = 0; reads->reads != 0 && i < places->count; i++) {
			const struct place_row *asks = &places->row[i];

			if (asks->asks == reads->reads && (of == asks || of == reads) &&
			    (double)reads->wait_ns >= READER_LEAST * (double)asks->wait_ns) {
				*asker = asks;
				*reader = reads;
				return true;
			}
		}
	}
	return false;
}

/* Says that a thread waits for another program or a child process; false: it does not. */
static bool
say_peer(const struct first *first, const struct finding *found, const struct place_row *row,
	 struct cause *cause)
{
	const struct place_row *asker = row;
	struct strbuf text = STRBUF_INIT;
	const char *title;

	/* No task waits for a connection that a library keeps for later requests. */
	if (!find_reader(first, row, &asker, &row) && is_of_library(first, row))
		return false;
	title = title_of_place(first, row);
	if (title == NULL)
		return false;
	strbuf_add_format(&text, "%s of the time every thread was waiting, mostly %s",
			  quantity_percent(found->share).text,
			  row->wait.kind == WAIT_CHILD ? "for a child process" : "in ");
	if (row->wait.kind != WAIT_CHILD)
		first_add_wait_of(first, row, &text);
	else if (row->wait.row < first->waiting.count)
		strbuf_add_format(&text, ", %s", first->waiting.row[row->wait.row].object);
	if (add_rate(first, row, ROUND_TRIP_MOST_NS, &text)) {
		cause->title = "Round trips";
		strbuf_add_text(&text, ": many short requests");
	} else {
		cause->title = title;
	}
	cause_set_text(cause, &text);
	add_blocked_in(first, asker, cause);
	add_pool(first, cause);
	if (first_add_peer(first, row, cause))
		cause->next = (struct suggestion){ .options = "--blame --tree",
						   .why = "what the other end did" };
	else
		suggest_peer(first, row, cause);
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

void
first_say_idle(const struct first *first, const struct finding *found, struct cause *cause)
{
	const struct place_row *row = main_blocked(first, false);
	struct strbuf text = STRBUF_INIT;

	if (row != NULL &&
	    (say_peer(first, found, row, cause) || say_polling(first, found, row, cause)))
		return;
	strbuf_add_format(&text,
			  "not busy: %s of the time every thread was waiting, for work or for "
			  "a slow answer",
			  quantity_percent(found->share).text);
	cause_set_text(cause, &text);
	add_blocked_in(first, row, cause);
	add_blocked_for(first, row, cause);
	if (row != NULL && row->wait.row < first->waiting.count &&
	    wait_object_leads_with_made(first->waiting.row[row->wait.row].object))
		suggest_peer(first, row, cause);
}
