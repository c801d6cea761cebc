/* SPDX-License-Identifier: MIT */
/*
 * python_array.h - a CPython that exists in an array of bytes only: interpreters, threads, frames,
 * code and strings, as a layout has them.
 */
#ifndef TEST_PYTHON_ARRAY_H
#define TEST_PYTHON_ARRAY_H

#include "runtime/python/python_internal.h"

#define SCENE_BASE UINT64_C(0x7f0000001000) /* address of the first byte */
#define SCENE_BYTES ((size_t)1 << 18)
#define SCENE_MINOR_OLDEST 8
#define SCENE_MINOR_NEWEST 14

struct scene {
	struct python_layout layout;
	uint8_t *bytes;          /* what memory has; SCENE_BYTES of them */
	size_t used;
	uint64_t unreadable;     /* a page that is not there; 0: all are */
	uint64_t reads;          /* calls that read memory */
	size_t pages_fetched;    /* with others in one call */
	struct runtimes_config config;
	struct runtime_places places;
	struct runtime_tools tools;
	struct cpython cpython;
	struct python_captured captured;
	struct chain chain;
	struct runtime_frames frames;
	uint64_t code_type, stack;
	char text[8192];
};

/* Of CPython 3.minor. */
void array_open(struct scene *scene, unsigned minor);
void array_close(struct scene *scene);

/* Zeroed memory of the target. */
uint64_t array_allocate(struct scene *scene, size_t size);
void array_put(struct scene *scene, uint64_t address, uint64_t value); /* eight bytes */
uint64_t array_get(const struct scene *scene, uint64_t address);
void array_put_byte(struct scene *scene, uint64_t address, uint8_t value);

uint64_t array_text(struct scene *scene, const char *text);
/* A function in "file.py": each instruction is one line further, the first in line first_line. */
uint64_t array_code(struct scene *scene, const char *name, uint32_t first_line);
/* That executes its instruction number `at`. */
uint64_t array_frame(struct scene *scene, uint64_t code, uint32_t at, uint64_t previous);

uint64_t array_interpreter(struct scene *scene, uint64_t id);
/* The address of its lock: before 3.12 all have one. */
uint64_t array_lock(const struct scene *scene, uint64_t interpreter);
/* A thread of the interpreter; it executes nothing. */
uint64_t array_thread(struct scene *scene, uint64_t interpreter, pid_t tid);
/*
 * A call of the function that executes bytecode, to execute the frames from `frame` (innermost) out
 * to `outermost`, which was made from the call `outside`; scene_root: from none. What it puts on
 * the stack is so many bytes from the beginning of that.
 */
uint64_t array_call(struct scene *scene, size_t at, uint64_t frame, uint64_t outermost,
		    uint64_t outside);
uint64_t array_root(const struct scene *scene, uint64_t thread);
/* The thread's innermost call. */
void array_execute(struct scene *scene, uint64_t thread, uint64_t call);

/* A native frame whose part of the stack begins there (as scene_call has it); in the function that
 * executes bytecode or not. Innermost first. */
void array_native(struct scene *scene, size_t at, bool is_eval);

/* Lists threads and captures that one. */
void array_capture(struct scene *scene, pid_t tid);
/* Merges; as text, outermost first: "0 1 [main:3 f:7] 2": numbers of native frames, and
 * functions at lines inside of the one before. */
const char *array_merged(struct scene *scene);

#endif
