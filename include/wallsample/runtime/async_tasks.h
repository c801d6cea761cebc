/* SPDX-License-Identifier: MIT */
/*
 * async_tasks.h - user-space tasks of the target: what each of them is in, and who awaits it.
 *
 * They are read from the target's memory, a thread's at a time, while the thread stands still or
 * sleeps; the caller sees to that, and takes back what it finds was read while it ran. When
 * all are there, async_tasks_finish makes one whole of them, which needs neither the target
 * nor the runtimes any more.
 */
#ifndef WALLSAMPLE_RUNTIME_ASYNC_TASKS_H
#define WALLSAMPLE_RUNTIME_ASYNC_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wallsample/runtime/runtime.h"

/* More are not read: of what memory says there may be no end. */
#define ASYNC_TASKS_MOST 100000
#define ASYNC_TASK_DEPTH_MOST 1000

/* The stack of a task that has none. */
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
	pid_t tid;        /* of the thread that runs it; 0: that has ended */
	enum async_task_state state;
	uint32_t stack;   /* the same for tasks that are in the same place all the way out */
};

struct async_tasks;

struct async_tasks *async_tasks_create(void);
void async_tasks_free(struct async_tasks *tasks);

/* --- reading ------------------------------------------------------------------------------ */

/*
 * Adds the tasks of a thread, or (tid 0) of those that have ended, until that moment at most.
 * Returns how many there were. Of a thread that runs it is harmless, and wrong.
 */
size_t async_tasks_read(struct async_tasks *tasks, struct runtimes *runtimes, pid_t tid,
			uint64_t until_ns);
/* Takes back what the last async_tasks_read has added. */
void async_tasks_undo(struct async_tasks *tasks);
/* To be called once, when all are read. */
void async_tasks_finish(struct async_tasks *tasks);

/* Something is missing: a sentence, which is copied, and said once. */
void async_tasks_note(struct async_tasks *tasks, const char *text);

/* --- when they are read ------------------------------------------------------------------- */

/* In the order in which they were made, by thread. */
size_t async_tasks_count(const struct async_tasks *tasks);
const struct async_task *async_tasks_get(const struct async_tasks *tasks, size_t index);
/* Those that await it, by their indices, which ascend. */
size_t async_tasks_awaiters(const struct async_tasks *tasks, size_t index,
			    const uint32_t **awaiter);
/* The innermost place of the stack, and in *stack what is outside of it; NULL: there is none. */
const struct runtime_place *async_tasks_place(const struct async_tasks *tasks, uint32_t *stack);
/* What is missing; index 0 on, NULL: there are no more. */
const char *async_tasks_missing(const struct async_tasks *tasks, size_t index);

#endif
