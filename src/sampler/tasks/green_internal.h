/* SPDX-License-Identifier: MIT */
/*
 * green_internal.h - tasks that the target's runtimes schedule on threads (task.h): who they are
 * in the profile, and the samples of those that no thread runs.
 *
 * tasks.c looks at them once a tick: a task's structure, and as much of its stack as the last
 * walk needed. Where both are as before, so is its call chain. Else both are read again, and
 * what has changed meanwhile once more, alone; what is the same is walked, the rest are failed
 * samples. task_sample.c has their samples, task_stack.c their call chains and those of threads
 * that run one.
 */
#ifndef WALLSAMPLE_SAMPLER_TASKS_GREEN_INTERNAL_H
#define WALLSAMPLE_SAMPLER_TASKS_GREEN_INTERNAL_H

#include "wallsample/unwind/chain.h"
#include "wallsample/tracer/memory.h"
#include "wallsample/runtime/runtime.h"
#include "wallsample/sampler/sampler.h"
#include "wallsample/tracer/snapshot.h"
#include "wallsample/base/table.h"
#include "wallsample/runtime/green_task.h"

struct sampler;
struct tracked;

/* A task that was seen. */
struct tracked_task {
	uint64_t id, address;
	uint64_t begins;     /* with this function */
	uint32_t unit;       /* its number in the profile */
	uint32_t carried;    /* at this tick it was its thread's sample; 0: at none */
	/* The walk of its stack that was done last. */
	uint64_t pc, sp, fp;
	size_t size;         /* bytes from sp on that it needed; 0: there was none */
	uint64_t sum;        /* of those */
	uint64_t generation; /* of the mappings */
	uint32_t runs;       /* see struct green_task */
	uint32_t stack;      /* in the profile */
	/* The sample that it had last, and what of. */
	uint32_t entry, entry_stack, entry_wait;
	enum green_task_state entry_state; /* NONE: there was none */
};

/* A look in progress. */
struct task_sight {
	struct green_task task;
	uint32_t slot;
	uint32_t of;        /* number of the tracked one */
	size_t size;        /* bytes that are copied of its stack, at `bytes`; 0: none */
	const uint8_t *bytes;
	bool fresh;         /* it is not as before: what was read is to be checked */
	bool more;          /* it was walked with more of its stack, which is to be checked */
	uint32_t stack;     /* what came of the walk; `size` is then how much was needed */
	uint64_t sum;       /* of so many bytes */
};

/* So many are looked at in one go: what a call reads at most, and little enough for the caches. */
#define TASKS_AT_ONCE 512

struct tasks {
	struct table by_address;
	uint32_t *of_slot;   /* who was in it at the last look: a guess, checked by the address */
	size_t of_slots, of_slot_capacity;
	struct tracked_task *task;
	size_t count, capacity;
	size_t units;        /* of the profile's threads that are tasks */
	struct table waits;  /* number of a reason -> of the wait in the profile */
	struct table crowds; /* wait -> so many, at this tick */
	uint32_t slot[TASKS_AT_ONCE];
	struct green_task look[TASKS_AT_ONCE];
	struct task_sight sight[TASKS_AT_ONCE];
	size_t sights;
	uint8_t *bytes;      /* of the stacks of one go */
	size_t bytes_capacity;
	uint8_t *second;     /* two of them as tried again, and then those that are read twice */
	size_t second_capacity;
	struct snapshot snapshot;
	struct chain chain;
	/* At this tick one in so many is looked at, and stands for them. */
	uint64_t stride;
	uint32_t last_tick;  /* at which they were looked at */
	/* What was read while all threads were held, of the slots from 0 on: for this tick. */
	struct green_task *held;
	size_t *held_size;   /* bytes of the stack, from held_at[n] on in held_bytes; 0: none */
	size_t *held_at;
	uint8_t *held_bytes;
	size_t held_count, held_capacity, held_bytes_capacity;
	uint32_t held_tick;
	bool holding;        /* that is going on */
	uint64_t parked, ready; /* so many were seen that no thread ran; these for want of one */
	size_t again;        /* of `slot`: they are looked at once more */
};

void tasks_init(struct tasks *tasks);
void tasks_release(struct tasks *tasks);
/* Who was at which address, and which reason is called how: another program has others. */
void tasks_forget(struct tasks *tasks);

/* Adds the tick's samples of those that no thread runs. After those of the threads, which say who
 * is run. */
void tasks_tick(struct sampler *sampler);
/* Are there any to be looked at, at this tick still? */
bool tasks_are_wanted(const struct sampler *sampler);
/*
 * For a dump, while all threads are held that ran: none of the tasks can move then. Structures and
 * stacks are copied for the tick; nothing is read but what is in memory, and no file. Before
 * they are held what can be is got ready by tasks_rehearse.
 */
void tasks_while_held(struct sampler *sampler);
void tasks_rehearse(struct sampler *sampler);
/*
 * As memory_read_pieces, for tasks. While a thread stands still, or may begin to, the first piece
 * that is not in memory cannot be read: somebody would have to provide it, who may be that thread.
 */
size_t tasks_read_memory(struct sampler *sampler, const struct memory_piece *piece, size_t count,
			 void *to);

/* --- task_sample.c */
struct tracked_task *task_tracked(struct sampler *sampler, const struct task_sight *sight);
void tasks_look(struct sampler *sampler, const uint32_t *slot, size_t count,
		struct green_task *out);
/* Is the tick about what was read while threads were held? */
bool tasks_are_held(const struct sampler *sampler);
/* Does it go on where it did when its stack was walked last? */
bool task_is_in_place(struct sampler *sampler, const struct task_sight *sight);
/* The tick's sample, with this stack; one that failed. */
void task_add_sample(struct sampler *sampler, const struct task_sight *sight, uint32_t stack);
void task_fail(struct sampler *sampler, const struct task_sight *sight,
	       enum sample_failure failure);
/* The stacks of all sights, and their samples. */
void tasks_collect(struct sampler *sampler);

/* --- task_stack.c */
/*
 * The thread was captured, and sampler->chain is its own: the task that it runs becomes the one
 * whose sample this is, and what the task has on a stack of its own goes on the chain. `capture`
 * may be NULL. Returns the stack below which the chain stands: the runtime's own, or STACK_NONE.
 */
uint32_t tasks_of_thread(struct sampler *sampler, struct tracked *thread,
			 struct runtime_capture *capture);
/* The number of the tracked one of this task, which is in the profile, too. `guess`: perhaps this
 * one. */
uint32_t task_find(struct sampler *sampler, const struct green_task *task,
		   const struct green_task_words *words, uint32_t guess);
/* Reads them one behind the other; got[n]: the nth could be read, whole. */
void task_read_pieces(struct sampler *sampler, const struct memory_piece *piece, size_t count,
		      uint8_t *to, bool *got);
uint64_t task_bytes_sum(const uint8_t *bytes, size_t size);
/* Walks sight->bytes, or more of the stack if that is not enough; sets more, size, stack, sum. */
void task_walk(struct sampler *sampler, struct task_sight *sight,
	       const struct green_task_words *words);
/* Are there bytes of this sum now? */
bool task_stack_is(struct sampler *sampler, uint64_t sp, size_t size, uint64_t sum);

#endif
