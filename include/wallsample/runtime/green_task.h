/* SPDX-License-Identifier: MIT */
/*
 * green_task.h - green tasks: tasks that a language runtime schedules on kernel threads, each with
 * a stack of its own. Thousands of waiting green tasks occupy no thread. "Task" alone means the
 * kernel's.
 *
 * A runtime keeps its green tasks in slots, some of them empty. The sampler reads the slots once a
 * tick without a stop: the structure of a waiting green task holds the place where it continues,
 * its stack is copied, and the structure is read a second time and must be unchanged. A running
 * green task is captured with its thread (runtime_capture_green_task).
 */
#ifndef WALLSAMPLE_RUNTIME_GREEN_TASK_H
#define WALLSAMPLE_RUNTIME_GREEN_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* X(NAME, text): what a task does */
#define GREEN_TASK_STATES(X)                                                   \
	X(NONE, "")             /* an empty slot: it has ended, or not begun */ \
	X(RUNNING, "running")   /* a thread runs it */                         \
	X(CALLING, "in a call") /* of the kernel or foreign code: it keeps its thread */ \
	X(READY, "runnable")    /* it waits for a thread to run on */          \
	X(WAITING, "waiting")   /* for something else */                       \
	X(MOVING, "moving")     /* its stack is being moved: it cannot be read now */

enum green_task_state {
#define X(name, text) GREEN_TASK_##name,
	GREEN_TASK_STATES(X)
#undef X
};

const char *green_task_state_text(enum green_task_state state);

/* More slots are not looked at: of what memory says there may be no end. */
#define GREEN_TASK_SLOTS_MOST ((size_t)4 << 20)

/* All numbers are the target's, and foreign. 0: not known, or not so. */
struct green_task {
	uint64_t id;      /* by which its runtime, or failing that its address, calls it */
	uint64_t address; /* of its structure, which another may get when it has ended */
	enum green_task_state state;
	uint32_t reason;  /* of WAITING: why, a number for runtimes_green_task_reason */
	pid_t tid;        /* of RUNNING and CALLING: its thread, in our pid namespace */
	/*
	 * READY and WAITING: where it goes on. RUNNING and CALLING: where its own stack is left for
	 * another of its thread's, as long as that is so (a runtime's own stack, foreign code, the
	 * vdso): the caller of what runs there.
	 */
	uint64_t pc, sp, fp;
	uint64_t stack_low, stack_high; /* its stack is [low, high) */
	uint64_t waiting_ns; /* for so long, about */
	/* READY and WAITING: the last bits of how often it has run, by which one that has run
	 * meanwhile, and waits in the same place again, can be told; but not each time. */
	bool counts_runs;
	uint32_t runs;
	uint64_t entry;      /* the function that it began with */
	uint64_t created_at; /* the return address of the call that made it */
	uint64_t creator;    /* id of the task that did */
	bool system;         /* the runtime's own */
};

/* What a runtime calls them. */
struct green_task_words {
	const char *noun; /* singular; reports add an "s" */
	const char *own;  /* the outermost frame of what is the runtime's own: "[NAME runtime]" */
};

/* Do both say that the task is, and has been, in the same place? */
bool green_task_is_same(const struct green_task *one, const struct green_task *other);

struct runtimes;
struct runtime_capture;

/*
 * How many slots there are, those of all runtimes one behind the other; 0: no runtime that has
 * tasks. Valid until the next call, and for runtimes_read_green_tasks alone.
 */
size_t runtimes_green_task_slots(struct runtimes *runtimes);
/* What is in these slots, by ascending numbers; what cannot be read is GREEN_TASK_NONE. */
void runtimes_read_green_tasks(struct runtimes *runtimes, const uint32_t *slot, size_t count,
			       struct green_task *out);
/* All threads stand still from here on, or no more: meanwhile the two above look into no file. */
void runtimes_hold(struct runtimes *runtimes, bool held);
/* "chan receive"; "" for 0. The text lives as long as the runtimes. */
const char *runtimes_green_task_reason(const struct runtimes *runtimes, uint32_t reason);
/* What those of the slot's runtime are called. */
const struct green_task_words *
runtimes_green_task_words(const struct runtimes *runtimes, uint32_t slot);

/*
 * The task that the thread ran when it was captured, whose state is GREEN_TASK_NONE if the thread
 * is its runtime's, and ran none. Returns false if it is no such thread. Where a thread was on
 * another stack, *stack is what could be copied of the task's own, from task->sp on. It is valid
 * until the next capture.
 */
bool runtime_capture_green_task(const struct runtime_capture *capture, struct green_task *task,
				const struct green_task_words **words, const uint8_t **stack,
				size_t *stack_size);

#endif
