/* SPDX-License-Identifier: MIT */
/*
 * python_internal.h - what the files of CPython share.
 * python.c          the CPythons of a process: found, lost, described
 * python_threads.c  which threads they know, and their locks
 * python_capture.c  the frames of a thread, as memory has them
 * python_merge.c    where in a native call chain they belong
 * python_tasks.c    the tasks of a thread's loop; python_asyncio.c: where they are
 * python_find.c, python_layout*.c  where things are, by version
 * python_code.c, python_lines.c    names and lines
 */
#ifndef WALLSAMPLE_RUNTIME_PYTHON_PYTHON_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PYTHON_PYTHON_INTERNAL_H

#include "runtime/python/python_asyncio_internal.h"
#include "runtime/python/python_code_internal.h"
#include "runtime/python/python_find_internal.h"
#include "runtime/runtime_kind_internal.h"
#include "wallsample/base/table.h"

/* Frames of a thread that are captured; what is further out is left out, and marked. While a
 * running thread stands still for it, this is half a millisecond; so are PAGES_READ_MOST, which
 * end it earlier when frames are large. */
#define PYTHON_DEPTH_MOST 2048

/* Sub-interpreters, and threads: lists in memory may be rings. */
#define PYTHON_INTERPRETERS_MOST 1024
#define PYTHON_THREADS_MOST 100000

/* Of the structures, up to the last member that is read. */
#define PYTHON_STATE_BYTES 512 /* of PyThreadState */
#define PYTHON_FRAME_BYTES 160
#define PYTHON_CODE_BYTES 320

struct python_lock {
	uint64_t address;
	char name[32]; /* "of interpreter 3"; "" when there is but one */
};

/* A thread as CPython knows it. One that uses two interpreters has two. */
struct python_thread {
	uint64_t state;       /* address of its PyThreadState */
	uint64_t interpreter;
	uint64_t lock;        /* address of its interpreter's lock; 0: none */
	uint64_t native, pthread; /* as that has them, by which `tid` was found; 0: absent */
	pid_t tid;            /* in our namespace; 0: not known */
	uint32_t next;        /* of the same tid: its index and 1; 0: none */
	struct pages_memo memo;
};

struct python_threads {
	struct python_thread *thread;
	size_t count, capacity;
	struct table by_state, by_tid; /* -> index */
};

/* One CPython in the process. */
struct cpython {
	struct instance base;
	struct python_place place;
	struct python_codes *codes;
	struct python_threads threads, before;
	struct python_lock *lock;
	size_t lock_count, lock_capacity;
	bool tasks_known, tasks_sought; /* where they are; with the mappings of */
	uint64_t tasks_generation;
	const char *tasks_why;  /* asyncio is there, and they are not known; else NULL */
	struct python_task_layout tasks;
};

/* --- python_threads.c -------------------------------------------------------------------- */

void python_threads_list(struct cpython *cpython, uint64_t now_ns);
void python_threads_release(struct cpython *cpython);
/* One of those with this tid, NULL: there is none. */
struct python_thread *python_threads_find(struct cpython *cpython, pid_t tid);
/* All of them, in the order of the list; returns how many. */
size_t python_threads_all(struct cpython *cpython, pid_t tid,
			  struct python_thread *thread[PYTHON_INTERPRETERS_MOST]);
/* Is the PyThreadState, of which these are the first bytes, still that of the thread? */
bool python_threads_confirm(const struct cpython *cpython, const struct python_thread *thread,
			    const uint8_t *state);
/* How much of a PyThreadState is read, at most PYTHON_STATE_BYTES; 0: it would be more. */
size_t python_state_size(const struct python_layout *layout);
/* Members of structures that were read. */
uint64_t python_word(const uint8_t *bytes, uint32_t offset); /* 0 for an absent one */
uint32_t python_word32(const uint8_t *bytes, uint32_t offset);

/* --- python_capture.c -------------------------------------------------------------------- */

/* _PyInterpreterFrame.owner: since 3.12 who owns it is the C stack, or nobody. */
#define PYTHON_OWNER_SHIM 3
/* Pointers to objects have marks in their lowest bits since 3.14. */
#define PYTHON_REFERENCE_MARKS UINT64_C(7)

struct python_frame {
	struct python_code_id code;
	uint64_t instruction;
	uint32_t bytecode_index;
};

/* The frames that one call of the function that executes bytecode executes: [begin, end). */
struct python_group {
	size_t begin, end;
	uint64_t anchor; /* address of something on that call's part of the stack; 0: not known */
};

struct python_captured {
	struct cpython *of;     /* NULL: nothing was captured */
	struct python_frame *frame; /* innermost first */
	size_t count, capacity;
	struct python_group *group;
	size_t group_count, group_capacity, grouped; /* so many frames are in groups */
	bool known;             /* it is one of CPython's threads */
	bool has_lock;
	bool paused;            /* of a build without a lock: all its threads are held just now */
	uint64_t lock;          /* that of its interpreter; 0: there is none */
	bool cut;               /* there are more frames, further out */
	bool broken;            /* frames lead to where no memory is */
};

void python_capture(struct cpython *cpython, pid_t tid, struct python_captured *captured);

/* How much of a frame is read, at most PYTHON_FRAME_BYTES; 0: it would be more. */
size_t python_frame_size(const struct python_layout *layout);
/* From these first bytes of it, and its code, in memory that stands still. False: it is none of the
 * program's. */
bool python_frame_pick(const struct cpython *cpython, const uint8_t *bytes,
		       struct python_frame *frame);

/* --- python_merge.c ---------------------------------------------------------------------- */

/* What stands for frames that are not read, or cannot be. */
#define PYTHON_CUT "[python: deeper than what is read]"
#define PYTHON_BROKEN "[python: frames not readable]"

/* The frame's function and line, or what says that they cannot be read. */
struct runtime_place python_frame_place(struct cpython *cpython, const struct python_frame *frame);
void python_merge(const struct python_captured *captured, const struct chain *chain,
		  struct runtime_frames *frames);

/* --- python_tasks.c ---------------------------------------------------------------------- */

/* Of the thread of the list; NULL: those that are no thread's any more. */
/* Looks for where they are, which may take long. */
void python_tasks_find(struct cpython *cpython);
void python_tasks_read(struct cpython *cpython, const struct python_thread *thread,
		       uint64_t until_ns, struct async_tasks *to);

#endif
