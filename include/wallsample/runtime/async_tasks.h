/* SPDX-License-Identifier: MIT */
/*
 * async_tasks.h - the coroutines that an event loop runs ("tasks"): where each is suspended, and
 * which tasks await it.
 *
 * Tasks are read from the target's memory, one thread at a time. The caller makes sure that the
 * thread is stopped or sleeps during its reading, and calls async_tasks_undo if the thread has run.
 * After the last reading async_tasks_finish resolves the awaiters of each task; from then on
 * neither the target nor the runtimes are needed.
 */
#ifndef WALLSAMPLE_RUNTIME_ASYNC_TASKS_H
#define WALLSAMPLE_RUNTIME_ASYNC_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/runtime/runtime.h"

/* Most tasks, and most frames of one task: bounds, because the target's memory is not trusted. */
#define ASYNC_TASKS_MOST 100000
#define ASYNC_TASK_DEPTH_MOST 1000

/* The number that stands for an empty stack. */
#define ASYNC_STACK_NONE UINT32_MAX

/* States of tasks: X(NAME, text). */
#define ASYNC_TASK_STATES(X)                                                                       \
	X(RUNNING, "running")                                                                      \
	X(WAITING, "waiting")                                                                      \
	X(NEW, "not started")

enum async_task_state {
#define X(name, text) ASYNC_TASK_##name,
	ASYNC_TASK_STATES(X)
#undef X
};

/* Returns the text of the state in ASYNC_TASK_STATES, a static string. */
const char *async_task_state_text(enum async_task_state state);

struct async_task {
	uint64_t address; /* address of the task in the target */
	const char *name; /* name of the task, borrowed */
	pid_t tid;        /* thread of its event loop; 0: that thread has ended */
	enum async_task_state state;
	/*
	 * number of its stack for async_tasks_place, or ASYNC_STACK_NONE; tasks with equal stacks
	 * have equal numbers
	 */
	uint32_t stack;
};

struct async_tasks;

/* Makes an empty list of tasks, which the caller frees. Never fails. */
struct async_tasks *async_tasks_create(void);
void async_tasks_free(struct async_tasks *tasks);

/* --- reading ------------------------------------------------------------------------------ */

/*
 * Adds the tasks of the event loop of thread `tid`; with tid 0, the tasks of threads that have
 * ended. At the time `until_ns` (CLOCK_MONOTONIC) the call stops reading, and adds a note that
 * tasks are missing. Returns the number of tasks added. If the thread runs during the call, the
 * added tasks may be wrong, but the call is safe.
 */
size_t runtimes_read_async_tasks(struct runtimes *runtimes, struct async_tasks *tasks, pid_t tid,
				 uint64_t until_ns);
/* Removes the tasks and notes that the last call of runtimes_read_async_tasks added. */
void async_tasks_undo(struct async_tasks *tasks);
/* Resolves the awaiters of all tasks. Must be called once, after the last reading. */
void async_tasks_finish(struct async_tasks *tasks);

/* Adds a note about missing tasks. The text is copied; equal notes are kept once. */
void async_tasks_note(struct async_tasks *tasks, const char *text);

/* --- results, after async_tasks_finish --------------------------------------------------- */

/*
 * Return the number of tasks, and task number `index`. Tasks are in the order in which they were
 * read: thread by thread, the tasks of a thread in the order of the runtime's own list, which is
 * the order of their creation if that list has an order. The result lives as long as `tasks`.
 */
size_t async_tasks_count(const struct async_tasks *tasks);
const struct async_task *async_tasks_get(const struct async_tasks *tasks, size_t index);
/* Stores an array of the indices of the tasks that await task number `index`, ascending, borrowed.
 * Returns their number. */
size_t async_tasks_awaiters(const struct async_tasks *tasks, size_t index,
			    const uint32_t **awaiter);
/* Returns the leaf of the stack with the number *stack, and sets *stack to the stack of the leaf's
 * caller. Returns NULL when *stack is ASYNC_STACK_NONE. */
const struct runtime_place *async_tasks_place(const struct async_tasks *tasks, uint32_t *stack);
/* Returns note number `index` about missing tasks, from 0 on; NULL: no more. */
const char *async_tasks_missing(const struct async_tasks *tasks, size_t index);

#endif
