/* SPDX-License-Identifier: MIT */
/*
 * python_internal.h - reads the threads of CPython, their frames and their asyncio tasks.
 * python.c          the instances of CPython, and the functions of struct runtime_kind
 * python_threads.c  the threads and locks that each CPython lists
 * python_capture.c  copies the frames of a thread from memory
 * python_merge.c    inserts these frames into the native call chain
 * python_asyncio.c, python_tasks.c  the tasks of asyncio, and their stacks
 */
#ifndef WALLSAMPLE_RUNTIME_PYTHON_PYTHON_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PYTHON_PYTHON_INTERNAL_H

#include "runtime/python/python_find_internal.h"
#include "wallsample/base/table.h"

/* --- the layout of tasks (python_debug_offsets.c) ------------------------------------------ */

/* Most bytes of a task, a coroutine, a frame, a set or an int; a task has some 200. */
#define PYTHON_TASK_PART_MOST 512

/* Offsets in bytes; if a comment names no structure, in a task (TaskObj). CPython publishes them
 * since 3.14: in _Py_DebugOffsets of the interpreter, and in section .AsyncioDebug of its module
 * _asyncio, which is a file or a part of the interpreter (struct _Py_AsyncioModuleDebugOffsets,
 * Modules/_asynciomodule.c). Before 3.14 tasks are in a Python set of weak references, and are not
 * read. */
struct python_task_layout {
	/* Offsets and sizes in _Py_DebugOffsets. */
	uint32_t interpreter_size;      /* bytes of PyInterpreterState */
	uint32_t object_size;           /* bytes of PyObject */
	uint32_t frame_stack;           /* _PyInterpreterFrame.stackpointer */
	uint32_t frame_locals;          /* _PyInterpreterFrame.localsplus */
	uint32_t generator_frame;       /* PyGenObject.gi_iframe, also of coroutines */
	uint32_t generator_state;       /* PyGenObject.gi_frame_state, one byte */
	uint32_t set_table, set_mask;   /* PySetObject.table and .mask */
	uint32_t long_tag, long_digits; /* PyLongObject.long_value.lv_tag and .ob_digit */
	/* Offsets and sizes in .AsyncioDebug. */
	uint32_t size;              /* bytes of TaskObj */
	uint32_t name;              /* a pointer to a str, or to the int N for "Task-N" */
	uint32_t awaited_by;        /* a pointer to one awaiter (a task) or a set of awaiters */
	uint32_t is_task;           /* one byte: 1 in a task, 0 in another future */
	uint32_t awaited_by_is_set; /* one byte: not 0 if awaited_by points to a set */
	uint32_t coroutine;         /* a pointer to the coroutine that the task executes */
	uint32_t node;              /* llist_node: pointers to the next and previous node */
	uint32_t interpreter_tasks; /* in PyInterpreterState: list of tasks of ended threads */
	uint32_t thread_tasks;      /* in _PyThreadStateImpl: list of the thread's tasks */
	uint32_t thread_running;    /* in _PyThreadStateImpl: a pointer to the running task */
};

#define PYTHON_ASYNCIO_WORDS 13 /* number of 64-bit words in .AsyncioDebug */
/* Sets the members that _Py_DebugOffsets has from the first `size` bytes of _PyRuntime. Returns
 * false, and changes nothing, when they are absent (before 3.14) or not plausible. */
bool python_offsets_parse_tasks(const void *bytes, size_t size, struct python_task_layout *layout);
/* Sets the members that .AsyncioDebug has from its words. Returns false, and changes nothing, when
 * they are not plausible or belong to an interpreter with another interpreter_size. */
bool python_asyncio_parse(const uint64_t word[PYTHON_ASYNCIO_WORDS],
			  struct python_task_layout *layout);

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
	pid_t tid;                /* in wallsample's pid namespace; 0: not known */
	uint32_t next;            /* index + 1 of the next element with this tid; 0: the last one */
	struct pages_memo memo;   /* pages from which the latest capture has read */
};

struct python_threads {
	struct python_thread *thread;
	size_t count, capacity;
	struct table by_state; /* address of a PyThreadState -> index of its element */
	struct table by_tid;   /* tid -> index + 1 of the first element with it */
};

struct cpython {
	struct instance base;
	struct python_place place;
	struct python_codes *codes;
	struct python_threads threads; /* as the latest reading of the lists found them */
	struct python_threads before;  /* as the reading before that found them */
	struct python_lock *lock;      /* the different locks of all interpreters */
	size_t lock_count, lock_capacity;
	bool tasks_known;          /* the layout in `tasks` is valid */
	bool tasks_sought;         /* a search for that layout was made */
	uint64_t tasks_generation; /* maps_generation at the latest search for it */
	const char *tasks_why; /* why tasks of a loaded _asyncio cannot be read; NULL: no reason */
	struct python_task_layout tasks;
};

/* --- python_threads.c -------------------------------------------------------------------- */

/* Implement `list` and `lost` of struct instances_kind; the instance is a struct cpython. The lists
 * of threads are read when they may have changed, which takes at most 1% of the time. */
void python_threads_list(struct instance *instance, uint64_t now_ns);
void python_threads_release(struct instance *instance);
/* Return the first element of cpython->threads with this tid, and the next one with the tid of
 * `thread`; NULL: there is none. The result is valid until the next python_threads_list. */
struct python_thread *python_threads_find(struct cpython *cpython, pid_t tid);
struct python_thread *python_threads_next(struct cpython *cpython,
					  const struct python_thread *thread);
/* Returns true when `state`, the first thread_size bytes (struct python_layout) of the
 * PyThreadState as they are now, still has the interpreter and the ids of `thread`. */
bool python_threads_confirm(const struct cpython *cpython, const struct python_thread *thread,
			    const uint8_t *state);
/* Returns the address of the interpreter that follows `interpreter` in the list of interpreters, or
 * of the first one if `interpreter` is 0. Returns 0 at the end and when memory is unreadable. */
uint64_t python_interpreter_next(const struct python_place *place, const struct memory *memory,
				 uint64_t interpreter);
/* Returns the address of the PyThreadState that holds the lock at `lock`; 0: it is free, not
 * readable, or `lock` is 0. */
uint64_t python_lock_holder(const struct python_layout *layout, const struct memory *memory,
			    uint64_t lock);

/* --- python_capture.c -------------------------------------------------------------------- */

/* Smallest _PyInterpreterFrame.owner of a shim (3.12 and later): the outermost frame of a call of
 * the bytecode loop (_PyEval_EvalFrameDefault), which belongs to no Python function. */
#define PYTHON_OWNER_SHIM 3
/* The lowest bits of references to objects in frames, which may be tags since 3.14. */
#define PYTHON_REFERENCE_MARKS UINT64_C(7)

struct python_frame {
	struct python_code_id code; /* address 0: the code object is not readable */
	uint64_t instruction;       /* value of the frame at layout.frame_instruction */
	uint32_t bytecode_index;    /* at layout.frame_bytecode_index; 0: absent */
};

/* The frames number [begin, end) of a capture, which one call of the bytecode loop executes. */
struct python_group {
	size_t begin, end;
	uint64_t anchor; /* an address in the native stack frame of that call; 0: not known */
};

struct python_captured {
	struct cpython *of;         /* CPython of the thread; NULL: nothing was captured */
	struct python_frame *frame; /* innermost first */
	size_t count, capacity;
	struct python_group *group; /* innermost first */
	size_t group_count, group_capacity;
	size_t grouped; /* number of frames in groups */
	bool known;     /* the thread is in the lists of `of`; false: there are no frames */
	bool has_lock;  /* the thread holds the lock at `lock` */
	bool paused;    /* builds without a global lock: another thread has stopped all threads */
	uint64_t lock;  /* address of the lock of the thread's interpreter; 0: no lock */
	bool cut;       /* a limit was reached: the outermost frames are missing */
	bool broken;    /* frames are missing because memory was unreadable or inconsistent */
};

/* Captures the frames of a thread, which must be stopped or asleep, into *captured. */
void python_capture(struct cpython *cpython, pid_t tid, struct python_captured *captured);
/* Returns the target's memory, read through the page cache of pages_internal.h. */
struct memory python_pages_memory(const struct cpython *cpython);
/* Sets *frame from the first layout.frame_size bytes of a frame, and from its code object, which is
 * read from memory. Returns false when the frame does not belong to a function of the program. */
bool python_frame_pick(const struct cpython *cpython, const uint8_t *bytes,
		       struct python_frame *frame);

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
