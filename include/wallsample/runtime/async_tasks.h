/* SPDX-License-Identifier: MIT */
/*
 * async_tasks.h - tasks that await one another in the target: the place of each, and its awaiters.
 *
 * They are read from the target's memory, one thread at a time, while the thread is stopped or
 * sleeps. The caller ensures that, and undoes a reading during which the thread has run. After the
 * last reading async_tasks_finish resolves who awaits whom; from then on neither the target nor the
 * runtimes are needed.
 */
#ifndef WALLSAMPLE_RUNTIME_ASYNC_TASKS_H
#define WALLSAMPLE_RUNTIME_ASYNC_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/runtime/runtime.h"

/* Limits on what is read: the target's memory is not trusted. */
#define ASYNC_TASKS_MOST 100000
#define ASYNC_TASK_DEPTH_MOST 1000

/* The stack of a task without frames. */
#define ASYNC_STACK_NONE UINT32_MAX

/* X(NAME, text) */
#define ASYNC_TASK_STATES(X)                                                 \
	X(RUNNING, "running")                                                  \
	X(WAITING, "waiting")                                                  \
	X(NEW, "not started")

enum async_task_state {
#define X(name, text) ASYNC_TASK_##name,
	ASYNC_TASK_STATES(X)
#undef X
};

const char *async_task_state_text(enum async_task_state state);

struct async_task {
	uint64_t address; /* in the target */
	const char *name;
	pid_t tid;        /* the thread that runs it; 0: that thread has ended */
	enum async_task_state state;
	uint32_t stack;   /* equal for tasks whose whole stacks are equal */
};

struct async_tasks;

struct async_tasks *async_tasks_create(void);
void async_tasks_free(struct async_tasks *tasks);

/* --- reading ------------------------------------------------------------------------------ */

/*
 * Adds the tasks of a thread, or with tid 0 those of threads that have ended, until the moment
 * `until_ns` at most. Returns the number of tasks added. Safe while the thread runs, but then the
 * result is wrong.
 */
size_t runtimes_read_async_tasks(struct runtimes *runtimes, struct async_tasks *tasks, pid_t tid,
				 uint64_t until_ns);
/* Removes the tasks and notes that the last runtimes_read_async_tasks has added. */
void async_tasks_undo(struct async_tasks *tasks);
/* Must be called once after the last task was read. */
void async_tasks_finish(struct async_tasks *tasks);

/* Adds a sentence about what is missing. The text is copied; equal ones are kept once. */
void async_tasks_note(struct async_tasks *tasks, const char *text);

/* --- results, after async_tasks_finish --------------------------------------------------- */

/* By thread, in the order of creation. */
size_t async_tasks_count(const struct async_tasks *tasks);
const struct async_task *async_tasks_get(const struct async_tasks *tasks, size_t index);
/* Stores the indices, ascending, of the tasks that await it; returns their number. */
size_t async_tasks_awaiters(const struct async_tasks *tasks, size_t index,
			    const uint32_t **awaiter);
/* The innermost place of the stack, whose caller is stored in *stack; NULL: no place is left. */
const struct runtime_place *async_tasks_place(const struct async_tasks *tasks, uint32_t *stack);
/* The notes, from index 0 on; NULL: no more. */
const char *async_tasks_missing(const struct async_tasks *tasks, size_t index);

#endif
