/* SPDX-License-Identifier: MIT */
/* python_task_layout_internal.h - offsets in the tasks of asyncio (python_debug_offsets.c). */
#ifndef WALLSAMPLE_RUNTIME_PYTHON_PYTHON_TASK_LAYOUT_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PYTHON_PYTHON_TASK_LAYOUT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
