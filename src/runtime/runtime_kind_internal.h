/* SPDX-License-Identifier: MIT */
/*
 * runtime_kind_internal.h - what a kind of runtime has to offer: one file and one row of the
 * table in runtimes.c each.
 */
#ifndef WALLSAMPLE_RUNTIME_RUNTIME_KIND_INTERNAL_H
#define WALLSAMPLE_RUNTIME_RUNTIME_KIND_INTERNAL_H

#include "runtime/pages_internal.h"
#include "wallsample/runtime/runtime.h"
#include "wallsample/runtime/async_tasks.h"
#include "wallsample/base/table.h"
#include "wallsample/runtime/green_task.h"

/* --- places.c: functions at lines, told apart by their texts ---------------------------- */

struct runtime_places {
	struct strings *texts;
	struct table functions; /* (function, file) -> number */
	struct table known;     /* (that, line and marker) -> place */
	struct runtime_place *place;
	size_t count, capacity;
};

void runtime_places_init(struct runtime_places *places);
void runtime_places_release(struct runtime_places *places);
/* The texts are copied. Returns the number; of the runtimes' own places for runtimes_place. */
uint32_t runtime_places_add(struct runtime_places *places, const struct runtime_place *place);
const struct runtime_place *runtime_places_get(const struct runtime_places *places, uint32_t place);

/* --- async_tasks.c: what a kind finds of tasks ------------------------------------------ */

/* The number of the stack that is `place` inside of `outer` (ASYNC_STACK_NONE: nothing). When
 * there are too many it is ASYNC_STACK_NONE. */
uint32_t async_tasks_stack(struct async_tasks *tasks, const struct runtime_place *place,
			   uint32_t outer);
/* The name is copied. False: it is there already, or there are too many. */
bool async_tasks_add(struct async_tasks *tasks, const struct async_task *task);
/* The one that was added last is awaited by what is at this address, if that is a task. */
void async_tasks_add_awaiter(struct async_tasks *tasks, uint64_t address);

/* Marks the state to which async_tasks_undo returns. Returns the number of tasks. */
size_t async_tasks_begin(struct async_tasks *tasks);

/* --- the contract --------------------------------------------------------------------------- */

/* What all kinds work with; borrowed. */
struct runtime_tools {
	const struct runtimes_config *config;
	/*
	 * The target's, for all that is read but captures: only what nobody would have to provide
	 * first. A thread that was asked to stop may do so at any time, and would stand still for
	 * as long as we wait.
	 */
	struct memory memory;
	struct runtime_places *places;
	struct pages *pages;
	bool held; /* all threads stand still: `slots` and `look` read what is in memory alone */
};

/* Reads all pieces, one behind the other into `to`; got[n]: the nth could be read, whole. To be
 * used for tasks alone: while anybody is held what is not in memory cannot be read. */
void runtime_read_pieces(const struct runtime_tools *tools, const struct memory_piece *piece,
			 size_t count, uint8_t *to, bool *got);

/* Frames found by one merge; grows. */
struct runtime_frames {
	struct runtime_frame *frame;
	size_t count, capacity;
};

void runtime_frames_add(struct runtime_frames *frames, size_t before, uint32_t place);

/*
 * Of a kind that schedules tasks on threads (task.h). Slots are numbered from 0 on; the array of
 * them is read anew by `slots`, once a tick, and look is for those.
 */
struct runtime_scheduler {
	struct green_task_words words;
	size_t (*slots)(void *state);
	/* In as few system calls as it takes, by runtime_read_pieces:
	 * a microsecond a task is much. Sets every field of out[0 … count - 1]. */
	void (*look)(void *state, const uint32_t *slot, size_t count, struct green_task *out);
	const char *(*reason)(const void *state, uint32_t reason); /* NULL: it tells none */
	/* As runtime_capture_green_task. Everything in it was read by `capture`. */
	bool (*running)(void *state, const void *captured, struct green_task *task,
			const uint8_t **stack, size_t *stack_size);
};

/* As the functions of runtime.h of the same names, for one kind of runtime in the process. */
struct runtime_kind {
	void *(*create)(const struct runtime_tools *tools);
	void (*free)(void *state);
	void (*tick)(void *state, uint64_t now_ns);
	pid_t (*next_new)(void *state);
	bool (*any)(const void *state);
	const char *(*describe)(const void *state, size_t index);
	/* The memory of a capture, used again and again. */
	void *(*captured_create)(void);
	void (*captured_free)(void *captured);
	/* Reads by tools->pages alone. `sp`: the thread's stack pointer; 0: not known yet. */
	void (*capture)(void *state, pid_t tid, uint64_t sp, void *captured);
	/* Innermost first, in the order of `before`. NULL: all its frames are native. */
	void (*merge)(void *state, const void *captured, const struct chain *chain,
		      struct runtime_frames *frames);
	/* NULL, as are the next two: its threads share no lock. */
	enum gil (*gil)(const void *state, const void *captured, long number,
			const uint64_t args[6]);
	bool (*find_lock)(void *state, uint64_t word, uint64_t *lock, const char **name);
	pid_t (*lock_owner)(void *state, uint64_t lock);
	/* Adds tasks, and notes about missing ones, as runtimes_read_async_tasks; or NULL. */
	void (*tasks)(void *state, pid_t tid, uint64_t until_ns, struct async_tasks *to);
	const struct runtime_scheduler *scheduler; /* NULL: it schedules none */
};

extern const struct runtime_kind runtime_go, runtime_julia, runtime_python;

#endif
