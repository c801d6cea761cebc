/* SPDX-License-Identifier: MIT */
/*
 * async_groups.h - groups async tasks (async_tasks.h): tasks of one thread with the same state and
 * the same stack form one group.
 */
#ifndef WALLSAMPLE_ANALYSIS_TASK_GROUPS_H
#define WALLSAMPLE_ANALYSIS_TASK_GROUPS_H

#include "wallsample/runtime/async_tasks.h"

struct task_group {
	/* Any member of the group. All members have the same thread, state and stack. */
	const struct async_task *like;
	/* Indices of the members. Members that are awaited by the same tasks are adjacent. */
	const uint32_t *task;
	size_t count;
};

struct task_groups {
	struct task_group *group; /* ordered by the lowest index of a member */
	size_t count;
	uint32_t *task; /* array that holds the members of all groups */
};

/*
 * Fills `out`, which task_groups_release() releases. To be called after async_tasks_finish(tasks).
 * `tasks` must outlive `out`.
 */
void task_groups_make(const struct async_tasks *tasks, struct task_groups *out);
void task_groups_release(struct task_groups *groups);

/* True if the same tasks await the tasks `one` and `other`. */
bool tasks_are_awaited_alike(const struct async_tasks *tasks, uint32_t one, uint32_t other);

#endif
