/* SPDX-License-Identifier: MIT */
/*
 * python_array.h - an array of bytes that represents the memory of a CPython: interpreters,
 * threads, frames, code and strings, in the layout of a given version.
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
	uint8_t *bytes;          /* the memory: SCENE_BYTES bytes */
	size_t used;
	uint64_t unreadable; /* address of a page that cannot be read; 0: all pages can be read */
	uint64_t reads;          /* number of calls that read memory */
	size_t pages_fetched;    /* number of pages that were read by calls for several pages */
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

/* Makes the memory of a CPython 3.minor. */
void array_open(struct scene *scene, unsigned minor);
void array_close(struct scene *scene);

/* Allocates zeroed memory; returns its address. */
uint64_t array_allocate(struct scene *scene, size_t size);
void array_put(struct scene *scene, uint64_t address, uint64_t value); /* stores eight bytes */
uint64_t array_get(const struct scene *scene, uint64_t address);
void array_put_byte(struct scene *scene, uint64_t address, uint8_t value);

uint64_t array_text(struct scene *scene, const char *text);
/* Adds a function in "file.py". Its instruction number n is in line first_line + n. */
uint64_t array_code(struct scene *scene, const char *name, uint32_t first_line);
/* Adds a frame of the function, at instruction number `at`; `previous` is the caller's frame. */
uint64_t array_frame(struct scene *scene, uint64_t code, uint32_t at, uint64_t previous);

uint64_t array_interpreter(struct scene *scene, uint64_t id);
/* Returns the address of the interpreter lock; before 3.12 all interpreters share one. */
uint64_t array_lock(const struct scene *scene, uint64_t interpreter);
/* Adds a thread, without frames, to the interpreter. */
uint64_t array_thread(struct scene *scene, uint64_t interpreter, pid_t tid);
/*
 * Adds a call of the function that executes bytecode, with the frames from `frame` (the innermost)
 * to `outermost`. `outside` is the call from which the new call was made, or array_root(). The data
 * of the call is `at` bytes from the beginning of the stack.
 */
uint64_t array_call(struct scene *scene, size_t at, uint64_t frame, uint64_t outermost,
		    uint64_t outside);
uint64_t array_root(const struct scene *scene, uint64_t thread);
/* Sets the innermost call of the thread. */
void array_execute(struct scene *scene, uint64_t thread, uint64_t call);

/* Adds a native frame, which begins `at` bytes from the beginning of the stack. `is_eval`: the
 * frame belongs to the function that executes bytecode. The innermost frame must be added first. */
void array_native(struct scene *scene, size_t at, bool is_eval);

/* Lists the threads, and captures the thread `tid`. */
void array_capture(struct scene *scene, pid_t tid);
/* Merges native and interpreted frames. Returns them as text, the outermost first, such as
 * "0 1 [main:3 f:7] 2": numbers are native frames; brackets have the functions, with their lines,
 * that the native frame before them executes. */
const char *array_merged(struct scene *scene);

#endif
