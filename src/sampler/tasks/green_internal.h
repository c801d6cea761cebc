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

struct observation;
struct run;
struct sampled_process;
struct sampled_thread;

/* A green task that some tick has read. */
struct known_task {
	uint64_t id, address; /* as in struct green_task */
	uint64_t begins;      /* address of its first function */
	uint32_t record;      /* its number in the profile */
	uint32_t carried;     /* last tick at which a thread's sample belonged to it; 0: none */
	/* The last unwinding of its stack. */
	uint64_t pc, sp, fp; /* its registers */
	size_t size;         /* bytes from sp on that unwinding needed; 0: it was never unwound */
	uint64_t hash;       /* hash of these bytes */
	uint64_t generation; /* maps_generation */
	uint32_t runs;       /* as in struct green_task */
	uint32_t stack;      /* number of the result in the profile */
	/* The entry of the profile that has its last sample, and the stack, wait and state
	 * there. */
	uint32_t entry, entry_stack, entry_wait;
	enum green_task_state entry_state; /* GREEN_TASK_NONE: it has no sample */
};

/* One reading of a green task at this tick. */
struct green_reading {
	struct green_task task;
	uint32_t slot;
	uint32_t known; /* index of the known task */
	/* Bytes of its stack in `bytes`; 0: the stack is not readable. After unwinding: bytes that
	 * unwinding needed. */
	size_t size;
	const uint8_t *bytes;
	bool changed;   /* it differs from the last unwinding: a second reading must confirm it */
	bool more;      /* unwinding read more bytes of the stack, which must be confirmed */
	uint32_t stack; /* result of unwinding: number in the profile */
	uint64_t hash;  /* hash of `size` bytes of the stack */
};

/* Where the copy of a stack lies in held_bytes. */
struct held_stack {
	size_t at;
	size_t size; /* 0: the stack was not copied */
};

/* Number of tasks that are read together: at most as many as the pieces of one memory_read_pieces,
 * so few that their data fit the CPU's caches. */
#define TASKS_AT_ONCE 512

/* The green tasks of one process. */
struct green_tasks {
	/* Borrowed. */
	struct run *run;
	struct sampled_process *process;

	struct table by_address; /* address of a task's structure -> index of the known task */
	/* By slot: index of the known task that was in the slot at the last tick */
	uint32_t *guess;
	size_t guesses, guess_capacity;
	struct known_task *task;
	size_t count, capacity;
	struct table waits;  /* number of a task's wait reason -> wait of the profile */
	struct table crowds; /* wait of the profile -> number of tasks in that wait at this tick */
	/* The tasks that are read together: their slots, their structures, and the readings whose
	 * stacks have to be read. */
	uint32_t slot[TASKS_AT_ONCE];
	struct green_task batch[TASKS_AT_ONCE];
	struct green_reading reading[TASKS_AT_ONCE];
	size_t readings;
	size_t again;   /* slot[0 … again - 1] are to be read once more */
	uint8_t *bytes; /* the stacks of the readings */
	size_t bytes_capacity;
	uint8_t *second; /* second readings: room for one task twice, then for all changed tasks */
	size_t second_capacity;
	struct snapshot snapshot; /* buffers of the unwinding */
	struct chain chain;
	uint64_t stride;    /* one in `stride` slots is read at a tick; a sample weighs `stride` */
	uint32_t last_tick; /* number of the last tick at which tasks were read */
	/* Copies of tasks and stacks, by slot, made while all threads were stopped. */
	struct green_task *held;
	struct held_stack *held_stack;
	uint8_t *held_bytes;
	size_t held_capacity, held_stack_capacity, held_bytes_capacity;
	size_t held_count;      /* slots that were copied */
	uint32_t held_tick;     /* number of the tick for which the copies are valid */
	bool holding;           /* the copies are being made */
	uint64_t parked, ready; /* tasks that no thread ran at this tick; READY ones of these */
};

/* Creates the green tasks of a process; to be freed with green_free. Both arguments are
 * borrowed. */
struct green_tasks *green_create(struct run *run, struct sampled_process *process);
void green_free(struct green_tasks *green);
/* Drops all known tasks and reasons: after an exec they are invalid. */
void green_forget(struct green_tasks *green);

/* Adds samples of the tasks that no thread runs. To be called when all threads are attributed. */
void green_tick(struct green_tasks *green);

/* --- green_read.c --- */
/* True if this tick still has to read tasks. */
bool green_is_wanted(const struct green_tasks *green);
/* True if this tick has copies that were made while threads were stopped. */
bool green_is_held(const struct green_tasks *green);
/* Reads the structures in these slots, from the copies if there are any. */
void green_read(struct green_tasks *green, const uint32_t *slot, size_t count,
		struct green_task *out);
/* Reads the structures in these slots from the target. */
void green_read_now(struct green_tasks *green, const uint32_t *slot, size_t count,
		    struct green_task *out);
/* As memory_read_pieces. While a thread is or may be stopped, the read ends before the first piece
 * that is not resident: the thread that would have to provide its page may be stopped. */
size_t green_read_memory(struct green_tasks *green, const struct memory_piece *piece, size_t count,
			 void *to);
/* Reads the pieces into `to`, contiguously; got[n]: piece n was read completely. */
void green_read_pieces(struct green_tasks *green, const struct memory_piece *piece, size_t count,
		       uint8_t *to, bool *got);

/* --- green_held.c --- */
/* For a dump: copies the structures and stacks of all tasks while all running threads are stopped,
 * so that no task changes. Reads only resident memory. */
void green_while_held(struct green_tasks *green);
/* Fills the caches for green_while_held; to be called before the stop. */
void green_rehearse(struct green_tasks *green);

/* --- green_sample.c --- */
/* Returns the known task of a reading; valid until the next green_find. */
struct known_task *green_known(struct green_tasks *green, const struct green_reading *reading);
/* True if the registers and the count of runs of the task, and the mappings, are those of the last
 * unwinding of its stack. */
bool green_is_in_place(struct green_tasks *green, const struct green_reading *reading);
/* Adds the sample of this tick, with a stack. */
void green_add_sample(struct green_tasks *green, const struct green_reading *reading,
		      uint32_t stack);
/* Adds the sample of this tick as a failed one, for the reason `failure`. */
void green_fail(struct green_tasks *green, const struct green_reading *reading,
		enum sample_failure failure);
/* Reads the stacks of all readings, adds their samples, and drops the readings. */
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
uint64_t green_hash(const uint8_t *bytes, size_t size);
/* Unwinds reading->bytes, or more of the stack if needed; sets more, size, stack and hash. */
void green_unwind(struct green_tasks *green, struct green_reading *reading,
		  const struct green_task_words *words);
/* True if the `size` bytes at sp in the target have this hash now. */
bool green_stack_is(struct green_tasks *green, uint64_t sp, size_t size, uint64_t hash);

/* --- coroutines.c --- */

/* Reads the coroutines of a stopped thread, once a run. */
void coroutines_of_stopped(struct run *run, struct sampled_thread *thread);
/* Reads the coroutines of all observed threads that are stopped now, once a run. */
void coroutines_of_held(struct run *run, struct observation *observation, size_t count);
/* After the last tick: reads the coroutines of all other threads, or notes them as missing. May
 * take seconds: no thread may be stopped (hold_pause). */
void coroutines_finish(struct run *run, const struct sampled_process *process);

#endif
