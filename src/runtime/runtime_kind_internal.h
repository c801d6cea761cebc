/* SPDX-License-Identifier: MIT */
/*
 * runtime_kind_internal.h - the functions that each kind of runtime implements, one kind per
 * language, and the services that runtimes share.
 */
#ifndef WALLSAMPLE_RUNTIME_RUNTIME_KIND_INTERNAL_H
#define WALLSAMPLE_RUNTIME_RUNTIME_KIND_INTERNAL_H

#include "runtime/pages_internal.h"
#include "wallsample/runtime/runtime.h"
#include "wallsample/runtime/async_tasks.h"
#include "wallsample/base/table.h"
#include "wallsample/runtime/green_task.h"

/* --- places.c: interned functions at lines ----------------------------------------------- */

struct runtime_places {
	struct strings *texts;
	struct table functions; /* (function, file) -> number of the function */
	struct table known;     /* (number of the function, line and marker) -> place */
	struct runtime_place *place;
	size_t count, capacity;
};

void runtime_places_init(struct runtime_places *places);
void runtime_places_release(struct runtime_places *places);
/* Returns the number of the place, for runtime_places_get. If the place is not known yet, adds it
 * and copies its texts. */
uint32_t runtime_places_add(struct runtime_places *places, const struct runtime_place *place);
const struct runtime_place *runtime_places_get(const struct runtime_places *places, uint32_t place);

/* --- async_tasks.c: additions by a kind --------------------------------------------------- */

/* Returns the number of the stack with `place` as leaf and the stack `outer` as callers
 * (ASYNC_STACK_NONE: no callers). Adds the stack if it is new. Returns ASYNC_STACK_NONE when there
 * are too many stacks. */
uint32_t async_tasks_stack(struct async_tasks *tasks, const struct runtime_place *place,
			   uint32_t outer);
/* Adds an async task, whose name is copied. Returns false when a task with this address was added
 * before, or there are too many tasks. */
bool async_tasks_add(struct async_tasks *tasks, const struct async_task *task);
/* Adds the async task at this address as an awaiter of the task that was added last. */
void async_tasks_add_awaiter(struct async_tasks *tasks, uint64_t address);

/* Marks the present state, to which async_tasks_undo will return. Returns the number of async
 * tasks. */
size_t async_tasks_begin(struct async_tasks *tasks);

/* --- pthread_tid.c: the kernel's id of a thread by its pthread_t --------------------------- */

/* Returns the id, in the target's pid namespace, of the thread with this pthread_t; 0: the address
 * is not that of a thread of glibc or musl. */
pid_t pthread_tid_read(const struct memory *memory, uint64_t pthread);

/* Offsets of the kernel's thread id in struct pthread of glibc and of musl (pthread_tid_ARCH.c). */
extern const uint32_t pthread_tid_offset[2];
/* Not 0 when struct pthread contains its own address, as on x86-64. */
extern const int pthread_tid_has_self;

/* --- the contract --------------------------------------------------------------------------- */

/* Services for all kinds of runtimes. All pointers are borrowed. */
struct runtime_tools {
	const struct runtimes_config *config;
	/*
	 * The target's memory; captures use `pages` instead. Reads only pages that are in memory or
	 * in swap, or belong to the code or data of a module, and with `held` only pages in memory.
	 * To read any other page the kernel may need a thread of the target, which a stop request
	 * may have stopped (resident.h).
	 */
	struct memory memory;
	struct runtime_places *places;
	struct pages *pages; /* the target's memory for captures */
	/* all threads are stopped (runtimes_hold): the functions of struct runtime_scheduler
	 * (below) may only read pages that are in memory, and must open no file */
	bool held;
};

/*
 * Reads all pieces into `to`, contiguously, and sets got[n] to true when piece n was read whole,
 * else to false. While all threads are kept stopped, a piece is not read if one of its pages is not
 * in memory; while a stop request is outstanding, if one of its pages is neither in memory nor in
 * swap. Captures use tools->pages instead.
 */
void runtime_read_pieces(const struct runtime_tools *tools, const struct memory_piece *piece,
			 size_t count, uint8_t *to, bool *got);

/* A growing array of the frames that runtime_capture_merge stores. */
struct runtime_frames {
	struct runtime_frame *frame;
	size_t count, capacity;
	bool cut; /* a limit of a capture was reached: the outermost frames are missing */
};

void runtime_frames_add(struct runtime_frames *frames, size_t before, uint32_t place);

/* The functions of a kind that schedules green tasks (green_task.h). */
struct runtime_scheduler {
	struct green_task_words words;
	/*
	 * Called once a tick: finds out which slots for green tasks the runtimes of this kind have.
	 * Returns the number of slots, which are numbered from 0.
	 */
	size_t (*slots)(void *state);
	/*
	 * Reads the green tasks of ascending slots by runtime_read_pieces, in few system calls: it
	 * must take less than 1 us per task. Sets every field of out[0 … count - 1].
	 */
	void (*look)(void *state, const uint32_t *slot, size_t count, struct green_task *out);
	/* Returns the text of a reason to wait (green_task.reason without the kind's bits), or NULL
	 * if it is not known. The function may be NULL. */
	const char *(*reason)(const void *state, uint32_t reason);
	/* Implements runtimes_green_task_descriptor. The function may be NULL. */
	int (*descriptor)(void *state, const struct green_task *task, const uint8_t *stack,
			  size_t size, bool *writes);
	/*
	 * Implements runtime_capture_green_task for a thread that `capture` of struct runtime_kind
	 * has read.
	 */
	bool (*running)(void *state, const void *captured, struct green_task *task,
			const uint8_t **stack, size_t *stack_size);
};

/* --- unread.c: runtimes that are not read ------------------------------------------------- */

/* Messages about runtimes whose functions are not shown, each once. Zeroed, it is empty. */
struct unread_list {
	char **text;
	size_t count, capacity;
};

/* Adds a message to the list and to the log, unless the list has it already, or has 16. */
void unread_add(struct unread_list *list, const struct log *log, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Returns message number `index`, from 0 on, valid until unread_release; NULL: no more. */
const char *unread_text(const struct unread_list *list, size_t index);
void unread_release(struct unread_list *list);

/* Adds a message for each mapped module that is an interpreter of a language that wallsample does
 * not read, by its file name. At most one message for each interpreter. */
void unread_find_interpreters(struct unread_list *list, const struct runtimes_config *config);

/* A kind of runtime. Each function does for this kind what the function of runtime.h with the same
 * name after its prefix does for all kinds: `tick` what runtimes_tick does, `gil` what
 * runtime_capture_gil does. */
struct runtime_kind {
	void *(*create)(const struct runtime_tools *tools);
	void (*free)(void *state);
	void (*tick)(void *state, uint64_t now_ns);
	pid_t (*next_new)(void *state);
	bool (*any)(const void *state);
	const char *(*describe)(const void *state, size_t index);
	/* Returns sentence number `index` of runtimes_unread_all; NULL: no more. The function may
	 * be NULL: each runtime of this kind can be read. */
	const char *(*unread)(const void *state, size_t index);
	/* Implements runtimes_seek. NULL: `tick` finds all threads in time. */
	void (*seek)(void *state, pid_t tid);
	/* size in bytes of one capture, which is zeroed before the first use */
	size_t captured_size;
	/* Frees the memory that a capture owns. NULL: captures own none. */
	void (*captured_release)(void *captured);
	/* Captures a thread, whose memory is read by tools->pages alone. `sp`: its stack pointer;
	 * 0: not known. */
	void (*capture)(void *state, pid_t tid, uint64_t sp, void *captured);
	/* Implements runtime_capture_trim for a thread that `capture` has read. NULL: the kind has
	 * no coroutines on the stacks of threads. */
	void (*trim)(void *captured, struct chain *chain);
	/* Adds the captured frames, leaf first, in ascending order of `before`. NULL: the kind has
	 * no frames of its own. */
	void (*merge)(void *state, const void *captured, const struct chain *chain,
		      struct runtime_frames *frames);
	/* The next three functions read the interpreter lock; NULL: threads share no lock. */
	enum gil (*gil)(const void *state, const void *captured, long number,
			const uint64_t args[6]);
	bool (*find_lock)(void *state, uint64_t word, uint64_t *lock, const char **name);
	pid_t (*lock_owner)(void *state, uint64_t lock);
	/* As runtimes_find_parked and runtimes_parked_owner. NULL: the runtime has no queue of
	 * waiters for locks. */
	bool (*find_parked)(void *state, uint64_t word, uint64_t *lock, uint64_t *owner);
	pid_t (*parked_owner)(void *state, uint64_t owner);
	/* Adds async tasks, and notes about missing ones: see runtimes_read_async_tasks. May be
	 * NULL. */
	void (*async)(void *state, pid_t tid, uint64_t until_ns, struct async_tasks *to);
	const struct runtime_scheduler *scheduler; /* NULL: the kind has no green tasks */
};

#endif
