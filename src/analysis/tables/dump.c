/* SPDX-License-Identifier: MIT */
/* dump.c - groups the threads and tasks of one tick. In this file "task" means a green task
 * (green_task.h). */
#include "wallsample/analysis/dump.h"

#include <stdlib.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

/* A row of the view, and the group to which it belongs. */
struct member {
	const struct view_row *row;
	const struct profile_thread *of;
	uint32_t group;
	struct dump_thread thread;
};

/* Orders threads by tid, before tasks, which are ordered by green_id. */
static int
compare_ids(const struct profile_thread *a, const struct profile_thread *b)
{
	if (a->is_green != b->is_green)
		return a->is_green ? 1 : -1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return (a->green_id > b->green_id) - (a->green_id < b->green_id);
}

static int
compare_members(const void *left, const void *right)
{
	const struct member *a = left, *b = right;
	const int order = compare_ids(a->of, b->of);

	if (order != 0)
		return order;
	return a->row->thread < b->row->thread ? -1 : a->row->thread > b->row->thread;
}

/*
 * Returns the rows that have samples, ordered by compare_members(), in an array of *count elements,
 * which the caller frees. A row without samples has only Latency: real time without a runnable
 * thread, which the sampler charges to a wait.
 */
static struct member *
list_members(const struct view *view, size_t *count)
{
	const size_t rows = view_row_count(view);
	struct member *member = xcalloc(rows + 1, sizeof(*member));

	*count = 0;
	for (size_t i = 0; i < rows; i++) {
		const struct view_row *row = view_row(view, i);
		const struct profile_thread *of = profile_thread(view_profile(view), row->thread);
		const bool many = of->is_green && of->green_id == 0;

		if (row->samples <= 0)
			continue;
		member[(*count)++] = (struct member){
			.row = row,
			.of = of,
			.thread.thread = row->thread,
			.thread.count = many ? (uint64_t)row->samples : 1,
		};
	}
	if (*count > 1)
		qsort(member, *count, sizeof(*member), compare_members);
	return member;
}

/*
 * Sets wait and holder of each member. In one tick a thread has one wait, and an awaited object has
 * one holder.
 */
static void
find_waits(const struct profile *profile, struct member *member, size_t count)
{
	uint32_t *wait = xcalloc(profile_thread_count(profile) + 1, sizeof(*wait));
	const struct profile_blame **holder = xcalloc(profile_wait_count(profile) + 1,
						      sizeof(*holder));

	for (size_t i = 0; i < profile_entry_count(profile); i++)
		if (profile_entry(profile, i)->samples > 0)
			wait[profile_entry(profile, i)->thread] = profile_entry(profile, i)->wait;
	for (size_t i = 0; i < profile_blame_count(profile); i++)
		holder[profile_blame(profile, i)->wait] = profile_blame(profile, i);
	for (size_t i = 0; i < count; i++) {
		member[i].thread.wait = wait[member[i].thread.thread];
		member[i].thread.holder = holder[member[i].thread.wait];
		/* Between its sample and the reading of the lock's owner, a thread may get the lock
		 * that it waited for. */
		if (member[i].thread.holder != NULL &&
		    member[i].thread.holder->thread == member[i].thread.thread)
			member[i].thread.holder = NULL;
	}
	free(wait);
	free(holder);
}

static void
add_waiting(struct dump_group *group, uint64_t waiting_ns)
{
	if (waiting_ns == 0)
		return;
	if (group->waiting_least_ns == 0 || waiting_ns < group->waiting_least_ns)
		group->waiting_least_ns = waiting_ns;
	if (waiting_ns > group->waiting_ns)
		group->waiting_ns = waiting_ns;
}

/*
 * Sets the group of each member, and makes the groups. Members of a group have the same state,
 * system call and stack; in a group of tasks they have the same wait, too.
 */
static void
find_groups(struct member *member, size_t count, struct dump *dump)
{
	struct table known = { 0 }, stacks = { 0 }, processes = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct view_row *row = member[i].row;
		const bool is_green = member[i].of->is_green;
		/*
		 * Rows with the same stack share one array of functions, whose address identifies
		 * the stack.
		 */
		const uint32_t stack = *table_insert(&stacks, (uintptr_t)row->function, is_green,
						     (uint32_t)stacks.count, NULL);
		bool added;

		member[i].group = *table_insert(&known,
						(uint64_t)row->state << 32 | (uint32_t)row->syscall,
						(uint64_t)stack << 32 |
							(is_green ? member[i].thread.wait : 0),
						(uint32_t)dump->count, &added);
		if (added)
			dump->group[dump->count++] = (struct dump_group){
				.state = row->state,
				.syscall = row->syscall,
				.function = row->function,
				.depth = row->depth,
				.are_green = is_green,
			};
		dump->group[member[i].group].count++;
		table_insert(&processes, member[i].group, member[i].of->process, 0, &added);
		dump->group[member[i].group].processes += added;
		add_waiting(&dump->group[member[i].group], member[i].of->waiting_ns);
		if (is_green) {
			dump->group[member[i].group].green_count += member[i].thread.count;
			dump->green_count += member[i].thread.count;
			dump->any_green = row->thread;
		} else {
			dump->threads++;
		}
	}
	table_release(&known);
	table_release(&stacks);
	table_release(&processes);
}

/*
 * Threads of a group are ordered by wait, then by compare_ids(). Waits are in the order of of_wait:
 * of_wait[wait] is the index of the first member with this wait.
 */
struct order {
	const struct profile *profile;
	size_t *of_wait;
};

static int
compare_threads(const void *left, const void *right, void *context)
{
	const struct order *order = context;
	const struct dump_thread *a = left, *b = right;

	if (a->wait != b->wait)
		return order->of_wait[a->wait] < order->of_wait[b->wait] ? -1 : 1;
	return compare_ids(profile_thread(order->profile, a->thread),
			   profile_thread(order->profile, b->thread));
}

static void
sort_threads(const struct profile *profile, const struct member *member, size_t count,
	     struct dump *dump)
{
	struct order order = {
		.profile = profile,
		.of_wait = xcalloc(profile_wait_count(profile) + 1, sizeof(*order.of_wait)),
	};
	struct dump_thread *at = dump->thread;

	for (size_t i = count; i-- > 0;)
		order.of_wait[member[i].thread.wait] = i;
	for (size_t g = 0; g < dump->count; at += dump->group[g++].count)
		if (dump->group[g].count > 1)
			qsort_r(at, dump->group[g].count, sizeof(*at), compare_threads, &order);
	free(order.of_wait);
}

void
dump_make(const struct view *view, struct dump *out)
{
	size_t count, next = 0;
	struct member *member = list_members(view, &count);
	struct dump_thread **at;

	find_waits(view_profile(view), member, count);
	*out = (struct dump){
		.group = xcalloc(count + 1, sizeof(*out->group)),
		.thread = xcalloc(count + 1, sizeof(*out->thread)),
	};
	find_groups(member, count, out);
	at = xcalloc(out->count + 1, sizeof(*at));
	for (size_t g = 0; g < out->count; g++) {
		out->group[g].thread = at[g] = out->thread + next;
		next += out->group[g].count;
	}
	for (size_t i = 0; i < count; i++)
		*at[member[i].group]++ = member[i].thread;
	sort_threads(view_profile(view), member, count, out);
	free(at);
	free(member);
}

void
dump_release(struct dump *dump)
{
	free(dump->group);
	free(dump->thread);
	*dump = (struct dump){ .group = NULL };
}
