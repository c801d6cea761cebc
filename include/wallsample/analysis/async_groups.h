/* SPDX-License-Identifier: MIT */
/*
 * async_groups.h - groups async tasks (async_tasks.h): tasks of one thread with the same state and
 * the same stack form one group.
 */
#ifndef WALLSAMPLE_ANALYSIS_ASYNC_GROUPS_H
#define WALLSAMPLE_ANALYSIS_ASYNC_GROUPS_H

#include "wallsample/runtime/async_tasks.h"

struct async_group {
	/* Any member of the group. All members have the same thread, state and stack. */
	const struct async_task *like;
	/* Indices of the members. Members that are awaited by the same tasks are adjacent. */
	const uint32_t *member;
	size_t count;
};

struct async_groups {
	struct async_group *group; /* ordered by the lowest index of a member */
	size_t count;
	uint32_t *member; /* array that holds the members of all groups */
};

/*
 * Fills `out`, which async_groups_release() releases. To be called after async_tasks_finish(tasks).
 * `tasks` must outlive `out`.
 */
void async_groups_make(const struct async_tasks *tasks, struct async_groups *out);
void async_groups_release(struct async_groups *groups);

/* True if the same tasks await the tasks `one` and `other`. */
bool async_tasks_share_awaiters(const struct async_tasks *tasks, uint32_t one, uint32_t other);

#endif
