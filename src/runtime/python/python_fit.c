/* SPDX-License-Identifier: MIT */
/*
 * python_fit.c - checks whether a layout of CPython fits a process's memory.
 *
 * One interpreter is checked. The list of its threads must be consistent: threads point back to
 * their interpreter and to each other. The interpreter's lock must have one of its three states
 * (not created, free, locked). If the first thread has a frame, the object that its innermost frame
 * refers to as its code must have a type whose own type has the name "type".
 */
#include <string.h>

#include "runtime/python/python_find_internal.h"

/* Most interpreters that are searched for one with a thread, and most threads of that interpreter
 * that are checked. */
#define INTERPRETERS_CHECKED 16
#define THREADS_CHECKED 8

/* Flags in a frame's reference to an object: the lowest bits, since 3.14. */
#define REFERENCE_FLAGS UINT64_C(3)

struct view {
	const struct python_layout *layout;
	const struct memory *memory;
};

static bool
read_pointer(const struct view *view, uint64_t structure, uint32_t offset, uint64_t *value)
{
	return structure <= UINT64_MAX - offset &&
	       memory_read(view->memory, structure + offset, value, sizeof(*value));
}

/* --- objects ----------------------------------------------------------------------------- */

/* Returns true when the type of the object's type has the name "type". This is so for every object
 * to which the member frame_code of a frame may refer. */
static bool
is_object(const struct view *view, uint64_t object)
{
	uint64_t type, type_of_type, text;
	char name[5];

	return read_pointer(view, object, view->layout->object_type, &type) &&
	       read_pointer(view, type, view->layout->object_type, &type_of_type) &&
	       read_pointer(view, type_of_type, view->layout->type_name, &text) &&
	       memory_read(view->memory, text, name, sizeof(name)) &&
	       memcmp(name, "type", sizeof(name)) == 0;
}

/* Returns true when the thread has no frame, or when the frame_code of its innermost frame is NULL
 * or refers to an object (is_object). */
static bool
has_good_frame(const struct view *view, uint64_t thread)
{
	const struct python_layout *layout = view->layout;
	uint64_t frame, code;

	if (!read_pointer(view, thread, layout->thread_frame, &frame))
		return false;
	if (frame != 0 && layout->cframe_frame != MEMBER_ABSENT &&
	    !read_pointer(view, frame, layout->cframe_frame, &frame))
		return false;
	if (frame == 0)
		return true;
	if (!read_pointer(view, frame, layout->frame_code, &code))
		return false;
	if (python_since(layout, 3, 14))
		code &= ~REFERENCE_FLAGS;
	return code == 0 || is_object(view, code);
}

/* --- the lock ---------------------------------------------------------------------------- */

static enum finder_fit
python_check_lock(const struct view *view, uint64_t runtime, uint64_t interpreter)
{
	const struct python_layout *layout = view->layout;
	uint64_t lock = runtime + layout->runtime_gil;
	int32_t locked;

	if (layout->runtime_gil == MEMBER_ABSENT &&
	    !read_pointer(view, interpreter, layout->interpreter_gil, &lock))
		return FINDER_FIT_MISFIT;
	if (lock == 0)
		return FINDER_FIT_NOT_YET;
	if (!memory_read(view->memory, lock + layout->gil_locked, &locked, sizeof(locked)))
		return FINDER_FIT_MISFIT;
	/* The member `locked` is -1 before the lock is created, then 0 or 1. */
	return locked >= -1 && locked <= 1 ? FINDER_FIT_GOOD : FINDER_FIT_MISFIT;
}

/* --- threads ----------------------------------------------------------------------------- */

/* Returns true when `thread` is the head of a list of the interpreter's threads that is consistent
 * in its first THREADS_CHECKED elements. */
static bool
are_threads(const struct view *view, uint64_t interpreter, uint64_t thread)
{
	const struct python_layout *layout = view->layout;
	uint64_t before = 0;

	for (int i = 0; i < THREADS_CHECKED && thread != 0; i++) {
		uint64_t owner, previous, next;

		if (!read_pointer(view, thread, layout->thread_interpreter, &owner) ||
		    !read_pointer(view, thread, layout->thread_previous, &previous) ||
		    !read_pointer(view, thread, layout->thread_next, &next) ||
		    owner != interpreter || previous != before)
			return false;
		before = thread;
		thread = next;
	}
	return true;
}

enum finder_fit
python_layout_check(const struct python_layout *layout, uint64_t runtime,
		    const struct memory *memory)
{
	const struct view view = { layout, memory };
	uint64_t interpreter, thread = 0;

	if (!read_pointer(&view, runtime, layout->runtime_interpreters, &interpreter))
		return FINDER_FIT_NOT_YET;
	/* The list of interpreters begins with the newest one, which may not have a thread yet. */
	for (int i = 0; i < INTERPRETERS_CHECKED && interpreter != 0; i++) {
		if (!read_pointer(&view, interpreter, layout->interpreter_threads, &thread))
			return FINDER_FIT_MISFIT;
		if (thread != 0)
			break;
		if (!read_pointer(&view, interpreter, layout->interpreter_next, &interpreter))
			return FINDER_FIT_MISFIT;
	}
	if (interpreter == 0 || thread == 0)
		return FINDER_FIT_NOT_YET;
	if (!are_threads(&view, interpreter, thread) || !has_good_frame(&view, thread))
		return FINDER_FIT_MISFIT;
	return python_check_lock(&view, runtime, interpreter);
}
