/* SPDX-License-Identifier: MIT */
/*
 * green_internal.h - consumers that deal with tasks above the kernel's threads: green tasks, which
 * a runtime schedules on threads, and the coroutines of an event loop.
 *
 * Once a tick green_tasks.c reads the structure of each green task, and as much of its stack as the
 * last unwinding needed. If both are unchanged, so is its call chain. Otherwise both are read
 * again, and what has changed meanwhile once more, alone: what is the same twice is unwound, the
 * rest are failed samples. green_sample.c makes the samples, green_stack.c the call chains, those
 * of threads that run a green task included, green_held.c copies all while threads are stopped.
 */
#ifndef WALLSAMPLE_SAMPLER_TASKS_GREEN_INTERNAL_H
#define WALLSAMPLE_SAMPLER_TASKS_GREEN_INTERNAL_H

#include "wallsample/base/table.h"
#include "wallsample/profile/run_stats.h"
#include "wallsample/runtime/runtime.h"
#include "wallsample/runtime/async_tasks.h"
#include "wallsample/runtime/green_task.h"
#include "wallsample/tracer/snapshot.h"
#include "wallsample/unwind/chain.h"

struct late_stops;
struct observation;
struct pace;
struct sampled_process;
struct sampled_thread;
struct thread_list;
struct thread_records;
struct tick;

/* A green task that was seen. */
struct known_task {
	uint64_t id, address;
	uint64_t begins;     /* address of its first function */
	uint32_t unit;       /* its number in the profile */
	uint32_t carried;    /* last tick at which it was the sample of its thread; 0: none */
	/* The last unwinding of its stack. */
	uint64_t pc, sp, fp;
	size_t size;         /* bytes from sp on that it needed; 0: there was none */
	uint64_t sum;        /* of these bytes */
	uint64_t generation; /* of the mappings */
	uint32_t runs;       /* see struct green_task */
	uint32_t stack;      /* of the profile */
	/* Its last sample. */
	uint32_t entry, entry_stack, entry_wait;
	enum green_task_state entry_state; /* NONE: there was none */
};

/* A green task at this tick. */
struct green_sight {
	struct green_task task;
	uint32_t slot;
	uint32_t of;        /* index of the known task */
	size_t size;        /* bytes of its stack that are copied to `bytes`; 0: none */
	const uint8_t *bytes;
	bool changed;       /* what was read has to be checked by a second reading */
	bool more;          /* unwinding needed more of the stack, which has to be checked */
	uint32_t stack;     /* result of unwinding; `size` is then what that needed */
	uint64_t sum;       /* of these bytes */
};

/* Tasks that are read together: the most pieces a call reads, and few enough for the caches. */
#define TASKS_AT_ONCE 512

/* The green tasks of one process. */
struct green_tasks {
	/* Borrowed. */
	struct sampled_process *process;
	const struct thread_list *threads;
	const struct late_stops *late;
	const struct tick *tick;
	const struct pace *pace;
	struct thread_records *records;
	struct profile *profile;
	struct rng *rng;
	struct run_stats *stats;
	size_t stack_limit;
	bool all;            /* each task is read and has a record, however many there are */
	bool stop_all;       /* all threads are stopped together, for a dump */
	bool threads_only;   /* samples of threads do not belong to green tasks */
	bool idle_off;       /* tasks that no thread runs are not sampled */

	struct table by_address; /* of the structure -> index of known task */
	uint32_t *of_slot;   /* known task that was in the slot; verified by the address */
	size_t of_slots, of_slot_capacity;
	struct known_task *task;
	size_t count, capacity;
	struct table waits;  /* number of a reason -> wait of the profile */
	struct table crowds; /* wait -> tasks of this tick */
	uint32_t slot[TASKS_AT_ONCE];
	struct green_task look[TASKS_AT_ONCE];
	struct green_sight sight[TASKS_AT_ONCE];
	size_t sights;
	uint8_t *bytes;      /* stacks of the tasks that are read together */
	size_t bytes_capacity;
	uint8_t *second;     /* second readings: of one task twice, then of all that changed */
	size_t second_capacity;
	struct snapshot snapshot;
	struct chain chain;
	uint64_t stride;     /* one in `stride` tasks is read at this tick, and stands for these */
	uint32_t last_tick;  /* last tick at which they were read */
	/* Copies made while all threads were stopped, of the slots from 0 on, for one tick. */
	struct green_task *held;
	size_t *held_size;   /* bytes of the stack, from held_at[n] on in held_bytes; 0: none */
	size_t *held_at;
	uint8_t *held_bytes;
	size_t held_count, held_capacity, held_bytes_capacity;
	uint32_t held_tick;
	bool holding;        /* they are being made */
	uint64_t parked, ready; /* tasks of this tick that no thread ran; those that were ready */
	size_t again;        /* first of `slot` that are read once more */
};

/* The borrowed members must be set. */
void green_init(struct green_tasks *green);
void green_release(struct green_tasks *green);
/* The process runs another program: forgets all addresses and reasons. */
void green_forget(struct green_tasks *green);

/* Adds samples of the tasks that no thread runs. To be called when all threads are attributed. */
void green_tick(struct green_tasks *green);

/* --- green_read.c --- */
/* Are there tasks that this tick still has to read? */
bool green_are_wanted(const struct green_tasks *green);
/* Has this tick a copy that was made while threads were stopped? */
bool green_are_held(const struct green_tasks *green);
/* Reads the structures in these slots; the first from that copy, if there is one. */
void green_look(struct green_tasks *green, const uint32_t *slot, size_t count,
		struct green_task *out);
void green_look_now(struct green_tasks *green, const uint32_t *slot, size_t count,
		    struct green_task *out);
/*
 * As memory_read_pieces. While a thread is or may be stopped it ends before the first piece that is
 * not present: the thread that would have to provide it may be a stopped one.
 */
size_t green_read_memory(struct green_tasks *green, const struct memory_piece *piece, size_t count,
			 void *to);
/* Reads the pieces one behind the other; got[n]: the nth could be read completely. */
void green_read_pieces(struct green_tasks *green, const struct memory_piece *piece, size_t count,
		       uint8_t *to, bool *got);

/* --- green_held.c --- */
/*
 * For a dump: copies structures and stacks while all threads that ran are stopped, so that no task
 * can move. Reads nothing but memory that is present. green_rehearse is called before the stop.
 */
void green_while_held(struct green_tasks *green);
void green_rehearse(struct green_tasks *green);

/* --- green_sample.c --- */
struct known_task *green_known(struct green_tasks *green, const struct green_sight *sight);
/* Is the task where it was when its stack was unwound last? */
bool green_is_in_place(struct green_tasks *green, const struct green_sight *sight);
/* Adds the sample of this tick, with this stack; without one. */
void green_add_sample(struct green_tasks *green, const struct green_sight *sight, uint32_t stack);
void green_fail(struct green_tasks *green, const struct green_sight *sight,
		enum sample_failure failure);
/* Reads the stacks of all sights, and adds their samples. */
void green_collect(struct green_tasks *green);

/* --- green_stack.c --- */
/*
 * The thread was captured, and `chain` is its call chain (NULL: it has none). Returns the record of
 * the green task that it runs, to which the sample belongs; THREAD_NONE: none. Adds to the chain
 * what the task has on a stack of its own. Sets *root to the stack below which the chain stands:
 * the runtime's own, or STACK_NONE. `capture` may be NULL.
 */
uint32_t green_of_thread(struct green_tasks *green, struct runtime_capture *capture,
			 struct chain *chain, uint32_t *root);
/* Returns the index of the known task, which is in the profile, too. `guess`: it may be this. */
uint32_t green_find(struct green_tasks *green, const struct green_task *task,
		    const struct green_task_words *words, uint32_t guess);
uint64_t green_sum(const uint8_t *bytes, size_t size);
/* Unwinds sight->bytes, or more of the stack if that is too little; sets more, size, stack, sum. */
void green_unwind(struct green_tasks *green, struct green_sight *sight,
		  const struct green_task_words *words);
/* Does the stack have bytes of this sum now? */
bool green_stack_is(struct green_tasks *green, uint64_t sp, size_t size, uint64_t sum);

/* --- coroutines.c --- */

/* The coroutines of a process are read once a run, those of each thread while it is stopped, or
 * sleeps and has not run meanwhile. */
struct coroutines {
	struct async_tasks *out; /* borrowed; NULL: they are not read */
	const struct thread_list *threads;
};

/* Those of a thread that is stopped now; of all observations whose thread is. */
void coroutines_of_stopped(struct coroutines *coroutines, struct sampled_thread *thread);
void coroutines_of_held(struct coroutines *coroutines, struct observation *observation,
			size_t count);
/* The last tick is over: reads those of all other threads, or notes that they are missing. May take
 * seconds: no thread may be stopped (hold_pause). */
void coroutines_finish(struct coroutines *coroutines, const struct sampled_process *process);

#endif
