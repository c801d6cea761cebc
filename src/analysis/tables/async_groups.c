/* SPDX-License-Identifier: MIT */
/* async_groups.c - groups the async tasks of a process. */
#include "wallsample/analysis/async_groups.h"

#include <stdlib.h>

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

/* Orders tasks by the tasks that await them; tasks that no task awaits come first. */
static int
compare_awaiters(const struct async_tasks *tasks, uint32_t one, uint32_t other)
{
	const uint32_t *a, *b;
	const size_t as = async_tasks_awaiters(tasks, one, &a);
	const size_t bs = async_tasks_awaiters(tasks, other, &b);

	for (size_t i = 0; i < as && i < bs; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return (as > bs) - (as < bs);
}

bool
async_tasks_share_awaiters(const struct async_tasks *tasks, uint32_t one, uint32_t other)
{
	return compare_awaiters(tasks, one, other) == 0;
}

static int
compare_async_tasks(const void *left, const void *right, void *context)
{
	const uint32_t *a = left, *b = right;
	const int awaiters = compare_awaiters(context, *a, *b);

	return awaiters != 0 ? awaiters : (*a > *b) - (*a < *b);
}

/* Sets group[i] to the group of task i, and fills out->group with `like` and `count`. */
static void
find_groups(const struct async_tasks *tasks, uint32_t *group, struct async_groups *out)
{
	struct table known = { 0 };

	for (size_t i = 0; i < async_tasks_count(tasks); i++) {
		const struct async_task *task = async_tasks_get(tasks, i);
		const uint64_t key = (uint64_t)(uint32_t)task->tid << 32 | (uint32_t)task->state;
		bool added;

		group[i] = *table_insert(&known, task->stack, key, (uint32_t)out->count, &added);
		if (added)
			out->group[out->count++] = (struct async_group){ .like = task };
		out->group[group[i]].count++;
	}
	table_release(&known);
}

void
async_groups_make(const struct async_tasks *tasks, struct async_groups *out)
{
	const size_t count = async_tasks_count(tasks);
	uint32_t *group = xcalloc(count + 1, sizeof(*group)); /* indexed by task: its group */
	/* indexed by group: index in out->member at which its next task is stored */
	uint32_t *next = xcalloc(count + 1, sizeof(*next));
	uint32_t at = 0;

	*out = (struct async_groups){
		.group = xcalloc(count + 1, sizeof(*out->group)),
		.member = xcalloc(count + 1, sizeof(*out->member)),
	};
	find_groups(tasks, group, out);
	for (size_t g = 0; g < out->count; g++) {
		next[g] = at;
		out->group[g].member = out->member + at;
		at += (uint32_t)out->group[g].count;
	}
	for (size_t i = 0; i < count; i++)
		out->member[next[group[i]]++] = (uint32_t)i;
	for (size_t g = 0; g < out->count; g++)
		qsort_r(out->member + (next[g] - out->group[g].count), out->group[g].count,
			sizeof(*out->member), compare_async_tasks, (void *)(uintptr_t)tasks);
	free(group);
	free(next);
}

void
async_groups_release(struct async_groups *groups)
{
	free(groups->group);
	free(groups->member);
	*groups = (struct async_groups){ .group = NULL };
}
