/* SPDX-License-Identifier: MIT */
/*
 * python_internal.h - threads, captures and tasks of CPython.
 * python.c          the instances of CPython, and the functions of struct runtime_kind
 * python_threads.c  the threads and locks that each CPython lists
 * python_capture.c  the frames of a thread, copied as they are in memory
 * python_merge.c    the position of these frames in the native call chain
 * python_asyncio.c, python_tasks.c  the tasks of asyncio, and their stacks
 */
#ifndef WALLSAMPLE_RUNTIME_PYTHON_PYTHON_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PYTHON_PYTHON_INTERNAL_H

#include "runtime/python/python_find_internal.h"
#include "wallsample/base/table.h"

/* --- the layout of tasks (python_debug_offsets.c) ------------------------------------------ */

/* Most bytes of a task, a coroutine or a frame; they have some 200 bytes. */
#define PYTHON_TASK_PART_MOST 512

/*
 * Offsets in bytes, in a task (TaskObj) unless a comment names another structure. Since 3.14 two
 * places in the target's memory have them: _Py_DebugOffsets of the interpreter, and the section
 * .AsyncioDebug of the module _asyncio, which may be a file of its own or a part of the interpreter
 * (struct _Py_AsyncioModuleDebugOffsets, Modules/_asynciomodule.c). Before 3.14 CPython keeps tasks
 * in a Python set of weak references: they are not read.
 */
struct python_task_layout {
	/* Offsets and sizes in _Py_DebugOffsets. */
	uint32_t interpreter_size; /* bytes of PyInterpreterState */
	uint32_t object_size;      /* bytes of PyObject */
	uint32_t frame_stack;      /* _PyInterpreterFrame.stackpointer */
	uint32_t frame_locals;     /* _PyInterpreterFrame.localsplus */
	uint32_t generator_frame;  /* PyGenObject.gi_iframe, also of coroutines */
	uint32_t generator_state;  /* PyGenObject.gi_frame_state, one byte */
	uint32_t set_table, set_mask;
	uint32_t long_tag, long_digits;
	/* Offsets and sizes in .AsyncioDebug. */
	uint32_t size; /* bytes of TaskObj */
	uint32_t name;
	uint32_t awaited_by;        /* a pointer to a task, or to a set of tasks */
	uint32_t is_task;           /* one byte; 0 in another kind of future */
	uint32_t awaited_by_is_set; /* one byte */
	uint32_t coroutine;
	uint32_t node;              /* two pointers: the node of the linked list of tasks */
	uint32_t interpreter_tasks; /* in PyInterpreterState: the list of tasks without a thread */
	uint32_t thread_tasks;      /* in _PyThreadStateImpl: the list of the thread's tasks */
	uint32_t thread_running;    /* in _PyThreadStateImpl: a pointer to the running task */
};

#define PYTHON_ASYNCIO_WORDS 13

/* Sets the members that _Py_DebugOffsets has. False: absent (before 3.14), or not plausible. */
bool python_offsets_parse_tasks(const void *bytes, size_t size, struct python_task_layout *layout);
/* Sets the members that .AsyncioDebug has, from its words. Returns false when they are not
 * plausible, or are those of an interpreter with another size of PyInterpreterState. */
bool python_asyncio_parse(const uint64_t word[PYTHON_ASYNCIO_WORDS],
			  struct python_task_layout *layout);

/* --- one CPython ------------------------------------------------------------------------- */

/* Most frames that are captured of a thread, in half a millisecond of a stop. A marker replaces the
 * frames outside of them. PAGES_READ_MOST may end the capture earlier. */
#define PYTHON_DEPTH_MOST 2048

/* Most interpreters and threads that are read of lists in memory, which may be circular. */
#define PYTHON_INTERPRETERS_MOST 1024
#define PYTHON_THREADS_MOST 100000

struct python_lock {
	uint64_t address;
	char name[32]; /* "of interpreter 3"; "" if the CPython has one lock */
};

/* A thread in CPython's lists. A thread that uses two interpreters is in two lists. */
struct python_thread {
	uint64_t state;           /* address of its PyThreadState */
	uint64_t interpreter;     /* address of its PyInterpreterState */
	uint64_t lock;            /* address of its interpreter's lock; 0: no lock */
	uint64_t native, pthread; /* ids in the PyThreadState, by which tid is found; 0: absent */
	pid_t tid;                /* in wallsample's pid namespace; 0: not known */
	uint32_t next;            /* index + 1 of the next thread with this tid; 0: the last one */
	struct pages_memo memo;   /* pages that the latest capture has read */
};

struct python_threads {
	struct python_thread *thread;
	size_t count, capacity;
	struct table by_state; /* address of a PyThreadState -> index of its thread */
	struct table by_tid;   /* tid -> index + 1 of its first thread */
};

struct cpython {
	struct instance base;
	struct python_place place;
	struct python_codes *codes;
	struct python_threads threads; /* the current list */
	struct python_threads before;  /* the previous list */
	struct python_lock *lock;
	size_t lock_count, lock_capacity;
	bool tasks_known;          /* `tasks` has been read */
	bool tasks_sought;         /* a search for the layout was made at tasks_generation */
	uint64_t tasks_generation; /* maps_generation at that search */
	const char *tasks_why;     /* why tasks of a loaded asyncio cannot be read; or NULL */
	struct python_task_layout tasks;
};

/* --- python_threads.c -------------------------------------------------------------------- */

/* Functions of struct instances_kind; the instance is a struct cpython. python_threads_list reads
 * the lists of threads if they may have changed, for at most 1% of the time. */
void python_threads_list(struct instance *instance, uint64_t now_ns);
void python_threads_release(struct instance *instance);
/* Return the first listed thread with this tid, and the next thread with the tid of `thread`; NULL:
 * none. The result is valid until the next python_threads_list. */
struct python_thread *python_threads_find(struct cpython *cpython, pid_t tid);
struct python_thread *python_threads_next(struct cpython *cpython,
					  const struct python_thread *thread);
/* Returns true when the PyThreadState still belongs to the thread. `state`: its first bytes. */
bool python_threads_confirm(const struct cpython *cpython, const struct python_thread *thread,
			    const uint8_t *state);
/* Returns the address of the interpreter behind `interpreter` in the list of interpreters; for 0
 * that of the first interpreter. Returns 0 at the end of the list. */
uint64_t python_interpreter_next(const struct python_place *place, const struct memory *memory,
				 uint64_t interpreter);
/* Returns the address of the PyThreadState that holds the lock; 0: none, or `lock` is 0. */
uint64_t python_lock_holder(const struct python_layout *layout, const struct memory *memory,
			    uint64_t lock);

/* --- python_capture.c -------------------------------------------------------------------- */

/* Least value of _PyInterpreterFrame.owner, since 3.12, of frames without a Python function. */
#define PYTHON_OWNER_SHIM 3
/* The lowest bits of pointers to objects, which may be tags since 3.14. */
#define PYTHON_REFERENCE_MARKS UINT64_C(7)

struct python_frame {
	struct python_code_id code; /* address 0: the code object is not readable */
	uint64_t instruction;       /* its value at layout.frame_instruction */
	uint32_t bytecode_index;    /* its value at layout.frame_bytecode_index; 0: absent */
};

/* The captured frames [begin, end), which one call of the bytecode loop executes. */
struct python_group {
	size_t begin, end;
	uint64_t anchor; /* an address in the stack frame of that call; 0: not known */
};

struct python_captured {
	struct cpython *of;         /* CPython of the thread; NULL: nothing was captured */
	struct python_frame *frame; /* innermost first */
	size_t count, capacity;
	struct python_group *group; /* innermost first */
	size_t group_count, group_capacity;
	size_t grouped; /* number of frames in groups */
	bool known;     /* CPython lists the thread */
	bool has_lock;  /* the thread holds the lock at `lock` */
	bool paused;    /* without a global lock: garbage collection has stopped all threads */
	uint64_t lock;  /* address of its interpreter's lock; 0: no lock */
	bool cut;       /* the outermost frames were not captured */
	bool broken;    /* a frame points to unreadable memory */
};

/* Captures the frames of a stopped thread. */
void python_capture(struct cpython *cpython, pid_t tid, struct python_captured *captured);

/* Returns the target's memory, read through the cached pages of the current walk. */
struct memory python_pages_memory(const struct cpython *cpython);
/* Makes a frame from the layout.frame_size bytes of a frame in memory, whose code object must not
 * change meanwhile. False: the frame is not a function of the program. */
bool python_frame_pick(const struct cpython *cpython, const uint8_t *bytes,
		       struct python_frame *frame);

/* --- python_merge.c ---------------------------------------------------------------------- */

/* Markers in place of frames that were not captured, or are not readable. */
#define PYTHON_CUT "[python: deeper than what is read]"
#define PYTHON_BROKEN "[python: frames not readable]"

/* Returns a place that is a marker. `text` is borrowed. */
struct runtime_place python_marker(const char *text);
/* Returns the function and line of the frame, or a marker if they cannot be read. */
struct runtime_place python_frame_place(struct cpython *cpython, const struct python_frame *frame);
/* Implements `merge` of struct runtime_kind; `captured` is a struct python_captured. */
void python_merge(void *state, const void *captured, const struct chain *chain,
		  struct runtime_frames *frames);

/* --- python_asyncio.c, python_tasks.c ------------------------------------------------------ */

/* Searches for the layout of tasks, once for each maps_generation, because the program may load
 * asyncio at any time. Reads files, which may take long. */
void python_tasks_find(struct cpython *cpython);
/* Adds the tasks of the thread or, if `thread` is NULL, the tasks without a thread. Stops at the
 * time until_ns, and then adds a note. */
void python_tasks_read(struct cpython *cpython, const struct python_thread *thread,
		       uint64_t until_ns, struct async_tasks *to);

extern const struct runtime_kind runtime_python;

#endif
