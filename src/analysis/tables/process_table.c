/* SPDX-License-Identifier: MIT */
/* process_table.c - sums up the time of processes, and joins those that do the same work. */
#include "wallsample/analysis/process_table.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/base/table.h"

/* A process, while the rows are made. */
struct one {
	uint32_t title; /* number of its title without numbers, in making.titles */
	uint32_t row;   /* UINT32_MAX: it has no samples */
	int64_t cpu_ns;
	bool sampled, is_parent;
};

/* The wall time of a function in the processes of a row. */
struct own_time {
	uint32_t row, function;
	int64_t ns;
};

struct making {
	const struct view *view;
	const struct profile *profile;
	struct strings *titles;
	/* By process of the profile; the last one, with the index `count`, is the CPU time of
	 * children that were not sampled. */
	struct one *one;
	size_t count;
	bool apart; /* each process is a row */
	struct process_table *out;
	size_t capacity;
};

/* --- titles --------------------------------------------------------------------------------- */

static char *
title_of(const struct making *making, uint32_t process)
{
	struct strbuf title = STRBUF_INIT;

	strbuf_add_text(&title, process == making->count ? PROFILE_UNSAMPLED_CHILDREN : "");
	process_add_title(making->profile, process, &title);
	return title.data;
}

/* Returns the number of the name of the process in the profile. */
static uint32_t
name_of(const struct making *making, uint32_t process)
{
	return process == making->count ? UINT32_MAX :
					  profile_process(making->profile, process)->name;
}

static uint32_t
plain_title(struct making *making, uint32_t process)
{
	char *title = title_of(making, process);
	struct strbuf plain = STRBUF_INIT;
	uint32_t number;

	strbuf_add_text(&plain, "");
	process_add_plain(title, &plain);
	number = strings_intern(making->titles, plain.data);
	strbuf_release(&plain);
	free(title);
	return number;
}

/* --- rows ----------------------------------------------------------------------------------- */

/* Marks the parents of other processes of the same name. */
static void
find_parents(struct making *making)
{
	struct table pids = { 0 };
	uint32_t parent;

	for (uint32_t i = 0; i < making->count; i++)
		table_insert(&pids, (uint64_t)profile_process(making->profile, i)->pid, 0, i, NULL);
	for (uint32_t i = 0; i < making->count; i++) {
		const struct profile_process *process = profile_process(making->profile, i);

		if (making->one[i].sampled && process->parent > 0 &&
		    table_find(&pids, (uint64_t)process->parent, 0, &parent) &&
		    profile_process(making->profile, parent)->name == process->name)
			making->one[parent].is_parent = true;
	}
	table_release(&pids);
}

/* Finds for each name whether its processes have more than MANY_TITLES different titles. Returns an
 * array by text of the profile's name in `names`. */
static void
join_many(struct making *making)
{
	struct table seen = { 0 }, counts = { 0 };

	for (uint32_t i = 0; i < making->count; i++) {
		const uint32_t name = name_of(making, i);
		bool added;

		if (!making->one[i].sampled || making->one[i].is_parent)
			continue;
		table_insert(&seen, name, making->one[i].title, 0, &added);
		if (added)
			(*table_insert(&counts, name, 0, 0, NULL))++;
	}
	for (uint32_t i = 0; i < making->count; i++) {
		const uint32_t name = name_of(making, i);
		uint32_t count = 0;

		if (table_find(&counts, name, 0, &count) && count > MANY_TITLES &&
		    !making->one[i].is_parent)
			making->one[i].title = UINT32_MAX;
	}
	table_release(&seen);
	table_release(&counts);
}

static void
add_to_row(struct making *making, uint32_t process, bool is_new)
{
	const struct one *one = &making->one[process];
	struct process_row *row = &making->out->row[one->row];
	char *title = one->title == UINT32_MAX ?
			      xstrdup(profile_text(making->profile, name_of(making, process))) :
			      title_of(making, process);

	if (is_new) {
		*row = (struct process_row){
			.process = process,
			.is_unsampled = process == making->count,
			.title = title,
			.cpu_least_ns = one->cpu_ns,
			.top = (uint32_t)view_function_count(making->view),
		};
	} else {
		char *common = process_common_title(row->title, title);

		free(row->title);
		free(title);
		row->title = common;
	}
	row->count++;
	row->cpu_ns += one->cpu_ns;
	if (one->cpu_ns < row->cpu_least_ns)
		row->cpu_least_ns = one->cpu_ns;
	if (one->cpu_ns > row->cpu_most_ns)
		row->cpu_most_ns = one->cpu_ns;
}

static void
make_rows(struct making *making)
{
	struct process_table *out = making->out;
	struct table known = { 0 };

	for (uint32_t i = 0; i <= making->count; i++) {
		struct one *one = &making->one[i];
		const uint64_t name = name_of(making, i);
		bool added;

		one->row = UINT32_MAX;
		if (!one->sampled)
			continue;
		out->processes += i < making->count;
		one->row = *table_insert(&known, making->apart ? i : name << 1 | one->is_parent,
					 making->apart ? 0 : one->title, (uint32_t)out->count,
					 &added);
		if (added) {
			out->row = xgrow(out->row, &making->capacity, out->count + 1,
					 sizeof(*out->row));
			out->count++;
		}
		add_to_row(making, i, added);
	}
	table_release(&known);
}

/* --- times ---------------------------------------------------------------------------------- */

static uint32_t
process_of(const struct making *making, const struct view_row *sample)
{
	return process_is_unsampled(making->profile, sample->thread) ?
		       (uint32_t)making->count :
		       profile_thread(making->profile, sample->thread)->process;
}

static void
sum_cpu(struct making *making)
{
	for (size_t r = 0; r < view_row_count(making->view); r++) {
		const struct view_row *sample = view_row(making->view, r);
		struct one *one = &making->one[process_of(making, sample)];

		one->sampled = true;
		one->cpu_ns += sample->ns[WEIGHT_CPU];
	}
}

static void
add_state_time(struct process_row *row, const struct view_row *sample)
{
	const enum place_doing doing = sample->state == RUN_RUNNING ? PLACE_RUNS :
				       sample->state == RUN_QUEUED  ? PLACE_QUEUED :
								      PLACE_BLOCKED;

	row->wall_ns += sample->ns[WEIGHT_WALL];
	row->ns[doing] += sample->ns[WEIGHT_WALL];
}

static void
sum_times(struct making *making, const struct own *own, const bool *is_idle)
{
	bool *seen = xcalloc(profile_thread_count(making->profile) + 1, sizeof(*seen));
	struct own_time *time = NULL;
	struct table known = { 0 };
	size_t capacity = 0;

	for (size_t r = 0; r < view_row_count(making->view); r++) {
		const struct view_row *sample = view_row(making->view, r);
		const uint32_t row = making->one[process_of(making, sample)].row;
		uint32_t function, at;

		add_state_time(&making->out->row[row], sample);
		if (is_idle == NULL || !is_idle[sample->thread])
			making->out->row[row].busy_ns += sample->ns[WEIGHT_WALL];
		making->out->row[row].threads += !seen[sample->thread];
		seen[sample->thread] = true;
		if (sample->depth == 0)
			continue;
		function = sample->function[own != NULL ? own_place(own, sample->function,
								    sample->depth) :
							  0];
		time = table_row(&known, (uint64_t[]){ row, function }, time, &capacity,
				 sizeof(*time), &at);
		time[at].row = row;
		time[at].function = function;
		time[at].ns += sample->ns[WEIGHT_WALL];
	}
	for (size_t i = 0; i < known.count; i++) {
		struct process_row *row = &making->out->row[time[i].row];

		if (time[i].ns <= row->top_ns)
			continue;
		row->top = time[i].function;
		row->top_ns = time[i].ns;
	}
	table_release(&known);
	free(time);
	free(seen);
}

static int
compare_rows(const void *left, const void *right)
{
	const struct process_row *a = left, *b = right;

	if ((a->busy_ns > 0) != (b->busy_ns > 0))
		return a->busy_ns > 0 ? -1 : 1;
	for (int doing = PLACE_RUNS; doing <= PLACE_QUEUED; doing++)
		if (a->ns[doing] != b->ns[doing])
			return a->ns[doing] < b->ns[doing] ? 1 : -1;
	if (a->wall_ns != b->wall_ns)
		return a->wall_ns < b->wall_ns ? 1 : -1;
	return (a->process > b->process) - (a->process < b->process);
}

static void
make_table(const struct view *view, const struct own *own, const bool *is_idle, bool apart,
	   struct process_table *out)
{
	struct making making = {
		.view = view,
		.profile = view_profile(view),
		.count = profile_process_count(view_profile(view)),
		.apart = apart,
		.out = out,
	};

	*out = (struct process_table){ .count = 0 };
	if (making.count == 0)
		return;
	making.titles = strings_create();
	making.one = xcalloc(making.count + 1, sizeof(*making.one));
	sum_cpu(&making);
	for (uint32_t i = 0; i <= making.count; i++)
		making.one[i].title = plain_title(&making, i);
	find_parents(&making);
	if (!apart)
		join_many(&making);
	make_rows(&making);
	sum_times(&making, own, is_idle);
	if (out->count > 1)
		qsort(out->row, out->count, sizeof(*out->row), compare_rows);
	free(making.one);
	strings_free(making.titles);
}

void
process_table_make(const struct view *view, const struct own *own, const bool *is_idle,
		   struct process_table *out)
{
	make_table(view, own, is_idle, false, out);
}

void
process_table_make_apart(const struct view *view, struct process_table *out)
{
	make_table(view, NULL, NULL, true, out);
}

void
process_table_release(struct process_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->row[i].title);
	free(table->row);
	*table = (struct process_table){ .count = 0 };
}
