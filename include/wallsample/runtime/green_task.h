/* SPDX-License-Identifier: MIT */
/*
 * green_task.h - green tasks: tasks that a language runtime schedules on kernel threads, each with
 * a stack of its own. Thousands of waiting green tasks occupy no thread. In this header "task"
 * means a green task.
 *
 * A runtime keeps its green tasks in slots, some of which are empty. The sampler reads the slots
 * once a tick without a stop. The structure of a waiting green task has the registers with which
 * the task continues. The sampler copies the task's stack, and reads the structure again: only if
 * it is unchanged is the copy used. A running green task is captured with its thread
 * (runtime_capture_green_task).
 */
#ifndef WALLSAMPLE_RUNTIME_GREEN_TASK_H
#define WALLSAMPLE_RUNTIME_GREEN_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* States of green tasks: X(NAME, text). */
#define GREEN_TASK_STATES(X)                                                                       \
	X(NONE, "")             /* an empty slot: the task has ended, or not begun */              \
	X(RUNNING, "running")   /* a thread runs it */                                             \
	X(CALLING, "in a call") /* it occupies its thread, in a system call or C code */           \
	X(READY, "runnable")    /* it waits for a thread to run on */                              \
	X(WAITING, "waiting")   /* it waits for another event */                                   \
	X(MOVING, "moving")     /* its stack is being moved and cannot be read */

enum green_task_state {
#define X(name, text) GREEN_TASK_##name,
	GREEN_TASK_STATES(X)
#undef X
};

/* Returns the text of the state in GREEN_TASK_STATES, a static string. */
const char *green_task_state_text(enum green_task_state state);

/* Most slots that are read: the count comes from the target's memory, which is not trusted. */
#define GREEN_TASK_SLOTS_MOST ((size_t)4 << 20)

/* A green task. All values come from the target's memory and are not trusted; 0 in a member means
 * that it is not known, or does not apply. */
struct green_task {
	uint64_t id;      /* the runtime's number of the task, or the address of its structure */
	uint64_t address; /* address of its structure, which a later task may reuse */
	enum green_task_state state;
	uint32_t reason; /* WAITING: a number for runtimes_green_task_reason */
	pid_t tid;       /* RUNNING and CALLING: its thread, in wallsample's pid namespace */
	/*
	 * READY and WAITING: registers with which the task continues. RUNNING and CALLING: while
	 * the thread is on another stack than the task's (a stack for the runtime, C code or the
	 * vdso), the registers of the task's leaf, which has called the code on the other stack;
	 * otherwise 0.
	 */
	uint64_t pc, sp, fp;
	uint64_t stack_low, stack_high; /* the task's stack is [stack_low, stack_high) */
	uint64_t waiting_ns;            /* estimated time that the task has waited */
	/*
	 * READY and WAITING, if counts_runs is set: low bits of the number of times that the task
	 * was scheduled. A change shows that the task has run since, even if it waits in the same
	 * place again. If the low bits wrap around to the same value, the run is not noticed.
	 */
	bool counts_runs;
	uint32_t runs;
	uint64_t entry;      /* address of its first function */
	uint64_t created_at; /* return address of the call that created it */
	uint64_t creator;    /* id of the task that created it */
	bool system;         /* the task belongs to the runtime itself */
};

/* A runtime's words for its green tasks. */
struct green_task_words {
	const char *noun; /* word for one task; reports append "s" for several */
	/* text of the outermost frame of tasks that belong to the runtime itself, such as "[NAME
	 * runtime]" */
	const char *own;
};

/* Returns true when both readings show the same task with the same state, thread, pc, sp, stack and
 * `runs`: then the task has not run between them, as far as these members show. */
bool green_task_is_same(const struct green_task *one, const struct green_task *other);

struct runtimes;
struct runtime_capture;

/*
 * Returns the number of slots of all runtimes together, which are numbered consecutively from 0; 0:
 * no runtime has green tasks. The numbers are valid until the next call.
 */
size_t runtimes_green_task_slots(struct runtimes *runtimes);
/*
 * Reads the tasks in the slots slot[0 … count - 1], which are in ascending order, into out[0 …
 * count - 1]. An empty or unreadable slot gets the state GREEN_TASK_NONE.
 */
void runtimes_read_green_tasks(struct runtimes *runtimes, const uint32_t *slot, size_t count,
			       struct green_task *out);
/*
 * Must be called with `held` true after all threads of the target were stopped, and with false
 * before they resume. Between these calls runtimes_green_task_slots and runtimes_read_green_tasks
 * read only pages that are in memory, and open no file.
 */
void runtimes_hold(struct runtimes *runtimes, bool held);
/* Returns the text of the wait reason of a green task, such as "chan receive"; "" for 0. The text
 * lives as long as `runtimes`. */
const char *runtimes_green_task_reason(const struct runtimes *runtimes, uint32_t reason);
/*
 * Returns the descriptor for which a WAITING task waits until it is ready; -1: it waits for
 * something else, or the descriptor is not known. Sets *writes: it waits to write. `stack` has the
 * `size` bytes of the task's stack from task->sp on, which must have been read while the task
 * waited. The answer is from the target's memory as it is now.
 */
int runtimes_green_task_descriptor(struct runtimes *runtimes, const struct green_task *task,
				   const uint8_t *stack, size_t size, bool *writes);
/* Returns the words of the runtime that the slot belongs to, a static struct. If the slot belongs
 * to none, the words are "task" and "[runtime]". */
const struct green_task_words *runtimes_green_task_words(const struct runtimes *runtimes,
							 uint32_t slot);

/*
 * Stores the green task that the captured thread ran. Its state is GREEN_TASK_NONE if the thread
 * belongs to a runtime but ran no task. Returns false if the thread belongs to no runtime with
 * green tasks. Sets *words to the words of the runtime, a static struct. If the thread was on
 * another stack than the task's, *stack gets the bytes of the task's own stack from task->sp on, as
 * far as they could be copied; they are valid until the next capture. Otherwise *stack_size is 0.
 */
bool runtime_capture_green_task(const struct runtime_capture *capture, struct green_task *task,
				const struct green_task_words **words, const uint8_t **stack,
				size_t *stack_size);

#endif
