/* SPDX-License-Identifier: MIT */
/*
 * python_asyncio_internal.h - where CPython keeps the tasks of asyncio, and what of them.
 *
 * Two of its parts tell, since 3.14: _Py_DebugOffsets of the interpreter, and the section
 * .AsyncioDebug of the module _asyncio, which may be one of its own or in the interpreter
 * (struct _Py_AsyncioModuleDebugOffsets, Modules/_asynciomodule.c). Before that nothing does: the
 * tasks are in a set of weak references, an object of Python.
 */
#ifndef WALLSAMPLE_RUNTIME_PYTHON_PYTHON_ASYNCIO_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PYTHON_PYTHON_ASYNCIO_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/python/python_find_internal.h"

/* Bytes of a task, a coroutine, a frame: they have some 200. */
#define PYTHON_TASK_PART_MOST 512

/* Offsets in bytes, of a task (TaskObj) where nothing else is said. */
struct python_task_layout {
	/* What the interpreter says. */
	uint32_t interpreter_size;
	uint32_t object_size;       /* of PyObject: where the members of an object begin */
	uint32_t frame_stack;       /* _PyInterpreterFrame.stackpointer */
	uint32_t frame_locals;      /* … .localsplus */
	uint32_t generator_frame;   /* PyGenObject.gi_iframe, and coroutines alike */
	uint32_t generator_state;   /* … .gi_frame_state, one byte */
	uint32_t set_table, set_mask;
	uint32_t long_tag, long_digits;
	/* What _asyncio says. */
	uint32_t size;
	uint32_t name;
	uint32_t awaited_by;        /* a task, or a set of them */
	uint32_t is_task;           /* one byte; it may be another future */
	uint32_t awaited_by_is_set; /* one byte */
	uint32_t coroutine;
	uint32_t node;              /* of the list of tasks */
	uint32_t interpreter_tasks; /* of PyInterpreterState: the list of those without a thread */
	uint32_t thread_tasks;      /* of _PyThreadStateImpl: the thread's */
	uint32_t thread_running;    /* … the task that it runs */
};

#define PYTHON_ASYNCIO_WORDS 13

/*
 * The parts of each; false: they are not there (before 3.14), or cannot be so. What _asyncio says
 * is of this interpreter when that has the same size.
 */
bool python_offsets_parse_tasks(const void *bytes, size_t size, struct python_task_layout *layout);
bool python_asyncio_parse(const uint64_t word[PYTHON_ASYNCIO_WORDS],
			  struct python_task_layout *layout);

/*
 * All of it, for the CPython there. False: it has no asyncio now, or not one that can be read; then
 * *why is a sentence, else NULL.
 */
bool python_asyncio_find(struct maps *maps, const struct memory *memory,
			 const struct python_place *place, struct python_task_layout *layout,
			 const char **why);

#endif
