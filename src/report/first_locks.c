/* SPDX-License-Identifier: MIT */
/* first_locks.c - describes the lock that threads wait for, where they wait, and what the thread
 * that holds it does. */
#include <stdlib.h>
#include <string.h>

#include "report/first_internal.h"
#include "wallsample/report/quantity.h"
#include "wallsample/runtime/language.h"

/* A lock is handed from thread to thread if no thread holds it for this part of the time that
 * threads wait for it. */
#define HANDED_OVER 0.5
/* A lock that has less than this part of all waits for locks is not named. */
#define LOCK_LEAST 0.3

/* Maximum number of callers that are named for a wait for a database lock: the innermost ones are
 * the same for all such waits. */
#define DATABASE_CALLERS 5
/* Maximum number of queries about database locks. */
#define DATABASE_QUERIES 2
/* Maximum number of processes that are listed as possible holders. */
#define SUSPECTS_MOST 3

/* Returns the time of all threads that waited for the object. */
static int64_t
time_of_waiters(const struct first *first, const struct waiting_row *row)
{
	const struct profile *profile = view_profile(first->view);
	const size_t threads = profile_thread_count(profile);
	bool *waits = xcalloc(threads + 1, sizeof(*waits));
	int64_t ns = 0;

	for (size_t i = 0; i < profile_entry_count(profile); i++) {
		const struct profile_entry *entry = profile_entry(profile, i);
		const uint32_t *function;
		size_t depth;

		if (entry->wait != 0 && view_sample(first->view, entry, &function, &depth) &&
		    waiting_find(&first->waiting, first->view, entry->wait, function, depth) ==
			    (size_t)(row - first->waiting.row))
			waits[entry->thread] = true;
	}
	for (size_t i = 0; i < profile_entry_count(profile); i++) {
		const struct profile_entry *entry = profile_entry(profile, i);

		if (waits[entry->thread])
			ns += entry->ns[WEIGHT_WALL];
	}
	free(waits);
	return ns;
}

struct holding
first_main_holder(const struct first *first, const struct waiting_row *row)
{
	struct holding *holding = NULL, best = { .stack = NULL };
	struct table of_function = { 0 }; /* (function; 0) -> holding */
	size_t capacity = 0;

	for (size_t h = 0; h < row->holders; h++) {
		const struct waiting_stack *stack = &row->holder[h];
		const uint32_t function =
			stack->depth > 0 ? stack->function[own_place(&first->own, stack->function,
								     stack->depth)] :
					   UINT32_MAX;
		uint32_t at;

		holding = table_row(&of_function, (uint64_t[]){ function, 0 }, holding, &capacity,
				    sizeof(*holding), &at);
		if (holding[at].stack == NULL && function != UINT32_MAX)
			holding[at].stack = stack;
		if (function != UINT32_MAX && view_is_named(view_function(first->view, function)))
			holding[at].named = view_function(first->view, function)->name;
		holding[at].ns += stack->ns;
		holding[at].in_state[stack->state] += stack->ns;
	}
	for (size_t i = 0; i < of_function.count; i++)
		if (holding[i].ns > best.ns)
			best = holding[i];
	free(holding);
	table_release(&of_function);
	return best;
}

void
first_add_holder_state(const struct holding *holding, struct strbuf *out)
{
	enum run_state most = RUN_RUNNING;

	for (int state = 0; state < RUN_STATE_COUNT; state++)
		if (holding->in_state[state] > holding->in_state[most])
			most = (enum run_state)state;
	strbuf_add_format(out, ", %s %s", run_state_text(most),
			  quantity_percent((double)holding->in_state[most] / (double)holding->ns)
				  .text);
}

/* Adds the text of a named frame in place of a holder without its brackets, or other words. */
static void
add_named_holder(const char *named, struct strbuf *out)
{
	const size_t prefix = strlen(PROFILE_HELD_BY), length = strlen(named);
	const bool sampled = strncmp(named, PROFILE_HELD_BY_THREAD_OF,
				     strlen(PROFILE_HELD_BY_THREAD_OF)) == 0;

	if (strcmp(named, PROFILE_UNRECORDED_HOLDER) == 0)
		strbuf_add_text(out, "a thread that the lock does not record");
	else if (strncmp(named, PROFILE_HELD_BY, prefix) == 0)
		strbuf_add_format(out, "%.*s%s", (int)(length - prefix - 1), named + prefix,
				  sampled ? "" : ", a process that is not sampled");
	else if (length > 2 && named[0] == '[' && named[length - 1] == ']')
		strbuf_add(out, named + 1, length - 2);
	else
		strbuf_add_text(out, named);
}

static void
describe_holder(const struct first *first, const struct waiting_row *row, struct cause *cause)
{
	const struct holding holding = first_main_holder(first, row);
	struct strbuf text = STRBUF_INIT;

	if (row->holders == 0 || holding.ns <= 0)
		return;
	if (holding.named != NULL && strcmp(holding.named, PROFILE_FREE_LOCK) != 0) {
		add_named_holder(holding.named, &text);
	} else if (holding.named != NULL && (double)holding.ns >= HANDED_OVER * (double)row->ns) {
		cause->title = "Lock convoy";
		strbuf_add_format(
			&text,
			"no thread %s of that time: it was free, or a waiter was being woken",
			quantity_percent((double)holding.ns / (double)row->ns).text);
	} else if (holding.stack != NULL) {
		first_add_stack(first, holding.stack->stack, 1, &text);
		first_add_holder_state(&holding, &text);
	}
	cause_add_detail(cause, "held by", &text);
}

const struct waiting_row *
first_main_lock(const struct first *first)
{
	const struct waiting_row *best = NULL;
	int64_t all = 0;

	for (size_t i = 0; i < first->waiting.count; i++) {
		const struct waiting_row *row = &first->waiting.row[i];

		if (!wait_kind_is_lock(row->kind))
			continue;
		all += row->ns;
		best = best == NULL ? row : best;
	}
	return best != NULL && (double)best->ns >= LOCK_LEAST * (double)all ? best : NULL;
}

static void
add_waiter(const struct first *first, const struct waiting_row *row, struct cause *cause)
{
	struct strbuf text = STRBUF_INIT;
	const struct waiting_stack *stack = row->waiter;

	if (row->waiters > 0 && stack->depth > 0)
		first_add_stack(first, stack->stack,
				row->kind == WAIT_DATABASE ? DATABASE_CALLERS : 1, &text);
	cause_add_detail(cause, "waits in", &text);
}

/* Adds the processes of the waiter's program whose titles have the text of suspects. */
static void
add_suspects(const struct first *first, const struct database_lock *lock, uint32_t waiter,
	     struct cause *cause)
{
	const struct profile *profile = view_profile(first->view);
	const struct profile_process
		*waits = profile_process(profile, profile_thread(profile, waiter)->process);
	struct strbuf text = STRBUF_INIT;
	size_t suspects = 0;

	for (uint32_t i = 0; lock->suspect != NULL && i < profile_process_count(profile); i++) {
		const struct profile_process *process = profile_process(profile, i);

		if (process->name != waits->name ||
		    strstr(profile_text(profile, process->cmdline), lock->suspect) == NULL)
			continue;
		if (suspects++ < SUSPECTS_MOST) {
			process_add_label(profile, i, &text);
			cause_add_detail(cause, "suspect", &text);
		}
	}
	if (suspects > SUSPECTS_MOST) {
		strbuf_add_format(&text, "and %s",
				  quantity_things(suspects - SUSPECTS_MOST, "other", "others")
					  .text);
		cause_add_detail(cause, "suspect", &text);
	}
}

/* Adds what is known of database locks: for the longest wait, and for the longest one of another
 * kind. */
static void
add_database_lock(const struct first *first, const struct waiting_row *row, struct cause *cause)
{
	const struct database_lock *before = NULL;
	struct strbuf text = STRBUF_INIT;
	size_t queries = 0;

	for (size_t i = 0; i < row->waiters && queries < DATABASE_QUERIES; i++) {
		const struct waiting_stack *stack = &row->waiter[i];
		const struct database_lock *lock = finding_database_lock(first->view,
									 stack->function,
									 stack->depth);

		if (lock == NULL || lock == before)
			continue;
		before = lock;
		queries++;
		strbuf_add_format(&text, "%s%s", lock->query,
				  lock->has_holder ? " (returns the holder)" : "");
		cause_add_detail(cause, "query", &text);
		add_suspects(first, lock, stack->thread, cause);
	}
}

bool
first_lock_is_gil(const struct first *first)
{
	if (first_main_lock(first) != NULL)
		return false;
	for (size_t i = 0; i < view_row_count(first->view); i++)
		if (view_row(first->view, i)->gil == GIL_WAIT)
			return true;
	return false;
}

void
first_say_lock(const struct first *first, const struct finding *found, struct cause *cause)
{
	const struct waiting_row *row = first_main_lock(first);
	struct strbuf text = STRBUF_INIT;
	int64_t whole;
	bool several;

	if (row == NULL) {
		const bool gil = first_lock_is_gil(first);

		if (gil) {
			cause->title = language_lock(first->input->stats->runtimes);
			cause->next = (struct suggestion)FIRST_GIL_HOLDERS;
		}
		strbuf_add_format(&text,
				  "threads waited for %s %s of the time in which they had work",
				  gil ? "the interpreter's lock" : "locks",
				  quantity_percent(found->share).text);
		cause_set_text(cause, &text);
		cause_add_function(first, found, "waits in", cause);
		return;
	}
	if (row->kind == WAIT_ALLOCATOR)
		cause->title = "Allocator";
	if (row->holders > 0)
		cause->next = (struct suggestion){ .options = "--blame --tree",
						   .why = "the lock holders" };
	several = row->kind == WAIT_DATABASE && row->object[0] == '\0' && row->threads > 1;
	whole = time_of_waiters(first, row);
	wait_kind_add(row->kind, row->kind_text, row->object, &text);
	/* A row without a name has all database locks. */
	strbuf_add_format(&text, "%s: %s waited %s of %s time for %s", several ? "s" : "",
			  quantity_things(row->threads, "thread", "threads").text,
			  quantity_percent(whole > 0 ? (double)row->ns / (double)whole : 0).text,
			  row->threads == 1 ? "its" : "their", several ? "them" : "it");
	cause_set_text(cause, &text);
	add_waiter(first, row, cause);
	describe_holder(first, row, cause);
	if (row->kind == WAIT_DATABASE)
		add_database_lock(first, row, cause);
}
