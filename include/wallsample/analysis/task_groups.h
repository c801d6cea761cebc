/* SPDX-License-Identifier: MIT */
/*
 * task_groups.h - user-space tasks by what they are in: those of a thread that are in the same
 * state and the same place are one group.
 */
#ifndef WALLSAMPLE_ANALYSIS_TASK_GROUPS_H
#define WALLSAMPLE_ANALYSIS_TASK_GROUPS_H

#include "wallsample/runtime/async_tasks.h"

struct task_group {
	const struct async_task *like; /* one of them: thread, state and stack are all's */
	const uint32_t *task; /* indices; those that are awaited by the same tasks together */
	size_t count;
};

struct task_groups {
	struct task_group *group; /* in the order of their first tasks */
	size_t count;
	uint32_t *task; /* those of all groups; internal */
};

/* The tasks must outlive them, and be finished. */
void task_groups_make(const struct async_tasks *tasks, struct task_groups *out);
void task_groups_release(struct task_groups *groups);

/* Are both awaited by the same tasks? */
bool tasks_are_awaited_alike(const struct async_tasks *tasks, uint32_t one, uint32_t other);

#endif
