/* SPDX-License-Identifier: MIT */
/*
 * green_internal.h - consumers for tasks that a runtime schedules on kernel threads: green tasks,
 * and the coroutines of an event loop.
 *
 * Once a tick green_tasks.c reads the structure of each green task, and as many bytes of its stack
 * as the last unwinding needed. If both are unchanged, the call chain is the same. Otherwise both
 * are read again. A task that changed between the two readings is read once more, alone. Two equal
 * readings are unwound; the others are failed samples. green_sample.c makes samples, green_stack.c
 * call chains, also of threads that run a task; green_held.c copies tasks during a stop.
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

/* A green task that some tick has read. */
struct known_task {
	uint64_t id, address;
	uint64_t begins;  /* address of its first function */
	uint32_t unit;    /* its number in the profile */
	uint32_t carried; /* last tick at which a thread's sample belonged to it; 0: none */
	/* The last unwinding of its stack. */
	uint64_t pc, sp, fp;
	size_t size;         /* bytes from sp on that unwinding needed; 0: there was none */
	uint64_t sum;        /* of these bytes */
	uint64_t generation; /* of the mappings */
	uint32_t runs;       /* see struct green_task */
	uint32_t stack;      /* of the profile */
	/* Its last sample. */
	uint32_t entry, entry_stack, entry_wait;
	enum green_task_state entry_state; /* NONE: there was none */
};

/* One reading of a green task at this tick. */
struct green_sight {
	struct green_task task;
	uint32_t slot;
	uint32_t of; /* index of the known task */
	size_t size; /* bytes of its stack in `bytes`; 0: none. Unwound: bytes needed */
	const uint8_t *bytes;
	bool changed;   /* it differs from the last unwinding: a second reading confirms it */
	bool more;      /* unwinding read more bytes of the stack, which must be confirmed */
	uint32_t stack; /* result of unwinding */
	uint64_t sum;   /* of `size` bytes of the stack */
};

/* Tasks that are read together: the most pieces that a call reads, which fit the CPU's caches. */
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
	bool all;          /* each task is read and has a record, without a limit */
	bool stop_all;     /* all threads are stopped together, for a dump */
	bool threads_only; /* samples of threads do not belong to green tasks */
	bool idle_off;     /* tasks that no thread runs are not sampled */

	struct table by_address; /* of the structure -> index of known task */
	uint32_t *of_slot;       /* guess by slot: the known task of the last tick */
	size_t of_slots, of_slot_capacity;
	struct known_task *task;
	size_t count, capacity;
	struct table waits;  /* number of a reason -> wait of the profile */
	struct table crowds; /* wait -> tasks of this tick */
	uint32_t slot[TASKS_AT_ONCE];
	struct green_task look[TASKS_AT_ONCE];
	struct green_sight sight[TASKS_AT_ONCE];
	size_t sights;
	uint8_t *bytes; /* stacks of the tasks that are read together */
	size_t bytes_capacity;
	uint8_t *second; /* second readings: room for one task twice, then all changed tasks */
	size_t second_capacity;
	struct snapshot snapshot;
	struct chain chain;
	uint64_t stride;    /* one in `stride` tasks is read at this tick, and weighs as many */
	uint32_t last_tick; /* last tick at which tasks were read */
	/* Copies made while all threads were stopped, of the slots from 0 on, for one tick. */
	struct green_task *held;
	size_t *held_size; /* bytes of stack n, which begin at held_bytes[held_at[n]]; 0: none */
	size_t *held_at;
	uint8_t *held_bytes;
	size_t held_count, held_capacity, held_bytes_capacity;
	uint32_t held_tick;
	bool holding;           /* the copies are being made */
	uint64_t parked, ready; /* tasks of this tick that no thread ran; the READY ones of these */
	size_t again;           /* slot[0 … again - 1] are read once more */
};

/* The borrowed members must be set. */
void green_init(struct green_tasks *green);
void green_release(struct green_tasks *green);
/* Drops all known tasks and reasons: after exec they are invalid. */
void green_forget(struct green_tasks *green);

/* Adds samples of the tasks that no thread runs. Call it when all threads are attributed. */
void green_tick(struct green_tasks *green);

/* --- green_read.c --- */
/* True if this tick still has to read tasks. */
bool green_are_wanted(const struct green_tasks *green);
/* True if this tick has a copy that was made while threads were stopped. */
bool green_are_held(const struct green_tasks *green);
/* Read the structures in these slots, green_look from that copy if there is one. */
void green_look(struct green_tasks *green, const uint32_t *slot, size_t count,
		struct green_task *out);
void green_look_now(struct green_tasks *green, const uint32_t *slot, size_t count,
		    struct green_task *out);
/*
 * As memory_read_pieces. While a thread is or may be stopped, it ends before the first piece that
 * is not resident: the thread that would have to provide the page may be stopped.
 */
size_t green_read_memory(struct green_tasks *green, const struct memory_piece *piece, size_t count,
			 void *to);
/* Reads the pieces into `to`, contiguously; got[n]: piece n was read completely. */
void green_read_pieces(struct green_tasks *green, const struct memory_piece *piece, size_t count,
		       uint8_t *to, bool *got);

/* --- green_held.c --- */
/*
 * For a dump: green_while_held copies structures and stacks, resident memory alone, while all
 * running threads are stopped and no task can move. green_rehearse is called before the stop.
 */
void green_while_held(struct green_tasks *green);
void green_rehearse(struct green_tasks *green);

/* --- green_sample.c --- */
/* Returns the known task; valid until the next green_find. */
struct known_task *green_known(struct green_tasks *green, const struct green_sight *sight);
/* True if the task is where it was at the last unwinding of its stack. */
bool green_is_in_place(struct green_tasks *green, const struct green_sight *sight);
/* Add the sample of this tick: with a stack, or as a failure. */
void green_add_sample(struct green_tasks *green, const struct green_sight *sight, uint32_t stack);
void green_fail(struct green_tasks *green, const struct green_sight *sight,
		enum sample_failure failure);
/* Reads the stacks of all sights, and adds their samples. */
void green_collect(struct green_tasks *green);

/* --- green_stack.c --- */
/*
 * Returns the record of the green task that a captured thread runs, to which the sample belongs;
 * THREAD_NONE: none. `chain` (NULL: none) is the thread's call chain; if it ends on another stack,
 * the frames of the task's own stack are appended. Sets *root to the stack that calls the outermost
 * frame: the runtime's own, or STACK_NONE. `capture` may be NULL.
 */
uint32_t green_of_thread(struct green_tasks *green, struct runtime_capture *capture,
			 struct chain *chain, uint32_t *root);
/* Returns the index of the known task, after adding a new one. `guess`: an index to try first. */
uint32_t green_find(struct green_tasks *green, const struct green_task *task,
		    const struct green_task_words *words, uint32_t guess);
/* Returns a 64-bit hash of the bytes. */
uint64_t green_sum(const uint8_t *bytes, size_t size);
/* Unwinds sight->bytes, or more of the stack if needed; sets more, size, stack and sum. */
void green_unwind(struct green_tasks *green, struct green_sight *sight,
		  const struct green_task_words *words);
/* True if the hash of the `size` bytes at sp in the target is `sum` now. */
bool green_stack_is(struct green_tasks *green, uint64_t sp, size_t size, uint64_t sum);

/* --- coroutines.c --- */

/* The coroutines of a thread are read once a run, while it is stopped or during one sleep. */
struct coroutines {
	struct async_tasks *out; /* borrowed; NULL: they are not read */
	const struct thread_list *threads;
};

/* Read the coroutines of a stopped thread; of all observations whose thread is stopped. */
void coroutines_of_stopped(struct coroutines *coroutines, struct sampled_thread *thread);
void coroutines_of_held(struct coroutines *coroutines, struct observation *observation,
			size_t count);
/* After the last tick: reads the coroutines of all other threads, or notes them as missing. May
 * take seconds: no thread may be stopped (hold_pause). */
void coroutines_finish(struct coroutines *coroutines, const struct sampled_process *process);

#endif
