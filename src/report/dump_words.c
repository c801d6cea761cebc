/* SPDX-License-Identifier: MIT */
/* dump_words.c - names threads and what they wait for in a text dump, and writes the result. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/dump_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/report/quantity.h"

/* Maximum number of contended locks that the dump's summary names. */
#define LOCKS_MOST 3
/* A lock is contended if this number of threads waits for it, or one for this time. */
#define WAITERS_LEAST 2
#define WAIT_LEAST_NS NS_PER_SEC
/* The waits of a group differ if the longest is longer than the shortest by this factor. */
#define WAITS_DIFFER 1.2

/* --- names ------------------------------------------------------------------------------- */

void
dump_add_thread(const struct profile *profile, uint32_t id, struct page *page)
{
	const struct profile_thread *thread = profile_thread(profile, id);
	const char *name = profile_text(profile, thread->name);

	if (profile_process_count(profile) > 1 &&
	    profile_process(profile, thread->process)->pid != thread->tid)
		page_add(page, "%jd (%s, process %jd)", (intmax_t)thread->tid, name,
			 (intmax_t)profile_process(profile, thread->process)->pid);
	else /* A core file has only the name of the main thread. */
		page_add(page, name[0] != '\0' ? "%jd (%s)" : "%jd", (intmax_t)thread->tid, name);
}

void
dump_add_green(const struct view *view, uint32_t id, struct page *page)
{
	const size_t start = page->text.length;
	char *first;

	view_add_thread(view, id, &page->text);
	first = &page->text.data[start];
	if (*first >= 'a' && *first <= 'z')
		*first = (char)(*first - 'a' + 'A');
}

/*
 * Adds the line of a lock holder's function: " (table.c:42)". The file is shortened to its last
 * component, or for an interpreted function to view_function.module: the dump shows the full path
 * in the holder's own stack.
 */
static void
add_line(const struct view_function *function, struct page *page)
{
	const char *file = function->file, *slash = file != NULL ? strrchr(file, '/') : NULL;

	if (file == NULL || function->line == 0)
		return;
	if (function->script)
		file = function->module;
	else if (slash != NULL)
		file = slash + 1;
	page_add(page, " (%s:%" PRIu32 ")", file, function->line);
}

/* Adds the named frame that says which process the holder belongs to, or why it is not known:
 * ", held by jobs (812)", ", last operated by jobs (812)" or ", held by [another process]". */
static void
add_named_holder(const char *name, struct page *page)
{
	const size_t length = strlen(name);

	if (strncmp(name, PROFILE_HELD_BY, strlen(PROFILE_HELD_BY)) == 0 ||
	    strncmp(name, PROFILE_OPERATED_BY, strlen(PROFILE_OPERATED_BY)) == 0)
		page_add(page, ", %.*s", (int)(length - 2), name + 1);
	else
		page_add(page, ", held by %s", name);
}

/* Adds ", held by thread 14 (writer), in copy_rows (table.c:42)". */
static void
add_holder(const struct view *view, const struct profile_blame *holder, struct page *page)
{
	const struct profile *profile = view_profile(view);
	const struct profile_thread *thread = profile_thread(profile, holder->thread);
	const struct view_function *at;
	const uint32_t *function;
	size_t depth;

	view_stack(view, holder->stack, &function, &depth);
	if (thread->tid <= 0 && !thread->is_green) {
		if (depth > 0)
			add_named_holder(view_function(view, function[0])->name, page);
		return;
	}
	page_add(page, thread->is_green ? ", held by " : ", held by thread ");
	if (thread->is_green)
		dump_add_green(view, holder->thread, page);
	else
		dump_add_thread(profile, holder->thread, page);
	if (depth > 0) {
		at = view_function(view, function[waiting_place(view, function, depth)]);
		page_add(page, ", in %s", at->name);
		add_line(at, page);
	}
}

/* Adds "; thread 14 (child) is in copy_rows (table.c:42)", for a thread that waits for another
 * process: that one's thread, or the last one of a chain of waits. */
static void
add_awaited(const struct view *view, const struct profile_blame *awaited, struct page *page)
{
	const struct profile *profile = view_profile(view);
	const struct view_function *at;
	const uint32_t *function;
	size_t depth;

	view_stack(view, awaited->stack, &function, &depth);
	if (profile_thread(profile, awaited->thread)->tid <= 0 || depth == 0)
		return;
	at = view_function(view, function[waiting_place(view, function, depth)]);
	page_add(page, "; thread ");
	dump_add_thread(profile, awaited->thread, page);
	page_add(page, " is in %s", at->name);
	add_line(at, page);
}

void
dump_add_wait(const struct view *view, const struct dump_thread *thread, const uint32_t *function,
	      size_t depth, struct page *page)
{
	const struct profile_wait *wait = profile_wait(view_profile(view), thread->wait);

	view_add_wait(view, thread->wait, function, depth, &page->text);
	if (wait->timed && wait_kind_in_memory(wait->kind))
		page_add(page, ", with a time-out");
	/* The text of a WAIT_JOIN has named the awaited thread already. */
	if (thread->holder != NULL && !wait_kind_is_blamed(wait->kind))
		add_awaited(view, thread->holder, page);
	else if (thread->holder != NULL && wait->kind != WAIT_JOIN)
		add_holder(view, thread->holder, page);
}

/* True if the members of the group have waited for clearly different times. */
static bool
waits_differ(const struct dump_group *group)
{
	return (double)group->waiting_ns > WAITS_DIFFER * (double)group->waiting_least_ns;
}

/* True for the first thread of a process, if it has the name of the process. */
static bool
is_named_as_process(const struct profile *profile, const struct profile_thread *thread)
{
	const struct profile_process *process = profile_process(profile, thread->process);

	return thread->tid == process->pid && thread->name == process->name;
}

void
dump_add_member(const struct profile *profile, const struct dump_group *group, uint32_t thread,
		struct page *page)
{
	const struct profile_thread *of = profile_thread(profile, thread);
	const uint64_t ns = of->waiting_ns;

	if (group->processes > 1 && is_named_as_process(profile, of))
		page_add(page, "%jd", (intmax_t)of->tid);
	else
		dump_add_thread(profile, thread, page);
	if (ns > 0 && waits_differ(group))
		page_add(page, " %s", quantity_duration(ns).text);
}

void
dump_add_waiting(const struct dump_group *group, struct page *page)
{
	const struct quantity most = quantity_duration(group->waiting_ns);

	if (group->waiting_ns == 0)
		return;
	page_add(page, ", for ");
	if (waits_differ(group))
		page_add(page, "%s to ", quantity_duration(group->waiting_least_ns).text);
	page_add(page, "%s", most.text);
}

/* --- the summary ------------------------------------------------------------------------- */

/* The threads that wait for a lock. */
struct contention {
	uint32_t wait;
	size_t threads;
	uint64_t longest_ns;              /* 0: not known */
	const struct dump_thread *waiter; /* one of them, and its stack */
	const uint32_t *function;
	size_t depth;
};

static int
compare_contentions(const void *left, const void *right)
{
	const struct contention *a = left, *b = right;

	if (a->threads != b->threads)
		return a->threads > b->threads ? -1 : 1;
	return (a->wait > b->wait) - (a->wait < b->wait);
}

static bool
waits_for_lock(const struct view *view, const struct dump_thread *thread,
	       const struct dump_group *group)
{
	const enum wait_kind kind = view_wait_kind(view, thread->wait, group->function,
						   group->depth);

	return kind == WAIT_GIL || wait_kind_is_lock(kind);
}

/* Counts a waiter. Keeps the last waiter with a known holder, or without one the first waiter. */
static void
add_waiter(const struct profile *profile, const struct dump_thread *thread,
	   const struct dump_group *group, struct contention *to)
{
	const uint64_t ns = profile_thread(profile, thread->thread)->waiting_ns;

	to->wait = thread->wait;
	to->threads++;
	to->longest_ns = ns > to->longest_ns ? ns : to->longest_ns;
	if (to->waiter != NULL && thread->holder == NULL)
		return;
	to->waiter = thread;
	to->function = group->function;
	to->depth = group->depth;
}

/* Stores the waits for locks, by wait of the profile, in `by_wait`. *running and *waiting: the
 * numbers of threads that can run, and that wait for a lock. */
static void
count_waits(const struct view *view, const struct dump *dump, struct contention *by_wait,
	    size_t *running, size_t *waiting)
{
	const struct profile *profile = view_profile(view);

	for (size_t g = 0; g < dump->count; g++) {
		const struct dump_group *group = &dump->group[g];

		if (group->are_green)
			continue;
		*running += run_state_runnable(group->state) ? group->count : 0;
		for (size_t i = 0; i < group->count; i++) {
			const struct dump_thread *thread = &group->thread[i];
			if (thread->wait == 0 || run_state_runnable(group->state) ||
			    !waits_for_lock(view, thread, group))
				continue;
			add_waiter(profile, thread, group, &by_wait[thread->wait]);
			++*waiting;
		}
	}
}

/* Adds what the holder of a lock does: "; the holder is sleeping in fsync, for 1.20s". */
static void
add_holder_state(const struct dump *dump, const struct profile_blame *holder,
		 const struct profile *profile, struct page *page)
{
	for (size_t g = 0; holder != NULL && g < dump->count; g++) {
		const struct dump_group *group = &dump->group[g];

		for (size_t i = 0; i < group->count; i++) {
			const uint32_t thread = group->thread[i].thread;
			const uint64_t ns = profile_thread(profile, thread)->waiting_ns;

			if (thread != holder->thread)
				continue;
			page_add(page, "; the holder is ");
			run_state_add(&page->text, group->state, group->syscall);
			if (ns > 0)
				page_add(page, ", for %s", quantity_duration(ns).text);
			return;
		}
	}
}

static void
write_contention(const struct view *view, const struct dump *dump, const struct contention *lock,
		 struct page *page)
{
	page_add(page, "%s for ",
		 quantity_things(lock->threads, "thread waits", "threads wait").text);
	dump_add_wait(view, lock->waiter, lock->function, lock->depth, page);
	add_holder_state(dump, lock->waiter->holder, view_profile(view), page);
	if (lock->longest_ns > 0)
		page_add(page, "; the longest wait is %s",
			 quantity_duration(lock->longest_ns).text);
	page_end(page, page->ops->paragraph);
}

/* Writes how many threads can run. A core file does not have the states of all threads. */
static void
write_counts(const struct dump *dump, size_t running, size_t waiting, struct page *page)
{
	page_add(page, "Threads: %s running or waiting for a CPU, %s blocked",
		 quantity_count(running).text, quantity_count(dump->threads - running).text);
	if (waiting > 0)
		page_add(page, ", %s of them for locks", quantity_count(waiting).text);
	page_write(page, page->ops->paragraph, ".");
}

void
dump_write_finding(const struct export_input *input, const struct dump *dump, struct page *page)
{
	const struct view *view = input->view;
	const size_t waits = profile_wait_count(view_profile(view));
	struct contention *lock = xcalloc(waits + 1, sizeof(*lock));
	size_t running = 0, waiting = 0, written = 0;

	count_waits(view, dump, lock, &running, &waiting);
	qsort(lock, waits + 1, sizeof(*lock), compare_contentions);
	if (dump->threads > 0 && input->core_end == NULL)
		write_counts(dump, running, waiting, page);
	for (size_t i = 0; i < waits && written < LOCKS_MOST; i++) {
		if (lock[i].threads < WAITERS_LEAST && lock[i].longest_ns < WAIT_LEAST_NS)
			continue;
		write_contention(view, dump, &lock[i], page);
		written++;
	}
	free(lock);
}
