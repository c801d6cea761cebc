/* SPDX-License-Identifier: MIT */
/*
 * julia_tasks_internal.h - Julia's tasks, and where those that wait continue.
 *
 * Each thread has one slot for its root task, and one for each task in its list of tasks that were
 * started on it and have a stack. A task that has not been started has no slot. When a task waits
 * and there is no other one to run, its thread waits on the task's stack: the task is then
 * GREEN_TASK_CALLING.
 */
#ifndef WALLSAMPLE_RUNTIME_JULIA_JULIA_TASKS_INTERNAL_H
#define WALLSAMPLE_RUNTIME_JULIA_JULIA_TASKS_INTERNAL_H

#include "runtime/julia/julia_find_internal.h"

/* --- julia_tasks.c ----------------------------------------------------------------------- */

struct julia_tasks;

/* `tools` is borrowed. */
struct julia_tasks *julia_tasks_create(const struct runtime_tools *tools);
void julia_tasks_free(struct julia_tasks *tasks);

/* Reads the threads, and returns the number of slots. NULL: there is no Julia. */
size_t julia_tasks_slots(struct julia_tasks *tasks, const struct julia_place *place);
/* Would another call of julia_tasks_slots continue the search for the queues? */
bool julia_tasks_searching(const struct julia_tasks *tasks);
/* As `look` of struct runtime_scheduler, for the slots of the last call. */
void julia_tasks_look(struct julia_tasks *tasks, const uint32_t *slot, size_t count,
		      struct green_task *out);
/*
 * The task that the thread runs, read by tools->pages; GREEN_TASK_NONE: the thread looks for a task
 * or collects garbage. False: the thread was not Julia's at the last call of julia_tasks_slots, or
 * its task is not readable.
 */
bool julia_tasks_running(struct julia_tasks *tasks, pid_t tid, struct green_task *task);

/* --- julia_queues.c: the queues of runnable tasks ---------------------------------------- */

/*
 * A task knows the queue that it is in. Queues of runnable tasks and queues of conditions are lists
 * of the same type. Base.Workqueues is the array of the former, one for each thread. It is searched
 * once by its name among the variables of the module Base; if it is not found, all tasks in a queue
 * are waiting.
 */
struct julia_queues {
	uint64_t base;        /* place->base of what follows */
	unsigned rounds;      /* searches through all names that found nothing */
	uint64_t table, size; /* the module's names: their address, and their number of words */
	uint64_t at;          /* position in the table */
	uint64_t array;       /* the object; 0: not found (yet) */
	uint64_t list[JULIA_THREADS_MOST]; /* ascending */
	size_t count;
};

/* Once a tick: continues the search at a bounded cost, and reads the addresses of the queues. */
void julia_queues_update(struct julia_queues *queues, const struct runtime_tools *tools,
			 const struct julia_place *place);
/* Are there names left to search? */
bool julia_queues_searching(const struct julia_queues *queues);
/* Are tasks in this queue runnable? */
bool julia_queues_has(const struct julia_queues *queues, uint64_t queue);

/* --- julia_context_ARCH.c: where a task continues that was left by sigsetjmp ------------- */

/* Bytes of glibc's jmp_buf that are needed. */
#define JULIA_CONTEXT_SIZE 64

struct julia_context {
	uint64_t pc, sp, fp;
};

/*
 * The address of the word with which glibc mangles addresses, in the thread with this pthread_t: it
 * is the same for all threads. 0: not known.
 */
uint64_t julia_context_guard(uint64_t pthread);
/* False: the jmp_buf cannot be decoded. The values in *out are unchecked. */
bool julia_context_read(const uint8_t bytes[JULIA_CONTEXT_SIZE], uint64_t guard,
			struct julia_context *out);

#endif
