/* SPDX-License-Identifier: MIT */
/* idle_threads.c - finds the threads that did nothing but wait (code_places.h). */
#include "analysis/tables/idle_threads_internal.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/runtime/language.h"

enum place_doing
place_doing_of(enum run_state state)
{
	return state == RUN_RUNNING                      ? PLACE_RUNS :
	       state == RUN_QUEUED || state == RUN_READY ? PLACE_QUEUED :
							   PLACE_BLOCKED;
}

/* A thread is idle if one wait takes at least the share IDLE_SHARE of its time, and it existed for
 * at least the share IDLE_RUN of the run (IDLE_RUN_OF_TASK for a green task, whose time may be an
 * estimate). The second condition excludes threads that live shorter and wait for one reply. A
 * thread that executes only code of libraries is idle if its waits take IDLE_SHARE_OF_LIBRARY of
 * its time. */
#define IDLE_SHARE 0.999
#define IDLE_SHARE_OF_LIBRARY 0.97
#define IDLE_RUN 0.95
#define IDLE_RUN_OF_TASK 0.5

void
place_key(const struct view *view, const struct own *own, uint32_t function, uint64_t key[2])
{
	const struct view_function *of = view_function(view, function);
	const char *file = of->file != NULL ? of->file : "";

	if (own->rank[function] == OWN_UNNAMED) {
		key[0] = hash_bytes(of->module, strlen(of->module));
		key[1] = 0;
		return;
	}
	key[0] = hash_bytes(of->label, strlen(of->label));
	key[1] = hash_bytes(of->module, strlen(of->module)) ^
		 hash_u64(hash_bytes(file, strlen(file))) ^ 1;
}

/* True for a wait that may be that of an idle thread: a sleep that waits neither for a lock with an
 * owner nor for a file. */
static bool
may_be_idle(const struct profile_entry *entry, enum wait_kind kind)
{
	return entry->state == RUN_SLEEPING && kind != WAIT_FILE && kind != WAIT_DATABASE &&
	       !(wait_kind_has_owner(kind) && kind != WAIT_JOIN);
}

bool
place_is_scheduler(const struct view *view, enum run_state state, uint32_t outermost)
{
	return place_doing_of(state) == PLACE_BLOCKED &&
	       language_is_root(view_function(view, outermost)->name);
}

static void
sum_thread(struct idle_threads *threads, uint32_t index)
{
	const struct profile_entry *entry = profile_entry(view_profile(threads->view), index);
	struct thread_sum *sum = &threads->thread[entry->thread];
	const int64_t ns = entry->ns[WEIGHT_WALL];
	enum wait_kind kind = WAIT_NONE;
	const uint32_t *function;
	uint64_t place[2];
	size_t depth;

	if (ns == 0 || !view_sample(threads->view, entry, &function, &depth) || depth == 0)
		return;
	sum->is_in_table = true;
	sum->wall_ns += ns;
	if (place_is_scheduler(threads->view, entry->state, function[depth - 1])) {
		sum->scheduler_ns += ns;
		sum->most = sum->most_ns == 0 ? index : sum->most;
		return;
	}
	sum->has_own |= own_is_in(threads->own, threads->view, function, depth);
	if (entry->wait != 0)
		kind = view_wait_kind(threads->view, entry->wait, function, depth);
	if (may_be_idle(entry, kind) && entry->syscall != SYSCALL_NONE)
		sum->waits_ns += ns;
	if (ns <= sum->most_ns || !may_be_idle(entry, kind))
		return;
	place_key(threads->view, threads->own, function[own_place(threads->own, function, depth)],
		  place);
	sum->most_ns = ns;
	sum->most = index;
	sum->kind = kind;
	sum->is_peer = wait_kind_is_peer(kind);
	sum->is_made = sum->is_peer &&
		       wait_object_is_made(view_wait_object(threads->view, entry->wait));
	sum->pool = hash_u64(place[0] ^ hash_u64(place[1])) << 8 | (uint64_t)kind;
}

/* True if a thread waited all the time: in one place, or anywhere without code of the program. */
static bool
thread_only_waits(const struct idle_threads *threads, uint32_t thread)
{
	const struct thread_sum *sum = &threads->thread[thread];
	const struct profile *profile = view_profile(threads->view);
	const bool green = profile_thread(profile, thread)->is_green;
	const double least = green ? IDLE_RUN_OF_TASK : IDLE_RUN;

	if (!sum->is_in_table || (double)sum->wall_ns < least * (double)profile_wall_ns(profile))
		return false;
	return (double)(sum->most_ns + sum->scheduler_ns) >= IDLE_SHARE * (double)sum->wall_ns ||
	       (!sum->has_own && sum->most_ns > 0 &&
		(double)sum->waits_ns >= IDLE_SHARE_OF_LIBRARY * (double)sum->wall_ns);
}

/* --- tasks that ask and read ----------------------------------------------------------------- */

/* Returns a hash of the package of a function; 0: it belongs to a runtime. Computes it once. */
static uint64_t
package_of(const struct idle_threads *threads, uint32_t function)
{
	uint64_t *package = &threads->package[function];
	const char *name = view_function(threads->view, function)->name;

	if (*package == UINT64_MAX) {
		const size_t length = language_package(name);

		*package = length > 0 ? hash_bytes(name, length) | 1 : 0;
	}
	return *package;
}

/* Returns the number of functions of the longest wait of a green task, stored in *function; 0: the
 * thread is no such task. */
static size_t
wait_of_task(const struct idle_threads *threads, uint32_t thread, const uint32_t **function)
{
	const struct profile *profile = view_profile(threads->view);
	size_t depth = 0;

	if (threads->thread[thread].most_ns > 0 && profile_thread(profile, thread)->is_green)
		view_sample(threads->view, profile_entry(profile, threads->thread[thread].most),
			    function, &depth);
	return depth;
}

/* Sets `reads` of a task that waits for a connection which the program has made: the package of its
 * outermost function. */
static void
add_reader(struct idle_threads *threads, uint32_t thread)
{
	struct thread_sum *sum = &threads->thread[thread];
	const uint32_t *function;
	size_t depth = sum->is_made ? wait_of_task(threads, thread, &function) : 0;

	if (depth == 0)
		return;
	sum->is_of_library = threads->own
				     ->rank[function[own_place(threads->own, function, depth)]] ==
			     OWN_STANDARD;
	while (depth > 0 && sum->reads == 0)
		sum->reads = package_of(threads, function[--depth]);
	table_insert(&threads->readers, sum->reads, 0, 0, NULL);
}

/* Sets `asks` of a task that waits for another task, within a function of a package of readers that
 * a function of another package has called, directly or not. */
static void
find_asked(struct idle_threads *threads, uint32_t thread)
{
	struct thread_sum *sum = &threads->thread[thread];
	const bool waits = threads->readers.count > 0 && sum->kind == WAIT_GREEN;
	const uint32_t *function;
	size_t depth = waits ? wait_of_task(threads, thread, &function) : 0;
	uint64_t outermost = 0;
	bool has_others = false; /* functions of other packages than the outermost one */
	uint32_t unused;

	while (depth > 0 && sum->asks == 0) {
		const uint64_t package = package_of(threads, function[--depth]);

		if (package == 0)
			continue;
		outermost = outermost == 0 ? package : outermost;
		if ((package != outermost || has_others) &&
		    table_find(&threads->readers, package, 0, &unused))
			sum->asks = package;
		has_others |= package != outermost;
	}
	if (sum->asks != 0)
		*table_insert(&threads->readers, sum->asks, 0, 0, NULL) = 1;
}

/* True for a reader of a library that no task asks. */
static bool
is_unasked(const struct idle_threads *threads, const struct thread_sum *sum)
{
	uint32_t asked = 0;

	return sum->is_of_library && table_find(&threads->readers, sum->reads, 0, &asked) &&
	       asked == 0;
}

/* --- idle threads --------------------------------------------------------------------------- */

/* Finds the threads that hold a lock, and the tasks that read and ask; counts the threads of each
 * pool. */
static void
find_pools(struct idle_threads *threads)
{
	const size_t count = profile_thread_count(view_profile(threads->view));

	for (size_t i = 0; i < threads->waiting->count; i++) {
		const struct waiting_row *row = &threads->waiting->row[i];

		for (size_t h = 0; h < row->holders; h++)
			if (row->holder[h].thread < count)
				threads->thread[row->holder[h].thread].holds = true;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (thread_only_waits(threads, i))
			++*table_insert(&threads->pools, threads->thread[i].pool, 0, 0, NULL);
		add_reader(threads, i);
	}
	for (uint32_t i = 0; i < count; i++)
		find_asked(threads, i);
}

bool
idle_threads_has(const struct idle_threads *threads, uint32_t thread)
{
	const struct thread_sum *sum = &threads->thread[thread];
	uint32_t others = 0;

	if (!thread_only_waits(threads, thread) || sum->holds || sum->asks != 0)
		return false;
	if (sum->is_made)
		return is_unasked(threads, sum);
	return !sum->is_peer || (table_find(&threads->pools, sum->pool, 0, &others) && others > 1);
}

void
idle_threads_make(const struct view *view, const struct own *own, const struct waiting *waiting,
		  struct idle_threads *out)
{
	const struct profile *profile = view_profile(view);
	const size_t entries = profile_entry_count(profile);

	*out = (struct idle_threads){ .view = view, .own = own, .waiting = waiting };
	out->thread = xcalloc(profile_thread_count(profile) + 1, sizeof(*out->thread));
	out->package = xcalloc(view_function_count(view) + 1, sizeof(*out->package));
	for (size_t i = 0; i < view_function_count(view); i++)
		out->package[i] = UINT64_MAX;
	for (uint32_t i = 0; i < entries; i++)
		sum_thread(out, i);
	find_pools(out);
}

void
idle_threads_release(struct idle_threads *threads)
{
	free(threads->thread);
	free(threads->package);
	table_release(&threads->pools);
	table_release(&threads->readers);
}
