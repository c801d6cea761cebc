/* SPDX-License-Identifier: MIT */
/*
 * julia_tasks_internal.h - Julia's tasks: which there are, and where those that wait go on.
 *
 * Each thread has the slot of the task that it began with, then one for each in its list of those
 * that were started on it and have a stack. A task that has not been started has no slot. When a
 * task waits and there is no other to run, its thread waits on its stack: the task is then
 * GREEN_TASK_CALLING.
 */
#ifndef WALLSAMPLE_RUNTIME_JULIA_JULIA_TASKS_INTERNAL_H
#define WALLSAMPLE_RUNTIME_JULIA_JULIA_TASKS_INTERNAL_H

#include "runtime/julia/julia_find_internal.h"
#include "runtime/runtime_kind_internal.h"

struct julia_tasks;

/* Borrowed. */
struct julia_tasks *julia_tasks_create(const struct runtime_tools *tools);
void julia_tasks_free(struct julia_tasks *tasks);

/* Reads how many slots there are; NULL: there is no Julia. */
size_t julia_tasks_slots(struct julia_tasks *tasks, const struct julia_place *place);
/* Would it know more of their states after another call? */
bool julia_tasks_searching(const struct julia_tasks *tasks);
/* As look of struct runtime_scheduler, for the slots of the last call. */
void julia_tasks_look(struct julia_tasks *tasks, const uint32_t *slot, size_t count,
		      struct green_task *out);
/*
 * The task that the thread runs, read by tools->pages; GREEN_TASK_NONE: none, it looks for one,
 * or collects garbage. False: it is no thread of Julia's, as of the last call of
 * julia_tasks_slots, or that cannot be told.
 */
bool julia_tasks_running(struct julia_tasks *tasks, pid_t tid, struct green_task *task);

#endif
