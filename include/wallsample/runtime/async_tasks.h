/* SPDX-License-Identifier: MIT */
/*
 * async_tasks.h - coroutines of an event loop ("tasks"): where each is suspended, and the tasks
 * that await it.
 *
 * Tasks are read from the target's memory, one thread at a time, while the thread is stopped or
 * sleeps. The caller ensures that, and undoes a reading during which the thread has run. After the
 * last reading async_tasks_finish resolves the awaiters of each task; from then on neither the
 * target nor the runtimes are needed.
 */
#ifndef WALLSAMPLE_RUNTIME_ASYNC_TASKS_H
#define WALLSAMPLE_RUNTIME_ASYNC_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/runtime/runtime.h"

/* Most tasks, and most frames of a task. The target's memory is not trusted. */
#define ASYNC_TASKS_MOST 100000
#define ASYNC_TASK_DEPTH_MOST 1000

/* The number of an empty stack. */
#define ASYNC_STACK_NONE UINT32_MAX

/* X(NAME, text) */
#define ASYNC_TASK_STATES(X)                                                                       \
	X(RUNNING, "running")                                                                      \
	X(WAITING, "waiting")                                                                      \
	X(NEW, "not started")

enum async_task_state {
#define X(name, text) ASYNC_TASK_##name,
	ASYNC_TASK_STATES(X)
#undef X
};

/* Returns the text of X above; static. */
const char *async_task_state_text(enum async_task_state state);

struct async_task {
	uint64_t address; /* address in the target */
	const char *name; /* borrowed */
	pid_t tid;        /* thread of its event loop; 0: that thread has ended */
	enum async_task_state state;
	uint32_t stack; /* number of its stack, or ASYNC_STACK_NONE; equal stacks are one number */
};

struct async_tasks;

/* Makes an empty list of tasks, which the caller frees. Never fails. */
struct async_tasks *async_tasks_create(void);
void async_tasks_free(struct async_tasks *tasks);

/* --- reading ------------------------------------------------------------------------------ */

/*
 * Adds the tasks of a thread, or with tid 0 those of threads that have ended. Stops at the moment
 * `until_ns` (CLOCK_MONOTONIC). Returns the number of tasks added. If the thread runs meanwhile,
 * the result is wrong, but the call is safe.
 */
size_t runtimes_read_async_tasks(struct runtimes *runtimes, struct async_tasks *tasks, pid_t tid,
				 uint64_t until_ns);
/* Removes the tasks and notes that the last call of runtimes_read_async_tasks has added. */
void async_tasks_undo(struct async_tasks *tasks);
/* Resolves the awaiters of all tasks. Must be called once, after the last reading. */
void async_tasks_finish(struct async_tasks *tasks);

/* Adds a note about missing tasks. The text is copied; equal notes are kept once. */
void async_tasks_note(struct async_tasks *tasks, const char *text);

/* --- results, after async_tasks_finish --------------------------------------------------- */

/* Number of tasks, which are ordered by thread, then by creation. The results live as long as
 * `tasks`. */
size_t async_tasks_count(const struct async_tasks *tasks);
const struct async_task *async_tasks_get(const struct async_tasks *tasks, size_t index);
/* Stores the ascending indices of the tasks that await the task. Returns their number. */
size_t async_tasks_awaiters(const struct async_tasks *tasks, size_t index,
			    const uint32_t **awaiter);
/* Returns the leaf of *stack and sets *stack to the stack of its caller; NULL: *stack is empty. */
const struct runtime_place *async_tasks_place(const struct async_tasks *tasks, uint32_t *stack);
/* Returns note number `index`, from 0 on; NULL: there is none. */
const char *async_tasks_missing(const struct async_tasks *tasks, size_t index);

#endif
