/* SPDX-License-Identifier: MIT */
/* python_capture_internal.h - copies the frames of a thread from memory (python_capture.c). */
#ifndef WALLSAMPLE_RUNTIME_PYTHON_PYTHON_CAPTURE_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PYTHON_PYTHON_CAPTURE_INTERNAL_H

#include "runtime/python/python_find_internal.h"
#include "runtime/python/python_greenlet_internal.h"

struct cpython;

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
	enum python_greenlet greenlet; /* as python_greenlet_trim has found it */
};

/* Captures the frames of a thread, which must be stopped or asleep, into *captured. */
void python_capture(struct cpython *cpython, pid_t tid, struct python_captured *captured);
/* Returns the target's memory, read through the page cache of pages_internal.h. */
struct memory python_pages_memory(const struct cpython *cpython);
/* Sets *frame from the first layout.frame_size bytes of a frame, and from its code object, which is
 * read from memory. Returns false when the frame does not belong to a function of the program. */
bool python_frame_pick(const struct cpython *cpython, const uint8_t *bytes,
		       struct python_frame *frame);

#endif
