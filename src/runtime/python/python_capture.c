/* SPDX-License-Identifier: MIT */
/*
 * python_capture.c - copies the frames of one thread of CPython while the thread is stopped or
 * asleep.
 *
 * Each call of the bytecode loop executes one Python function and, since 3.11, the Python functions
 * that this function calls without C functions between. An object that the call has put on the
 * native stack shows the position of the call in that stack: since 3.12 a shim frame, which is
 * outside of the frames that the call executes; in 3.11 a _PyCFrame, which points to the innermost
 * of these frames. Up to 3.10 there is no such object.
 *
 * In 3.11 and 3.12 a call installs its _PyCFrame in the thread a dozen instructions before it sets
 * the members of that _PyCFrame: until then they have the values of an earlier call. The frames of
 * the innermost call are therefore followed outwards: its _PyCFrame is valid if they lead to the
 * frame that made the call.
 */
#include <string.h>

#include "runtime/python/python_internal.h"

/*
 * Value of PyThreadState.state in builds without a global lock: the thread must not run, because
 * another thread has stopped all threads ("stop the world").
 */
#define STATE_SUSPENDED 2

/* Most _PyCFrames that leads_to_thread() follows. If there are several, they belong to greenlets
 * (threads that the extension "greenlet" switches without the kernel), which may be nested. */
#define GREENLETS_MOST 64

/* A walk through the frames of one thread, from the innermost one outwards. */
struct walk {
	struct cpython *cpython;
	const struct python_layout *layout;
	struct pages *pages;
	struct memory memory; /* the target's memory, read through `pages` */
	struct python_captured *captured;
	uint64_t state; /* address of the PyThreadState */
	uint64_t frame; /* address of the next frame to visit; 0: there is none */
	/*
	 * Addresses, used in 3.11 and 3.12 only. `cframe`: the _PyCFrame of the call that executes
	 * the next frame (in 3.12 always that of the innermost call). `outer_cframe`: the _PyCFrame
	 * of the call outside of that call. `outer_frame`: the innermost frame of the outer call,
	 * which made the call of `cframe`.
	 */
	uint64_t cframe, outer_cframe, outer_frame;
	bool confirmed; /* the _PyCFrame of the innermost call is valid */
	size_t steps;   /* number of visited frames of all PyThreadStates of the thread */
};

/* Most frames that are visited in the list of one PyThreadState, and in all lists of one thread: a
 * list may be circular. Half of the frames may be shims, which are not captured. */
#define STEPS_MOST ((size_t)2 * PYTHON_DEPTH_MOST)
#define ALL_STEPS_MOST ((size_t)8 * PYTHON_DEPTH_MOST)

static bool
read_cached(void *context, uint64_t address, void *to, size_t size)
{
	return pages_read(context, address, to, size);
}

struct memory
python_pages_memory(const struct cpython *cpython)
{
	return (struct memory){ read_cached, cpython->base.tools->pages };
}

/* Makes a group of the frames that were captured after the last group. Does nothing if there are
 * none: since 3.15 a thread's outermost frame is a shim that belongs to no call. */
static void
end_group(struct python_captured *captured, uint64_t anchor)
{
	if (captured->grouped == captured->count)
		return;
	captured->group = xgrow(captured->group, &captured->group_capacity,
				captured->group_count + 1, sizeof(*captured->group));
	captured->group[captured->group_count] = (struct python_group){ .begin = captured->grouped,
									.end = captured->count,
									.anchor = anchor };
	captured->group_count++;
	captured->grouped = captured->count;
}

/* Returns true for the code of a trampoline frame. 3.13 and later put such a frame between a
 * function that calls a class and the __init__ of that class. In its code one object is both the
 * name of the function and that of the file, which is never so in code of a program. */
static bool
is_init_cleanup(const struct python_code_id *code)
{
	return code->name != 0 && code->filename == code->name;
}

bool
python_frame_pick(const struct cpython *cpython, const uint8_t *bytes, struct python_frame *frame)
{
	const struct python_layout *layout = &cpython->place.layout;
	const uint64_t code = member_u64(bytes, layout->frame_code) & ~PYTHON_REFERENCE_MARKS;
	uint8_t object[PYTHON_CODE_BYTES];

	frame->instruction = member_u64(bytes, layout->frame_instruction);
	frame->bytecode_index = member_u32(bytes, layout->frame_bytecode_index);
	if (pages_read(cpython->base.tools->pages, code, object, layout->code_size))
		frame->code = python_code_identify(layout, code, object);
	else
		/* address 0: reports show the text NO_CODE of python_merge.c */
		frame->code = (struct python_code_id){ .address = 0 };
	return !is_init_cleanup(&frame->code);
}

static void
capture_frame(struct walk *walk, const uint8_t *bytes)
{
	struct python_captured *captured = walk->captured;

	captured->frame = xgrow(captured->frame, &captured->capacity, captured->count + 1,
				sizeof(*captured->frame));
	captured->count += python_frame_pick(walk->cpython, bytes,
					     &captured->frame[captured->count]);
}

/* Returns true when `cframe`, or one of the first GREENLETS_MOST _PyCFrames that follow it
 * outwards, is a member of the PyThreadState. Used for a call whose outermost frame has no caller:
 * a true result confirms that no Python function made this call. Any _PyCFrames in between belong
 * to greenlets. */
static bool
leads_to_thread(struct walk *walk, uint64_t cframe)
{
	for (int i = 0; i < GREENLETS_MOST && cframe != 0; i++) {
		if (cframe - walk->state < PYTHON_THREAD_BYTES)
			return true;
		cframe = python_pointer(&walk->memory, cframe, walk->layout->cframe_previous);
	}
	return false;
}

static bool
is_outside_call(struct walk *walk, uint64_t previous)
{
	return previous == walk->outer_frame &&
	       (previous != 0 || leads_to_thread(walk, walk->outer_cframe));
}

static void
enter_call(struct walk *walk, uint64_t cframe)
{
	walk->cframe = cframe;
	walk->outer_cframe = walk->outer_frame = 0;
	if (cframe != 0)
		walk->outer_cframe = python_pointer(&walk->memory, cframe,
						    walk->layout->cframe_previous);
	if (walk->outer_cframe != 0)
		walk->outer_frame = python_pointer(&walk->memory, walk->outer_cframe,
						   walk->layout->cframe_frame);
}

/* Ends the group of captured frames if the frame at walk->frame is the outermost frame of a call of
 * the bytecode loop. `previous`: address of the next frame outwards. Returns false when, in 3.12,
 * the frames of the innermost call do not lead to the frame that made that call: then the call's
 * _PyCFrame is not valid. */
static bool
leave_frame(struct walk *walk, bool is_shim, uint64_t previous)
{
	const struct python_layout *layout = walk->layout;

	if (!python_since(layout, 3, 11)) {
		end_group(walk->captured, 0);
	} else if (!python_since(layout, 3, 12)) {
		if (!is_outside_call(walk, previous))
			return true;
		end_group(walk->captured, walk->cframe);
		enter_call(walk, walk->outer_cframe);
	} else if (is_shim) {
		if (!walk->confirmed && !is_outside_call(walk, previous))
			return false;
		end_group(walk->captured, walk->frame);
	} else {
		return true;
	}
	walk->confirmed = true;
	return true;
}

/* Captures the frame at walk->frame unless it is a shim, and sets walk->frame to the next frame
 * outwards. Returns false when there is no further frame, or it cannot be read or trusted. */
static bool
step_outwards(struct walk *walk)
{
	const struct python_layout *layout = walk->layout;
	uint8_t bytes[PYTHON_FRAME_BYTES];
	uint64_t previous;
	bool is_shim;

	if (walk->frame == 0)
		return false;
	if (!pages_read(walk->pages, walk->frame, bytes, layout->frame_size)) {
		walk->captured->broken = true;
		return false;
	}
	is_shim = python_since(layout, 3, 12) && bytes[layout->frame_owner] >= PYTHON_OWNER_SHIM;
	if (!is_shim)
		capture_frame(walk, bytes);
	previous = member_u64(bytes, layout->frame_previous);
	if (!leave_frame(walk, is_shim, previous))
		return false;
	walk->frame = previous;
	return true;
}

/* Sets walk->frame to the innermost frame, from a copy of the PyThreadState. Returns false when
 * memory is not readable. */
static bool
begin_walk(struct walk *walk, const uint8_t *state)
{
	const struct python_layout *layout = walk->layout;
	const uint64_t first = member_u64(state, layout->thread_frame);

	walk->frame = first;
	walk->confirmed = true;
	if (layout->cframe_frame == MEMBER_ABSENT || first == 0)
		return true;
	enter_call(walk, first);
	/* A _PyCFrame inside of the PyThreadState belongs to no call, and is always valid. */
	walk->confirmed = first - walk->state < PYTHON_THREAD_BYTES;
	return pages_read(walk->pages, first + layout->cframe_frame, &walk->frame,
			  sizeof(walk->frame));
}

static void
walk_calls(struct walk *walk)
{
	struct python_captured *captured = walk->captured;

	for (size_t i = 0; captured->count < PYTHON_DEPTH_MOST && i < STEPS_MOST; i++)
		if (walk->steps++ >= ALL_STEPS_MOST || !step_outwards(walk))
			break;
	if ((captured->count == PYTHON_DEPTH_MOST && walk->frame != 0) ||
	    pages_are_used_up(walk->pages))
		captured->cut = true;
}

/* Discards the frames and groups that were captured from the current PyThreadState. `before`: a
 * copy of *walk->captured from before they were captured. */
static void
discard_state(struct walk *walk, const struct python_captured *before)
{
	walk->captured->count = walk->captured->grouped = before->count;
	walk->captured->group_count = before->group_count;
	walk->captured->broken = before->broken;
}

/* Captures the frames from the caller of the innermost call outwards. Used when that call has not
 * set the members of its _PyCFrame yet. */
static void
walk_from_caller(struct walk *walk)
{
	walk->frame = walk->outer_frame;
	enter_call(walk, walk->outer_cframe);
	walk->confirmed = walk->frame == 0 && leads_to_thread(walk, walk->cframe);
	walk_calls(walk);
}

/* Returns true when the last captured frame has no caller and no shim follows it: it is the frame
 * of a generator that is suspended or about to run. 3.12 and later may make such a frame the
 * current frame of the thread before they set its caller. */
static bool
is_unlinked(const struct walk *walk)
{
	return python_since(walk->layout, 3, 12) && walk->frame == 0 &&
	       walk->captured->grouped < walk->captured->count;
}

static void
walk_frames(struct walk *walk)
{
	struct python_captured *captured = walk->captured;
	const struct python_captured before = *captured;
	bool loose;

	walk_calls(walk);
	loose = is_unlinked(walk);
	if (!walk->confirmed && !captured->cut) {
		discard_state(walk, &before);
		walk_from_caller(walk);
	}
	if (!walk->confirmed && !captured->cut) {
		discard_state(walk, &before);
		loose = true;
	}
	captured->broken |= loose;
	if (captured->grouped < captured->count)
		end_group(captured, 0);
}

static void
capture_thread(struct walk *walk, struct python_thread *thread)
{
	const struct python_layout *layout = walk->layout;
	uint8_t state[PYTHON_THREAD_BYTES];

	pages_begin(walk->pages, &thread->memo);
	if (!pages_read(walk->pages, thread->state, state, layout->thread_size) ||
	    !python_threads_confirm(walk->cpython, thread, state)) {
		walk->cpython->base.stale = thread->missed = true;
		return;
	}
	thread->missed = false;
	walk->state = thread->state;
	walk->captured->known = true;
	walk->captured->paused = layout->free_threaded &&
				 member_u32(state, layout->thread_state) == STATE_SUSPENDED;
	if (walk->captured->lock == 0)
		walk->captured->lock = thread->lock;
	if (python_lock_holder(layout, &walk->memory, thread->lock) == thread->state) {
		walk->captured->has_lock = true;
		walk->captured->lock = thread->lock;
	}
	if (begin_walk(walk, state))
		walk_frames(walk);
	else
		walk->captured->broken = true;
	pages_keep(walk->pages, &thread->memo);
}

/* Sorts the groups of a thread that uses several interpreters, innermost first. The functions of
 * one interpreter have called those of another. The stack grows downwards: the anchor of an inner
 * group is lower. */
static void
sort_groups(struct python_captured *captured)
{
	for (size_t i = 1; i < captured->group_count; i++) {
		const struct python_group group = captured->group[i];
		size_t at = i;

		for (; at > 0 && captured->group[at - 1].anchor > group.anchor; at--)
			captured->group[at] = captured->group[at - 1];
		captured->group[at] = group;
	}
}

void
python_capture(struct cpython *cpython, pid_t tid, struct python_captured *captured)
{
	const struct python_layout *layout = &cpython->place.layout;
	struct walk walk = {
		.cpython = cpython,
		.layout = layout,
		.pages = cpython->base.tools->pages,
		.captured = captured,
		.memory = python_pages_memory(cpython),
	};
	struct python_thread *thread = python_threads_find(cpython, tid);
	const bool several = thread != NULL && thread->next != 0;

	captured->of = cpython;
	captured->count = 0;
	captured->group_count = captured->grouped = 0;
	captured->known = captured->has_lock = captured->paused = false;
	captured->cut = captured->broken = false;
	captured->greenlet = PYTHON_GREENLET_NONE;
	captured->lock = 0;
	/* The first struct python_thread is that of the youngest interpreter. Up to 3.10 memory
	 * does not show which interpreter called another; the youngest is assumed to be the
	 * innermost, because the others existed before it. */
	for (int i = 0; thread != NULL && i < PYTHON_INTERPRETERS_MOST; i++) {
		capture_thread(&walk, thread);
		thread = python_threads_next(cpython, thread);
	}
	if (several)
		sort_groups(captured);
}
