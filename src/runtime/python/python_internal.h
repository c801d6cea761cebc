/* SPDX-License-Identifier: MIT */
/*
 * python_internal.h - threads, captures and tasks of CPython.
 * python.c          the instances of CPython, and the contract of a runtime
 * python_threads.c  the threads and locks that each CPython lists
 * python_capture.c  the frames of a thread, copied as they are in memory
 * python_merge.c    the position of these frames in the native call chain
 * python_asyncio.c, python_tasks.c  where asyncio's tasks are, and their stacks
 */
#ifndef WALLSAMPLE_RUNTIME_PYTHON_PYTHON_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PYTHON_PYTHON_INTERNAL_H

#include "runtime/python/python_find_internal.h"
#include "wallsample/base/table.h"

/* --- python_asyncio.c -------------------------------------------------------------------- */

/* Bytes of a task, a coroutine or a frame that are read; they have some 200. */
#define PYTHON_TASK_PART_MOST 512

/*
 * Offsets in bytes, in a task (TaskObj) unless a comment names another structure. Since 3.14 two
 * parts of CPython list them: _Py_DebugOffsets of the interpreter, and the section .AsyncioDebug of
 * the module _asyncio, which may be a file of its own or part of the interpreter (struct
 * _Py_AsyncioModuleDebugOffsets, Modules/_asynciomodule.c). Before 3.14 the tasks are in a set of
 * weak references, a Python object, and are not read.
 */
struct python_task_layout {
	/* From the interpreter. */
	uint32_t interpreter_size;
	uint32_t object_size;     /* of PyObject */
	uint32_t frame_stack;     /* _PyInterpreterFrame.stackpointer */
	uint32_t frame_locals;    /* … .localsplus */
	uint32_t generator_frame; /* PyGenObject.gi_iframe, also of coroutines */
	uint32_t generator_state; /* … .gi_frame_state, one byte */
	uint32_t set_table, set_mask;
	uint32_t long_tag, long_digits;
	/* From _asyncio. */
	uint32_t size;
	uint32_t name;
	uint32_t awaited_by;        /* a task, or a set of tasks */
	uint32_t is_task;           /* one byte; 0: another kind of future */
	uint32_t awaited_by_is_set; /* one byte */
	uint32_t coroutine;
	uint32_t node;              /* of the linked list of tasks */
	uint32_t interpreter_tasks; /* of PyInterpreterState: tasks without a thread */
	uint32_t thread_tasks;      /* of _PyThreadStateImpl: the thread's tasks */
	uint32_t thread_running;    /* … the running task */
};

#define PYTHON_ASYNCIO_WORDS 13

/* Parse the two parts. False: absent (before 3.14), or not plausible. The words of _asyncio belong
 * to this interpreter if the size of the interpreter's structure is the same in both. */
bool python_offsets_parse_tasks(const void *bytes, size_t size, struct python_task_layout *layout);
bool python_asyncio_parse(const uint64_t word[PYTHON_ASYNCIO_WORDS],
			  struct python_task_layout *layout);

/*
 * Finds both parts of the CPython at `place`. False: asyncio is not loaded, or is not readable;
 * *why is a sentence in the second case, else NULL.
 */
bool python_asyncio_find(struct maps *maps, const struct memory *memory,
			 const struct python_place *place, struct python_task_layout *layout,
			 const char **why);

/* --- one CPython ------------------------------------------------------------------------- */

/* Frames of a thread that are captured, which takes half a millisecond of a stop; a marker stands
 * for the frames further out. PAGES_READ_MOST ends the capture earlier if frames are large. */
#define PYTHON_DEPTH_MOST 2048

/* Bounds of lists in memory, which may be circular: sub-interpreters, and threads. */
#define PYTHON_INTERPRETERS_MOST 1024
#define PYTHON_THREADS_MOST 100000

/* Bytes of the structures, up to the last member that is read. */
#define PYTHON_STATE_BYTES 512 /* of PyThreadState */
#define PYTHON_FRAME_BYTES 160
#define PYTHON_CODE_BYTES 320

struct python_lock {
	uint64_t address;
	char name[32]; /* "of interpreter 3"; "" if it is the only one */
};

/* A thread in CPython's lists. A thread that uses two interpreters has two. */
struct python_thread {
	uint64_t state; /* address of its PyThreadState */
	uint64_t interpreter;
	uint64_t lock;            /* address of its interpreter's lock; 0: none */
	uint64_t native, pthread; /* ids in the PyThreadState, from which tid follows; 0: absent */
	pid_t tid;                /* in our pid namespace; 0: not known */
	uint32_t next;            /* with the same tid: index + 1; 0: none */
	struct pages_memo memo;
};

struct python_threads {
	struct python_thread *thread;
	size_t count, capacity;
	struct table by_state, by_tid; /* -> index */
};

struct cpython {
	struct instance base;
	struct python_place place;
	struct python_codes *codes;
	struct python_threads threads, before;
	struct python_lock *lock;
	size_t lock_count, lock_capacity;
	bool tasks_known;  /* the layout of tasks; searched when tasks_generation of the */
	bool tasks_sought; /* mappings was current */
	uint64_t tasks_generation;
	const char *tasks_why; /* asyncio is loaded, and its tasks are not readable; else NULL */
	struct python_task_layout tasks;
};

/* --- python_threads.c -------------------------------------------------------------------- */

/* Reads the lists of threads if they may have changed; takes at most 1% of the time. */
void python_threads_list(struct cpython *cpython, uint64_t now_ns);
void python_threads_release(struct cpython *cpython);
/* A thread with this tid; NULL: there is none. */
struct python_thread *python_threads_find(struct cpython *cpython, pid_t tid);
/* All threads with this tid, in the order of the list; returns their count. */
size_t python_threads_all(struct cpython *cpython, pid_t tid,
			  struct python_thread *thread[PYTHON_INTERPRETERS_MOST]);
/* Is the PyThreadState, of which `state` has the first bytes, still that of the thread? */
bool python_threads_confirm(const struct cpython *cpython, const struct python_thread *thread,
			    const uint8_t *state);
/* Bytes of a PyThreadState that are read; 0: more than PYTHON_STATE_BYTES. */
size_t python_state_size(const struct python_layout *layout);
/* Members of structures that were read; 0 for an absent one. */
uint64_t python_word(const uint8_t *bytes, uint32_t offset);
uint32_t python_word32(const uint8_t *bytes, uint32_t offset);

/* --- python_capture.c -------------------------------------------------------------------- */

/* _PyInterpreterFrame.owner since 3.12: the C stack, or none. */
#define PYTHON_OWNER_SHIM 3
/* The lowest bits of pointers to objects are tags since 3.14. */
#define PYTHON_REFERENCE_MARKS UINT64_C(7)

struct python_frame {
	struct python_code_id code;
	uint64_t instruction;
	uint32_t bytecode_index;
};

/* Frames [begin, end): those that one call of the bytecode loop executes. */
struct python_group {
	size_t begin, end;
	uint64_t anchor; /* an address in that call's part of the stack; 0: not known */
};

struct python_captured {
	struct cpython *of;         /* NULL: nothing was captured */
	struct python_frame *frame; /* innermost first */
	size_t count, capacity;
	struct python_group *group;
	size_t group_count, group_capacity, grouped; /* frames that belong to groups so far */
	bool known;                                  /* CPython lists the thread */
	bool has_lock;
	bool paused;   /* build without a lock: the collector stops all threads now */
	uint64_t lock; /* that of its interpreter; 0: none */
	bool cut;      /* there are more frames, further out */
	bool broken;   /* a frame points to unreadable memory */
};

void python_capture(struct cpython *cpython, pid_t tid, struct python_captured *captured);

/* Bytes of a frame that are read; 0: more than PYTHON_FRAME_BYTES. */
size_t python_frame_size(const struct python_layout *layout);
/* Takes a frame from its first bytes and its code object, which must not change meanwhile. False:
 * the frame is none of the program's functions. */
bool python_frame_pick(const struct cpython *cpython, const uint8_t *bytes,
		       struct python_frame *frame);

/* --- python_merge.c ---------------------------------------------------------------------- */

/* Markers for frames that are not read, or not readable. */
#define PYTHON_CUT "[python: deeper than what is read]"
#define PYTHON_BROKEN "[python: frames not readable]"

/* The frame's function and line, or the marker PYTHON_BROKEN. */
struct runtime_place python_frame_place(struct cpython *cpython, const struct python_frame *frame);
void python_merge(const struct python_captured *captured, const struct chain *chain,
		  struct runtime_frames *frames);

/* --- python_tasks.c ---------------------------------------------------------------------- */

/* Searches for the layout of tasks, once for each state of the mappings; may take long. */
void python_tasks_find(struct cpython *cpython);
/* Adds the tasks of the listed thread; NULL: the tasks that no longer have a thread. */
void python_tasks_read(struct cpython *cpython, const struct python_thread *thread,
		       uint64_t until_ns, struct async_tasks *to);

extern const struct runtime_kind runtime_python;

#endif
