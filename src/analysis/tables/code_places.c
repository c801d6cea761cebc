/* SPDX-License-Identifier: MIT */
/* code_places.c - sums the time of threads by the program's own function that ran or waited. */
#include "analysis/tables/idle_threads_internal.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"
#include "wallsample/runtime/language.h"

/* A part of a row's time. `key`: of wait_key(); for lines, a function of the view by line. */
struct row_part {
	uint32_t row;
	uint64_t key;
	int64_t ns, most_ns; /* most_ns: largest time of one entry; `stack` is that entry's */
	uint32_t stack;
	struct place_wait wait;
};

struct row_parts {
	struct row_part *part;
	size_t capacity;
	struct table find; /* (row; key) -> part */
};

struct placing {
	const struct view *view, *lines;
	const struct own *own;
	const struct waiting *waiting;
	struct places *out;
	struct idle_threads threads;
	bool leave_out; /* idle threads are left out, because another is not idle */
	size_t row_capacity, idle_capacity;
	struct table rows;   /* place_key() -> row */
	struct table idle;   /* (row of `rows`; wait_key) -> idle row */
	struct table in_row; /* set of (row; thread): the thread has been counted for the row */
	struct row_parts waits, by_line;
};

/* --- samples -------------------------------------------------------------------------------- */

static struct row_part *
find_part(struct row_parts *parts, uint32_t row, uint64_t key)
{
	uint32_t at;

	parts->part = table_row(&parts->find, (uint64_t[]){ row, key }, parts->part,
				&parts->capacity, sizeof(*parts->part), &at);
	parts->part[at].row = row;
	parts->part[at].key = key;
	return &parts->part[at];
}

static void
release_parts(struct row_parts *parts)
{
	free(parts->part);
	table_release(&parts->find);
}

/* True if the row has an object with a name, or needs none. A bare number, as short connections
 * have, is none. */
static bool
has_name(const struct waiting *waiting, size_t row)
{
	return row < waiting->count && (waiting->row[row].kind == WAIT_DATABASE ||
					!wait_object_is_bare(waiting->row[row].object));
}

/* Returns what the thread of a sample waits for. */
static struct place_wait
awaited_by(const struct placing *placing, const struct profile_entry *entry,
	   const uint32_t *function, size_t depth)
{
	const bool green = profile_thread(view_profile(placing->view), entry->thread)->is_green;
	struct place_wait wait = { .row = placing->waiting->count,
				   .kind = WAIT_NONE,
				   .state = entry->state,
				   .syscall = green ? SYSCALL_GREEN : entry->syscall,
				   .gil = entry->gil == GIL_WAIT };
	size_t row;

	if (entry->wait == 0)
		return wait;
	row = waiting_find(placing->waiting, placing->view, entry->wait, function, depth);
	wait.kind = view_wait_kind(placing->view, entry->wait, function, depth);
	wait.row = has_name(placing->waiting, row) ? row : placing->waiting->count;
	return wait;
}

/* Returns a key of what a thread waits for: a named object, or kind, system call and state. */
static uint64_t
wait_key(const struct placing *placing, const struct place_wait *wait)
{
	if (wait->gil)
		return UINT64_MAX;
	return wait->row < placing->waiting->count ?
		       (uint64_t)wait->row << 1 | 1 :
		       ((uint64_t)(uint32_t)wait->syscall << 16 | (uint64_t)wait->kind << 8 |
			(uint64_t)wait->state)
			       << 1;
}

/* --- idle threads --------------------------------------------------------------------------- */

static void
add_idle(struct placing *placing, uint32_t thread)
{
	const struct thread_sum *sum = &placing->threads.thread[thread];
	const struct profile_entry *entry = profile_entry(view_profile(placing->view), sum->most);
	struct places *out = placing->out;
	struct place_wait wait;
	const uint32_t *function;
	struct idle_row *row;
	uint64_t place[2];
	size_t depth;
	uint32_t at;

	view_sample(placing->view, entry, &function, &depth);
	wait = awaited_by(placing, entry, function, depth);
	place_key(placing->view, placing->own, function[own_place(placing->own, function, depth)],
		  place);
	out->idle = table_row(&placing->idle,
			      (uint64_t[]){ place[0] ^ hash_u64(place[1]),
					    wait_key(placing, &wait) },
			      out->idle, &placing->idle_capacity, sizeof(*out->idle), &at);
	row = &out->idle[at];
	row->thread = thread;
	row->function = function[own_place(placing->own, function, depth)];
	row->wait = wait;
	row->wall_ns += sum->wall_ns;
	row->threads++;
	out->idle_count = placing->idle.count;
	out->idle_threads++;
	out->is_idle[thread] = true;
}

/* --- places --------------------------------------------------------------------------------- */

static void
add_wait(struct placing *placing, uint32_t row, const struct profile_entry *entry,
	 const uint32_t *function, size_t depth)
{
	const struct place_wait wait = awaited_by(placing, entry, function, depth);
	struct row_part *part = find_part(&placing->waits, row, wait_key(placing, &wait));

	part->ns += entry->ns[WEIGHT_WALL];
	if (entry->ns[WEIGHT_WALL] > part->most_ns) {
		part->most_ns = entry->ns[WEIGHT_WALL];
		part->stack = entry->stack;
	}
	part->wait = wait;
}

static void
add_line(struct placing *placing, uint32_t row, const struct profile_entry *entry, size_t place,
	 size_t depth)
{
	const uint32_t *function;
	size_t depth_by_line;

	if (placing->lines == NULL)
		return;
	view_stack(placing->lines, entry->stack, &function, &depth_by_line);
	if (depth_by_line == depth)
		find_part(&placing->by_line, row, function[place])->ns += entry->ns[WEIGHT_WALL];
}

static void
add_sample(struct placing *placing, const struct profile_entry *entry)
{
	const int64_t ns = entry->ns[WEIGHT_WALL];
	const enum place_doing doing = place_doing_of(entry->state);
	struct places *out = placing->out;
	const uint32_t *function;
	struct place_row *row;
	size_t depth, place;
	uint64_t key[2];
	uint32_t at;
	bool added;

	if (ns == 0 || !view_sample(placing->view, entry, &function, &depth) || depth == 0 ||
	    place_is_scheduler(placing->view, entry->state, function[depth - 1]) ||
	    (placing->leave_out && idle_threads_has(&placing->threads, entry->thread)))
		return;
	place = own_place(placing->own, function, depth);
	place_key(placing->view, placing->own, function[place], key);
	out->row = table_row(&placing->rows, key, out->row, &placing->row_capacity,
			     sizeof(*out->row), &at);
	row = &out->row[at];
	row->function = function[place];
	row->wall_ns += ns;
	row->ns[doing] += ns;
	out->wall_ns += ns;
	out->ns[doing] += ns;
	table_insert(&placing->in_row, at, entry->thread, 0, &added);
	row->threads += added;
	row->thread = entry->thread;
	if (doing == PLACE_BLOCKED) {
		const struct thread_sum *sum = &placing->threads.thread[entry->thread];

		row->asks = sum->asks != 0 ? sum->asks : row->asks;
		row->reads = sum->reads != 0 ? sum->reads : row->reads;
		add_wait(placing, at, entry, function, depth);
	}
	add_line(placing, at, entry, place, depth);
}

/* Sets the example of each row. */
static void
choose_examples(struct placing *placing)
{
	const size_t none = placing->waiting->count;
	struct places *out = placing->out;
	int64_t *most_ns = xcalloc(out->count + 1, sizeof(*most_ns));

	for (size_t i = 0; i < placing->waits.find.count; i++) {
		const struct row_part *part = &placing->waits.part[i];
		struct place_row *row = &out->row[part->row];

		if (row->wait.row < none || part->wait.row >= none || row->wait.gil ||
		    part->wait.kind != row->wait.kind || part->ns <= most_ns[part->row])
			continue;
		most_ns[part->row] = part->ns;
		row->example = part->wait.row;
	}
	free(most_ns);
}

/* Sets the wait and the line of each row to those that took the most time. */
static void
choose_parts(struct placing *placing)
{
	struct places *out = placing->out;
	int64_t *line_ns = xcalloc(out->count + 1, sizeof(*line_ns));

	for (size_t i = 0; i < out->count; i++) {
		out->row[i].wait.row = out->row[i].example = placing->waiting->count;
		out->row[i].stack = STACK_NONE;
	}
	for (size_t i = 0; i < placing->waits.find.count; i++) {
		const struct row_part *part = &placing->waits.part[i];
		struct place_row *row = &out->row[part->row];

		if (part->ns <= row->wait_ns)
			continue;
		row->wait_ns = part->ns;
		row->stack = part->stack;
		row->wait = part->wait;
	}
	choose_examples(placing);
	for (size_t i = 0; i < placing->by_line.find.count; i++) {
		const struct row_part *part = &placing->by_line.part[i];
		struct place_row *row = &out->row[part->row];
		const struct view_function *line;

		if (part->ns <= line_ns[part->row])
			continue;
		line = view_function(placing->lines, (uint32_t)part->key);
		line_ns[part->row] = part->ns;
		row->file = line->file;
		row->line = line->line;
	}
	free(line_ns);
}

static int
compare_places(const void *left, const void *right)
{
	const struct place_row *a = left, *b = right;

	if (a->wall_ns != b->wall_ns)
		return a->wall_ns < b->wall_ns ? 1 : -1;
	return a->function < b->function ? -1 : 1;
}

static int
compare_idle(const void *left, const void *right)
{
	const struct idle_row *a = left, *b = right;

	if (a->threads != b->threads)
		return a->threads < b->threads ? 1 : -1;
	return a->thread < b->thread ? -1 : 1;
}

/* Orders the rows, and removes those whose time corrections have reduced to 0. */
static void
sort_places(struct places *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < out->count; i++)
		if (out->row[i].wall_ns > 0)
			out->row[kept++] = out->row[i];
	out->count = kept;
	if (out->count > 1)
		qsort(out->row, out->count, sizeof(*out->row), compare_places);
	if (out->idle_count > 1)
		qsort(out->idle, out->idle_count, sizeof(*out->idle), compare_idle);
}

/* Counts the threads, and adds the rows of the idle ones, unless all threads are idle. */
static void
count_threads(struct placing *placing)
{
	const size_t count = profile_thread_count(view_profile(placing->view));
	size_t idle = 0;

	for (uint32_t i = 0; i < count; i++) {
		placing->out->threads += placing->threads.thread[i].is_in_table;
		idle += idle_threads_has(&placing->threads, i);
	}
	placing->leave_out = idle < placing->out->threads;
	for (uint32_t i = 0; i < count && placing->leave_out; i++)
		if (idle_threads_has(&placing->threads, i))
			add_idle(placing, i);
}

static void
add_samples(struct placing *placing)
{
	const struct profile *profile = view_profile(placing->view);
	const size_t entries = profile_entry_count(profile);

	for (uint32_t i = 0; i < entries; i++)
		add_sample(placing, profile_entry(profile, i));
}

void
places_make(const struct view *view, const struct view *lines, const struct own *own,
	    const struct waiting *waiting, struct places *out)
{
	struct placing placing = {
		.view = view, .lines = lines, .own = own, .waiting = waiting, .out = out
	};

	const size_t threads = profile_thread_count(view_profile(view));

	*out = (struct places){ .is_idle = xcalloc(threads + 1, sizeof(*out->is_idle)) };
	idle_threads_make(view, own, waiting, &placing.threads);
	count_threads(&placing);
	add_samples(&placing);
	if (placing.leave_out && placing.rows.count == 0) {
		/* The other threads only wait for tasks. */
		placing.leave_out = false;
		out->idle_count = out->idle_threads = 0;
		memset(out->is_idle, 0, threads * sizeof(*out->is_idle));
		add_samples(&placing);
	}
	out->count = placing.rows.count;
	choose_parts(&placing);
	sort_places(out);
	idle_threads_release(&placing.threads);
	table_release(&placing.rows);
	table_release(&placing.idle);
	table_release(&placing.in_row);
	release_parts(&placing.waits);
	release_parts(&placing.by_line);
}

void
places_release(struct places *places)
{
	free(places->row);
	free(places->idle);
	free(places->is_idle);
	*places = (struct places){ .count = 0 };
}
