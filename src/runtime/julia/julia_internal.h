/* SPDX-License-Identifier: MIT */
/*
 * julia_internal.h - finds the Julia runtime of a process, and reads its tasks.
 * julia.c         the instance of Julia, and the functions of struct runtime_kind
 * julia_find.c    Julia in the modules of the process, and the array of its threads
 * julia_layout.c  the layout of its structures, by version
 * julia_tasks.c   all tasks, read without a stop
 * julia_queues.c  the queues of runnable tasks
 *
 * The address of the array of threads is the value of jl_all_tls_states, which has a symbol in
 * files that are not stripped. In stripped files the variables of the module are searched for a
 * word that points to an array of as many pointers as Julia has threads (jl_n_threads). Each of
 * these must point to the structure of a thread, with the thread's number, plausible tasks and a
 * pthread_t.
 */
#ifndef WALLSAMPLE_RUNTIME_JULIA_JULIA_INTERNAL_H
#define WALLSAMPLE_RUNTIME_JULIA_JULIA_INTERNAL_H

#include <elfutils/libdw.h>

#include "runtime/finder_internal.h"

/* Outermost frame of threads without a task and of tasks of the runtime itself. */
#define JULIA_ROOT "[Julia runtime]"

/* --- julia_layout.c: offsets in Julia's structures, by version --------------------------- */

/*
 * Each thread has a structure (jl_tls_states_t); an array has pointers to these structures. The
 * structure refers to the task that the thread runs, to its root task, and to a list of the other
 * tasks that were started on the thread and have a stack. julia_layout.c has a table of layouts,
 * one row for each minor version (1.5) whose offsets were compared with Julia's headers or debug
 * information. For other versions debug information is read, which Julia's official binaries have.
 */

/* The number of a version: 1.5.3 is 0x010503. */
#define JULIA_VERSION(major, minor, patch)                                                         \
	((uint32_t)(major) << 16 | (uint32_t)(minor) << 8 | (uint32_t)(patch))

/* Largest plausible offset of a member, and largest plausible size of a task. */
#define JULIA_OFFSET_MOST 65536
#define JULIA_TASK_MOST 4096

struct julia_layout {
	uint32_t version;
	bool tried; /* tested with a Julia of that version; false: experimental */
	/* Offsets in a thread's structure. */
	uint32_t thread_number; /* int16_t: index of the thread in the array */
	uint32_t thread_tasks;  /* list of tasks: length, capacity, pointer to pointers */
	uint32_t thread_current, thread_root; /* pointers to tasks */
	uint32_t thread_pthread;              /* pthread_t */
	/* Offsets in the list of tasks. */
	/* offset of the capacity; also the size in bytes of the length and of the capacity */
	uint32_t list_capacity;
	uint32_t list_items; /* pointer to the array of pointers to tasks */
	/* Offsets in a task. */
	uint32_t task_queue;     /* pointer to the queue that contains the task */
	uint32_t task_state;     /* state: see state_is_symbol */
	bool state_is_symbol;    /* the state is a pointer to a symbol; false: it is a byte */
	uint32_t task_context;   /* offset of a jmp_buf, or of a pointer to one */
	bool context_is_pointer; /* task_context is the offset of a pointer to a jmp_buf */
	uint32_t task_stack;     /* address of the stack, then its size */
	/* lower 31 bits: number of bytes of the stack that were copied elsewhere; highest bit: the
	 * task has begun */
	uint32_t task_bits;
	uint32_t task_thread; /* int16_t: number of the task's thread */
	uint32_t task_size;   /* bytes up to the end of the last of these members */
	/* Offset, in the structure of a module, of its table of names: number of words, then
	 * address; 0: not known. */
	uint32_t module_names;
};

/* Returns the row of the table for the version's first two numbers, or NULL. */
const struct julia_layout *julia_layout_find(uint32_t version);

/* Reads the layout from debug information. Returns false when members are missing or implausible.
 * Sets module_names to 0. */
bool julia_layout_read(Dwarf *dwarf, uint32_t version, struct julia_layout *layout);

/* --- julia_find.c ------------------------------------------------------------------------ */

/* Most threads that are read. */
#define JULIA_THREADS_MOST 1024

/* The Julia of the process; there is at most one. Addresses are the target's. */
struct julia_place {
	struct julia_layout layout;
	uint64_t threads;  /* address of the variable that points to the array of threads */
	uint64_t count;    /* address of the int with the length of that array */
	uint64_t nothing;  /* address of the object "nothing"; 0: not known */
	uint64_t base;     /* address of the variable that points to the module Base; 0: unknown */
	uint64_t tag;      /* type tag in the word before each task, without its lowest four bits */
	uint64_t runnable; /* state of a task that has not ended */
};

/* For a candidate of this kind finder_place returns a struct julia_place. */
extern const struct finder_kind julia_finder;

/* Writes the version as text, such as "1.10.4". */
void julia_version_text(uint32_t version, char *text, size_t size);

/* Reads the addresses of up to JULIA_THREADS_MOST threads' structures. Returns their number; 0 if
 * the array is not readable. */
size_t julia_place_threads(const struct julia_place *place, const struct memory *memory,
			   uint64_t *thread);

/* Returns the state of a task, from the bytes of its structure: a number or, with state_is_symbol,
 * the address of a symbol. place->runnable is one of these values. */
uint64_t julia_place_state(const struct julia_place *place, const uint8_t *task);

/* The type tag in `word`, the word before an object. The garbage collector uses the lowest bits of
 * that word. */
#define JULIA_TAG(word) ((word) & ~UINT64_C(15))

extern const struct runtime_kind runtime_julia;

/* --- julia_tasks.c ----------------------------------------------------------------------- */

struct julia_tasks;

/* Makes a reader of tasks, which the caller frees. `tools` is borrowed. Never fails. */
struct julia_tasks *julia_tasks_create(const struct runtime_tools *tools);
void julia_tasks_free(struct julia_tasks *tasks);

/* Reads the list of threads, and returns the number of slots: each thread has one for its root task
 * and one for each task in its list. `place` NULL: the process has no Julia, and the result is
 * 0. */
size_t julia_tasks_slots(struct julia_tasks *tasks, const struct julia_place *place);
/* Returns true when the search for the queues of runnable tasks is unfinished and another call of
 * julia_tasks_slots would continue it. */
bool julia_tasks_searching(const struct julia_tasks *tasks);
/* Implements `look` of struct runtime_scheduler, for the slots of the last julia_tasks_slots. */
void julia_tasks_look(struct julia_tasks *tasks, const uint32_t *slot, size_t count,
		      struct green_task *out);
/*
 * Reads the task that the thread runs, by tools->pages. Its state is GREEN_TASK_NONE when the
 * thread has no current task, like threads of the garbage collector, or when that task has ended.
 * Returns false when the last julia_tasks_slots did not list the thread, or the task is not
 * readable or not run by this thread.
 */
bool julia_tasks_running(struct julia_tasks *tasks, pid_t tid, struct green_task *task);

/* --- julia_queues.c: the queues of runnable tasks ---------------------------------------- */

/*
 * A task points to the queue that contains it. Queues of runnable tasks and queues of conditions
 * are lists of the same type. Base.Workqueues is the array of the queues of runnable tasks, one for
 * each thread. It is found by its name among the variables of the module Base, and is then not
 * searched again; while it is not found, all tasks in queues count as waiting.
 */
struct julia_queues {
	uint64_t base;        /* place->base for which the other members are valid */
	unsigned rounds;      /* number of searches through all names that found nothing */
	uint64_t table, size; /* table of the names in module Base: address, and number of words */
	uint64_t at;          /* index of the next word in the table; 0: no search is under way */
	uint64_t array;       /* address of Base.Workqueues; 0: not found */
	uint64_t list[JULIA_THREADS_MOST]; /* addresses of the queues, ascending */
	size_t count;                      /* number of queues */
};

/*
 * Continues the search for Base.Workqueues at a bounded cost, and reads the addresses of the
 * queues. Must be called once a tick.
 */
void julia_queues_update(struct julia_queues *queues, const struct runtime_tools *tools,
			 const struct julia_place *place);
/* Returns true when the search has begun and names are left to search. */
bool julia_queues_searching(const struct julia_queues *queues);
/* Returns true when `queue` is the address of a queue of runnable tasks. */
bool julia_queues_has(const struct julia_queues *queues, uint64_t queue);

/* --- julia_context_ARCH.c: registers of a task that sigsetjmp has saved ------------------- */

/* Number of bytes of glibc's jmp_buf that are decoded. */
#define JULIA_CONTEXT_SIZE 64

struct julia_context {
	uint64_t pc, sp, fp;
};

/*
 * Returns the address of the word with which glibc mangles addresses, in glibc's structure of the
 * thread with this pthread_t; 0: not known. The word is the same in all threads.
 */
uint64_t julia_context_guard(uint64_t pthread);
/* Decodes a jmp_buf; the values in *out are unchecked. Returns false when it cannot be decoded. */
bool julia_context_read(const uint8_t bytes[JULIA_CONTEXT_SIZE], uint64_t guard,
			struct julia_context *out);

#endif
