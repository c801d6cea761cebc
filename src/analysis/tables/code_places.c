/* SPDX-License-Identifier: MIT */
/* code_places.c - sums the time of threads by the program's own function that ran or waited. */
#include "wallsample/analysis/code_places.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"
#include "wallsample/runtime/language.h"

/*
 * A thread is idle if one wait takes at least this part of its time, and its time is at least
 * IDLE_RUN of the run: a thread that lives shorter and waits for a reply all its life is not idle.
 */
#define IDLE_SHARE 0.999
#define IDLE_RUN 0.95

/* The sums of one thread. */
struct thread_sum {
	int64_t wall_ns;
	int64_t most_ns;      /* time of its longest wait that may be idle */
	uint32_t most;        /* that entry of the profile */
	uint64_t pool;        /* threads that wait in the same place for the same kind of object */
	bool holds;           /* it holds a lock for which other threads wait */
	int64_t scheduler_ns; /* time as in is_scheduler() */
	bool is_peer; /* the wait is for a peer: the thread is idle only if its pool has others */
	bool is_made; /* it is for a connection that the program has made: the thread is not idle */
	bool is_in_table; /* it has samples that the view selects */
};

/* A part of a row's time. For waits, `key` is a number from wait_key(), for lines a function of the
 * view by line. */
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
	struct thread_sum *thread; /* indexed by thread of the profile */
	bool leave_out;            /* idle threads are left out, because another is not idle */
	size_t row_capacity, idle_capacity;
	struct table rows;   /* row_key() -> row */
	struct table idle;   /* (row of `rows`; wait_key) -> idle row */
	struct table in_row; /* set of (row; thread): the thread has been counted for the row */
	struct table pools;  /* (thread_sum.pool; 0) -> number of threads */
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

/* True if the row has the name of an object. A socket with only a number has none, because
 * connections that end soon have one each. */
static bool
has_name(const struct waiting *waiting, size_t row)
{
	return row < waiting->count && !wait_object_is_bare(waiting->row[row].object);
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

/* Returns a number that distinguishes what is waited for: an object with a name, or, without one,
 * the kind, the system call and the state. */
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

static enum place_doing
doing_of(enum run_state state)
{
	return state == RUN_RUNNING                      ? PLACE_RUNS :
	       state == RUN_QUEUED || state == RUN_READY ? PLACE_QUEUED :
							   PLACE_BLOCKED;
}

/* --- idle threads --------------------------------------------------------------------------- */

/*
 * Returns the key of a function's row in placing->rows. Functions of one name in files of one name
 * share a row: those of several processes of a program. A function without a symbol shares the row
 * of its module. Two functions of one hash would share a row, too.
 */
static void
row_key(const struct placing *placing, uint32_t function, uint64_t key[2])
{
	const struct view_function *of = view_function(placing->view, function);
	const char *file = of->file != NULL ? of->file : "";

	if (placing->own->rank[function] == OWN_UNNAMED) {
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
	return entry->state == RUN_SLEEPING && kind != WAIT_FILE &&
	       !(wait_kind_has_owner(kind) && kind != WAIT_JOIN);
}

/* True if a thread of a runtime that schedules tasks, or a task of the runtime itself, waits for
 * work. */
static bool
is_scheduler(const struct placing *placing, enum place_doing doing, uint32_t outermost)
{
	return doing == PLACE_BLOCKED &&
	       language_is_root(view_function(placing->view, outermost)->name);
}

static void
sum_thread(struct placing *placing, uint32_t index)
{
	const struct profile_entry *entry = profile_entry(view_profile(placing->view), index);
	struct thread_sum *sum = &placing->thread[entry->thread];
	const int64_t ns = entry->ns[WEIGHT_WALL];
	enum wait_kind kind = WAIT_NONE;
	const uint32_t *function;
	uint64_t place[2];
	size_t depth;

	if (ns == 0 || !view_sample(placing->view, entry, &function, &depth) || depth == 0)
		return;
	sum->is_in_table = true;
	sum->wall_ns += ns;
	if (is_scheduler(placing, doing_of(entry->state), function[depth - 1])) {
		sum->scheduler_ns += ns;
		sum->most = sum->most_ns == 0 ? index : sum->most;
		return;
	}
	if (entry->wait != 0)
		kind = view_wait_kind(placing->view, entry->wait, function, depth);
	if (ns <= sum->most_ns || !may_be_idle(entry, kind))
		return;
	row_key(placing, function[own_place(placing->own, function, depth)], place);
	sum->most_ns = ns;
	sum->most = index;
	sum->is_peer = wait_kind_is_peer(kind);
	sum->is_made = sum->is_peer &&
		       wait_object_is_made(view_wait_object(placing->view, entry->wait));
	sum->pool = hash_u64(place[0] ^ hash_u64(place[1])) << 8 | (uint64_t)kind;
}

/* True if a thread waited in one place for the whole run. */
static bool
thread_only_waits(const struct placing *placing, uint32_t thread)
{
	const struct thread_sum *sum = &placing->thread[thread];
	const double run_ns = (double)profile_wall_ns(view_profile(placing->view));

	return sum->is_in_table && (double)sum->wall_ns >= IDLE_RUN * run_ns &&
	       (double)(sum->most_ns + sum->scheduler_ns) >= IDLE_SHARE * (double)sum->wall_ns;
}

/* Finds the threads that hold a lock, and counts those of each pool. */
static void
find_pools(struct placing *placing)
{
	const size_t threads = profile_thread_count(view_profile(placing->view));

	for (size_t i = 0; i < placing->waiting->count; i++) {
		const struct waiting_row *row = &placing->waiting->row[i];

		for (size_t h = 0; h < row->holders; h++)
			if (row->holder[h].thread < threads)
				placing->thread[row->holder[h].thread].holds = true;
	}
	for (uint32_t i = 0; i < threads; i++)
		if (thread_only_waits(placing, i))
			++*table_insert(&placing->pools, placing->thread[i].pool, 0, 0, NULL);
}

static bool
thread_is_idle(const struct placing *placing, uint32_t thread)
{
	const struct thread_sum *sum = &placing->thread[thread];
	uint32_t others = 0;

	if (!thread_only_waits(placing, thread) || sum->holds || sum->is_made)
		return false;
	return !sum->is_peer || (table_find(&placing->pools, sum->pool, 0, &others) && others > 1);
}

static void
add_idle(struct placing *placing, uint32_t thread)
{
	const struct thread_sum *sum = &placing->thread[thread];
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
	row_key(placing, function[own_place(placing->own, function, depth)], place);
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
	const enum place_doing doing = doing_of(entry->state);
	struct places *out = placing->out;
	const uint32_t *function;
	struct place_row *row;
	size_t depth, place;
	uint64_t key[2];
	uint32_t at;
	bool added;

	if (ns == 0 || !view_sample(placing->view, entry, &function, &depth) || depth == 0 ||
	    is_scheduler(placing, doing, function[depth - 1]) ||
	    (placing->leave_out && thread_is_idle(placing, entry->thread)))
		return;
	place = own_place(placing->own, function, depth);
	row_key(placing, function[place], key);
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
	if (doing == PLACE_BLOCKED)
		add_wait(placing, at, entry, function, depth);
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
		placing->out->threads += placing->thread[i].is_in_table;
		idle += thread_is_idle(placing, i);
	}
	placing->leave_out = idle < placing->out->threads;
	for (uint32_t i = 0; i < count && placing->leave_out; i++)
		if (thread_is_idle(placing, i))
			add_idle(placing, i);
}

void
places_make(const struct view *view, const struct view *lines, const struct own *own,
	    const struct waiting *waiting, struct places *out)
{
	const struct profile *profile = view_profile(view);
	const size_t entries = profile_entry_count(profile);
	struct placing placing = {
		.view = view, .lines = lines, .own = own, .waiting = waiting, .out = out
	};

	*out = (struct places){ .count = 0 };
	placing.thread = xcalloc(profile_thread_count(profile) + 1, sizeof(*placing.thread));
	for (uint32_t i = 0; i < entries; i++)
		sum_thread(&placing, i);
	find_pools(&placing);
	count_threads(&placing);
	for (uint32_t i = 0; i < entries; i++)
		add_sample(&placing, profile_entry(profile, i));
	out->count = placing.rows.count;
	choose_parts(&placing);
	sort_places(out);
	free(placing.thread);
	table_release(&placing.rows);
	table_release(&placing.idle);
	table_release(&placing.in_row);
	table_release(&placing.pools);
	release_parts(&placing.waits);
	release_parts(&placing.by_line);
}

void
places_release(struct places *places)
{
	free(places->row);
	free(places->idle);
	*places = (struct places){ .count = 0 };
}
