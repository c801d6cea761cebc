/* SPDX-License-Identifier: MIT */
/*
 * python_internal.h - reads the threads of CPython, their frames and their asyncio tasks.
 * python.c          the instances of CPython, and the functions of struct runtime_kind
 * python_threads.c  the threads that each CPython lists
 * python_known.c    stores what is known of one thread
 * python_lock.c     the locks of its interpreters
 * python_capture.c  copies the frames of a thread from memory
 * python_merge.c    inserts these frames into the native call chain
 * python_asyncio.c, python_tasks.c  the tasks of asyncio, and their stacks
 */
#ifndef WALLSAMPLE_RUNTIME_PYTHON_PYTHON_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PYTHON_PYTHON_INTERNAL_H

#include "runtime/python/python_capture_internal.h"
#include "runtime/python/python_find_internal.h"
#include "runtime/python/python_greenlet_internal.h"
#include "runtime/python/python_task_layout_internal.h"
#include "wallsample/base/table.h"

/* --- one CPython ------------------------------------------------------------------------- */

/* Most frames that are captured of a thread, which takes half a millisecond; PAGES_READ_MOST may
 * end a capture earlier. One frame with the text PYTHON_CUT replaces the frames further out. */
#define PYTHON_DEPTH_MOST 2048
/* Most interpreters, and most threads of all interpreters together, that are read from lists in the
 * target's memory: the lists may be circular. */
#define PYTHON_INTERPRETERS_MOST 1024
#define PYTHON_THREADS_MOST 100000

/* A global interpreter lock (GIL). Since 3.12 each interpreter may have a lock of its own. */
struct python_lock {
	uint64_t address;
	char name[32]; /* "of interpreter 3"; "" if the CPython has only one lock */
};

/* A PyThreadState in CPython's lists. A kernel thread has one for each interpreter it uses. */
struct python_thread {
	uint64_t state;           /* address of its PyThreadState */
	uint64_t interpreter;     /* address of its PyInterpreterState */
	uint64_t lock;            /* address of its interpreter's lock; 0: no lock */
	uint64_t native, pthread; /* native_thread_id and thread_id; 0: absent */
	pid_t inner;              /* without native: the tid that memory has at the pthread_t */
	pid_t tid;                /* in wallsample's pid namespace; 0: not known */
	uint64_t after;           /* address of the next PyThreadState in CPython's list */
	bool missed;              /* the latest capture could not read it, or found other ids */
	uint32_t next;            /* index + 1 of the next element with this tid; 0: the last one */
	struct pages_memo memo;   /* pages from which the latest capture has read */
};

struct python_threads {
	struct python_thread *thread;
	size_t count, capacity;
	struct table by_state; /* address of a PyThreadState -> index of its element */
	struct table by_tid;   /* tid -> index + 1 of the first element with it */
	/* number of elements that may not belong to a thread yet: its PyThreadState has no ids
	 * until the new thread runs, and before 3.12 has the ids of the thread that created it */
	size_t unbound;
};

struct cpython {
	struct instance base;
	struct python_place place;
	struct python_codes *codes;
	struct python_threads threads; /* as the latest reading of the lists found them */
	struct python_threads before;  /* as the reading before that found them */
	struct table strangers;        /* tid -> number of searches that have not found it */
	uint64_t strangers_until_ns;   /* time at which these numbers begin at 0 again */
	struct address_range greenlet; /* code of the extension module greenlet; size 0: none */
	struct python_lock *lock;      /* the different locks of all interpreters */
	size_t lock_count, lock_capacity, interpreters;
	struct cpu_budget seek_budget; /* for searches for a thread at the heads of the lists */
	bool tasks_known;              /* the layout in `tasks` is valid */
	bool tasks_sought;             /* a search for that layout was made */
	uint64_t tasks_generation;     /* maps_generation at the latest search for it */
	const char *tasks_why; /* why tasks of a loaded _asyncio cannot be read; NULL: no reason */
	struct python_task_layout tasks;
};

/* --- python_threads.c -------------------------------------------------------------------- */

/*
 * Implement `list` and `lost` of struct instances_kind; the instance is a struct cpython.
 * python_threads_list reads the heads of the lists, and new threads there. It reads whole lists,
 * and heads of more than 8 interpreters or with more than 1,000 threads, only within a budget of 1%
 * of the time.
 */
void python_threads_list(struct instance *instance, uint64_t now_ns);
void python_threads_release(struct instance *instance);
/* Reads the heads of the lists, or the whole lists, for the thread `tid`, if cpython->threads lacks
 * it or has outdated ids of it. For a thread that is not found repeatedly, as one that executes no
 * Python functions, it does so at the 1st, 2nd, 4th, … search. Heads are read within another budget
 * of 1% of the time, whole lists within that of python_threads_list. */
void python_threads_seek(struct cpython *cpython, pid_t tid, uint64_t now_ns);
/* Returns the tid of the thread with the PyThreadState at `state`; 0: it is not known. Reads the
 * lists of threads again when they do not have it, as python_threads_seek. */
pid_t python_threads_owner(struct cpython *cpython, uint64_t state);
/* Returns the address of the interpreter that follows `interpreter` in the list of interpreters, or
 * of the first one if `interpreter` is 0. Returns 0 at the end and when memory is unreadable. */
uint64_t python_interpreter_next(const struct python_place *place, const struct memory *memory,
				 uint64_t interpreter);

/* --- python_known.c ---------------------------------------------------------------------- */

/* Return the first element of cpython->threads with this tid, and the next one with the tid of
 * `thread`; NULL: there is none. The result is valid until the next python_threads_list. */
struct python_thread *python_threads_find(struct cpython *cpython, pid_t tid);
struct python_thread *python_threads_next(struct cpython *cpython,
					  const struct python_thread *thread);
/* Returns true when `state`, the first thread_size bytes (struct python_layout) of the
 * PyThreadState as they are now, still has the interpreter and the ids of `thread`. */
bool python_threads_confirm(const struct cpython *cpython, const struct python_thread *thread,
			    const uint8_t *state);
/* Returns true when the element of this tid exists, and its PyThreadState confirms it. */
bool python_threads_know(struct cpython *cpython, pid_t tid);

/* --- python_lock.c ----------------------------------------------------------------------- */

/* Returns the address of the lock that the interpreter's threads use, up to 3.11 that of
 * _PyRuntime. 0: there is none, it is disabled or it is not readable. */
uint64_t python_lock_of(const struct cpython *cpython, uint64_t interpreter);
/* Adds the lock at the address `lock`, which must not be 0, to cpython->lock with the name of the
 * interpreter. Does nothing if the lock is there already. */
void python_lock_add(struct cpython *cpython, uint64_t interpreter, uint64_t lock);
/* Returns true if cpython->lock has the lock, or `lock` is 0. */
bool python_lock_is_known(const struct cpython *cpython, uint64_t lock);
/* Returns the address of the PyThreadState that holds the lock at `lock`; 0: it is free, not
 * readable, or `lock` is 0. */
uint64_t python_lock_holder(const struct python_layout *layout, const struct memory *memory,
			    uint64_t lock);

/* --- python_merge.c ---------------------------------------------------------------------- */

/* Texts of the frames that replace frames beyond a limit, and frames that were not readable. */
#define PYTHON_CUT "[python: deeper than what is read]"
#define PYTHON_BROKEN "[python: frames not readable]"

/* Returns a struct runtime_place with `text`, which is borrowed, in place of a function's name. */
struct runtime_place python_marker(const char *text);
/* Returns the frame's function and line, or a text in their place if they cannot be read. */
struct runtime_place python_frame_place(struct cpython *cpython, const struct python_frame *frame);
/* Implements `merge` of struct runtime_kind; `captured` is a struct python_captured. */
void python_merge(void *state, const void *captured, const struct chain *chain,
		  struct runtime_frames *frames);
/* Returns true when the frame is in the code of _PyEval_EvalFrameDefault, as far as it is known. */
bool python_is_eval(const struct cpython *cpython, const struct chain_frame *frame);

/* --- python_asyncio.c, python_tasks.c ------------------------------------------------------ */

/* Searches for the layout of tasks until it is known, but only once for each maps_generation: the
 * program may load asyncio at any time. Reads files, which may take long. */
void python_tasks_find(struct cpython *cpython);
/* Adds to *to the tasks of the thread or, if `thread` is NULL, of threads that have ended. Stops at
 * the time until_ns (CLOCK_MONOTONIC), and adds a note about each reason why tasks are missing. */
void python_tasks_read(struct cpython *cpython, const struct python_thread *thread,
		       uint64_t until_ns, struct async_tasks *to);
extern const struct runtime_kind runtime_python;

#endif
