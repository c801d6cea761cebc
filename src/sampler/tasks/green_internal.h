/* SPDX-License-Identifier: MIT */
/*
 * green_internal.h - samples green tasks (green_task.h), here called tasks, and reads coroutines.
 *
 * Once a tick green_tasks.c reads the structure of each task (if there are many, of a random part
 * of the tasks), and as many bytes of the task's stack as the last unwinding needed. If the
 * runtime's count of runs shows that the task has not run, its stack is read in few ticks only. If
 * structure and bytes are as they were at the last unwinding, so is the call chain. Otherwise both
 * are read a second time. If the two readings differ, up to 3 attempts follow: each reads this task
 * alone, twice. When two readings are equal, the stack is unwound; otherwise the sample has failed.
 * green_sample.c makes the samples, green_stack.c the call chains, also of threads that run a task;
 * green_held.c copies tasks while all threads are stopped.
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
struct known_green {
	uint64_t id, address; /* as in struct green_task */
	uint64_t begins;      /* address of the task's first function */
	uint32_t record;      /* its number in the profile */
	uint32_t carried;     /* last tick at which it was sampled with its thread; 0: none */
	/* The last unwinding of its stack: the registers from which it started, what it depended
	 * on, and the stack that it found. */
	uint64_t pc, sp, fp;
	size_t size;         /* bytes from sp on that unwinding needed; 0: it was never unwound */
	uint64_t hash;       /* hash of these bytes */
	uint64_t generation; /* value of maps_generation() at that unwinding */
	uint32_t runs;       /* as in struct green_task */
	uint32_t stack;      /* number in the profile of the stack that unwinding found */
	uint32_t descriptor_wait; /* wait in the profile, for a descriptor; 0: for none */
	/* The task's last sample: its entry in the profile, its stack, wait and state. */
	uint32_t entry, entry_stack, entry_wait;
	enum green_task_state entry_state; /* GREEN_TASK_NONE: it has no sample */
};

/* One reading of a green task at this tick. */
struct green_reading {
	struct green_task value;
	uint32_t slot;  /* number of the slot in which the runtime keeps the task */
	uint32_t known; /* index of the known task in green_tasks.known */
	/* Number of bytes of its stack in `bytes`; 0: the stack is not readable. After unwinding:
	 * number of bytes that unwinding needed. */
	size_t size;
	const uint8_t *bytes;
	bool changed;   /* it differs from the last unwinding: a second reading must confirm it */
	bool more;      /* unwinding read further bytes, which must be confirmed */
	uint32_t stack; /* number in the profile of the stack that unwinding found */
	uint64_t hash;  /* after unwinding: hash of these `size` bytes */
};

/* Where the copy of a stack lies in green_tasks.held_bytes. */
struct held_stack {
	size_t at;
	size_t size; /* 0: the stack was not copied */
};

/* Most tasks that are read together: as many as memory_read_pieces reads pieces in one call, and so
 * few that their data fit into the CPU's caches. */
#define GREEN_AT_ONCE 512

/* The green tasks of one process. */
struct green_tasks {
	/* Borrowed. */
	struct run *run;
	struct sampled_process *process;
	/* Owned. */
	struct table by_address; /* address of a task's structure -> index of the known task */
	uint32_t *guess; /* slot -> index of the known task last read in it; UINT32_MAX: none */
	size_t guesses, guess_capacity;
	struct known_green *known;
	size_t count, capacity;
	struct table waits;  /* number of a task's wait reason -> wait of the profile */
	struct table crowds; /* wait of the profile -> number of tasks in that wait at this tick */
	/* The tasks that are read together: their slots, their structures, and the readings whose
	 * stacks have to be read. */
	uint32_t slot[GREEN_AT_ONCE];
	struct green_task batch[GREEN_AT_ONCE];
	struct green_reading reading[GREEN_AT_ONCE];
	size_t readings;
	size_t again;   /* slot[0 … again - 1] are to be read a second time */
	uint8_t *bytes; /* the stacks of the readings, one after another */
	size_t bytes_capacity;
	/* The first 2 * STACK_TOGETHER bytes (green_sample.c): two readings of one task's stack.
	 * Behind them: the second readings of the stacks of changed tasks. */
	uint8_t *second;
	size_t second_capacity;
	struct snapshot snapshot; /* buffers of the unwinding */
	struct chain chain;
	uint64_t stride; /* one in `stride` slots is read at a tick; a sample counts as `stride` */
	uint32_t last_tick; /* number of the last tick at which tasks were read */
	/* Copies of tasks and stacks, by slot, made while all threads were stopped. */
	struct green_task *held;
	struct held_stack *held_stack;
	uint8_t *held_bytes;
	size_t held_capacity, held_stack_capacity, held_bytes_capacity;
	size_t held_count;  /* number of slots that were copied */
	uint32_t held_tick; /* number of the tick for which the copies are valid */
	bool holding;       /* the copies are being made */
	/* Number of tasks read at this tick that no thread ran, and how many of them were READY. */
	uint64_t parked, ready;
};

/* Creates the green tasks of a process, and frees them. Borrows both arguments. */
struct green_tasks *green_create(struct run *run, struct sampled_process *process);
void green_free(struct green_tasks *green);
/* Drops all known tasks and wait reasons. They are invalid after an exec. */
void green_forget(struct green_tasks *green);
/* Adds samples of the tasks that no thread runs. To be called after all threads were sampled. */
void green_tick(struct green_tasks *green);

/* --- green_read.c --- */
/* True if green tasks are sampled, and this tick has not yet read them. */
bool green_is_wanted(const struct green_tasks *green);
/* True if this tick has copies that green_while_held has made. */
bool green_is_held(const struct green_tasks *green);
/* Stores the tasks in these slots, whose numbers must ascend, in `out`: the copies that
 * green_while_held has made at this tick, otherwise what green_read_now reads. */
void green_read(struct green_tasks *green, const uint32_t *slot, size_t count,
		struct green_task *out);
/* Reads the structures of the tasks in these slots, whose numbers must ascend, from the target. */
void green_read_now(struct green_tasks *green, const uint32_t *slot, size_t count,
		    struct green_task *out);
/* As memory_read_pieces (process_memory.h). While a thread is or may be stopped, ends before the
 * first piece that is not resident: reading it could wait for the stopped thread (resident.h). */
size_t green_read_memory(struct green_tasks *green, const struct memory_piece *piece, size_t count,
			 void *to);
/* Reads the pieces into `to`, contiguously; got[n]: piece n was read completely. */
void green_read_pieces(struct green_tasks *green, const struct memory_piece *piece, size_t count,
		       uint8_t *to, bool *got);

/* --- green_held.c --- */
/* For a dump (config.all_green): copies the structures and stacks of all tasks while all running
 * threads are stopped, so that no task changes. Reads only resident memory. Copies nothing if there
 * are more than 2000 tasks. Discards the copies if copying takes more than 20 ms. */
void green_while_held(struct green_tasks *green);
/* Reads the structures of all tasks into the CPU caches for green_while_held, before the stop. */
void green_rehearse(struct green_tasks *green);

/* --- green_sample.c --- */
/* Returns the known task of a reading; valid until the next green_find. */
struct known_green *green_known(struct green_tasks *green, const struct green_reading *reading);
/* True if the registers and the count of runs of the task, and the mappings, are those of the last
 * unwinding of its stack. */
bool green_is_in_place(struct green_tasks *green, const struct green_reading *reading);
/* Adds the task's sample at this tick, with this stack. */
void green_add_sample(struct green_tasks *green, const struct green_reading *reading,
		      uint32_t stack);
/* Adds the task's sample at this tick without a stack, for the reason `failure`. */
void green_fail(struct green_tasks *green, const struct green_reading *reading,
		enum sample_failure failure);
/* Reads the stacks of all readings, adds their samples, and drops the readings. */
void green_collect(struct green_tasks *green);

/* --- green_stack.c --- */
/*
 * Returns the record of the green task that a captured thread runs, to which the sample belongs;
 * THREAD_NONE: it runs none, or config.threads_only. `capture`: the thread's capture; may be NULL.
 * `chain`: the thread's call chain, or NULL. If no frame of the chain is on the task's stack, the
 * frames of that stack are appended to the chain. *root, the caller of the outermost frame,
 * names the runtime if the thread runs no task or one of the runtime itself; else it is STACK_NONE.
 */
uint32_t green_of_thread(struct green_tasks *green, struct runtime_capture *capture,
			 struct chain *chain, uint32_t *root);
/* Returns the task's index in green->known, to which a new task is added. `guess`: tried first. */
uint32_t green_find(struct green_tasks *green, const struct green_task *task,
		    const struct green_task_words *words, uint32_t guess);
/* Returns a 64-bit hash of the bytes; a last part of less than 8 bytes is ignored. */
uint64_t green_hash(const uint8_t *bytes, size_t size);
/* Unwinds the stack in reading->bytes; if these bytes are too few, reads more from the target. Sets
 * more, size, stack and hash of the reading. */
void green_unwind(struct green_tasks *green, struct green_reading *reading,
		  const struct green_task_words *words);
/* True if the `size` bytes at sp in the target are readable and have this hash now. */
bool green_stack_is(struct green_tasks *green, uint64_t sp, size_t size, uint64_t hash);

/* --- coroutines.c --- */
/* Reads the coroutines of a stopped thread, unless they were read before. */
void coroutines_of_stopped(struct run *run, struct sampled_thread *thread);
/* As coroutines_of_stopped, of each thread that this tick has stopped in time. */
void coroutines_of_held(struct run *run, struct observation *observation, size_t count);
/* At the last tick: reads the coroutines of ended threads of the process, and of its selected
 * threads whose coroutines have not been read. Adds a note about those that it cannot read. Takes
 * up to 5 seconds: no thread may be stopped (hold_pause). */
void coroutines_finish(struct run *run, const struct sampled_process *process);

#endif
