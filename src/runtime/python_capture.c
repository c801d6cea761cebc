/* SPDX-License-Identifier: MIT */
/*
 * python_capture.c - the frames of one thread of CPython, read while it stands still.
 *
 * Each call of the function that executes bytecode executes one Python function and, since 3.11,
 * those that this calls without a detour through C. To the place of such a call in the native stack
 * leads what it has put there itself: since 3.12 a frame that is none, outside of those that
 * it executes; in 3.11 the _PyCFrame that knows the innermost of them.
 */
#include <string.h>

#include "python.h"

/* _PyInterpreterFrame.owner: since 3.12 who owns it is the C stack, or nobody. */
#define OWNER_SHIM 3

/* PyThreadState.state of builds without a lock: it is not to run while the world is stopped. */
#define STATE_SUSPENDED 2

/* Pointers to objects have marks in their lowest bits since 3.14. */
#define REFERENCE_MARKS UINT64_C(7)

struct walk {
	struct cpython *cpython;
	const struct python_layout *layout;
	struct pages *pages;
	struct python_captured *captured;
	size_t frame_size, code_size; /* so much of them is read */
	uint64_t frame;               /* the next; 0: there is none */
	uint64_t cframe;              /* 3.11: that of the group which the next frame is of */
};

static size_t
size_up_to(const uint32_t *members, size_t count, size_t most)
{
	uint32_t last = 0;

	for (size_t i = 0; i < count; i++)
		if (members[i] != PYTHON_ABSENT && members[i] > last)
			last = members[i];
	return last + sizeof(uint64_t) <= most ? last + sizeof(uint64_t) : 0;
}

static size_t
frame_size(const struct python_layout *layout)
{
	const uint32_t members[] = { layout->frame_code, layout->frame_previous,
				     layout->frame_instruction, layout->frame_owner,
				     layout->frame_is_entry, layout->frame_bytecode_index };

	return size_up_to(members, ARRAY_SIZE(members), PYTHON_FRAME_BYTES);
}

/* A thread's outermost frame is a shim that nothing executes, since 3.15. */
static void
end_group(struct python_captured *captured, uint64_t anchor)
{
	if (captured->grouped == captured->count)
		return;
	captured->group = xgrow(captured->group, &captured->group_capacity,
				captured->group_count + 1, sizeof(*captured->group));
	captured->group[captured->group_count] = (struct python_group){
		.begin = captured->grouped, .end = captured->count, .anchor = anchor
	};
	captured->group_count++;
	captured->grouped = captured->count;
}

/* A frame without code that can be read is kept, too: it will have a name that says so. */
static void
add_frame(struct walk *walk, const uint8_t *bytes)
{
	const struct python_layout *layout = walk->layout;
	struct python_captured *captured = walk->captured;
	const uint64_t code = python_word(bytes, layout->frame_code) & ~REFERENCE_MARKS;
	uint8_t object[PYTHON_CODE_BYTES];
	struct python_frame *frame;

	captured->frame = xgrow(captured->frame, &captured->capacity, captured->count + 1,
				sizeof(*captured->frame));
	frame = &captured->frame[captured->count++];
	frame->instruction = python_word(bytes, layout->frame_instruction);
	frame->bytecode_index = python_word32(bytes, layout->frame_bytecode_index);
	if (!pages_read(walk->pages, code, object, walk->code_size) ||
	    !python_code_identify(layout, code, object, walk->code_size, &frame->code))
		frame->code = (struct python_code_id){ .address = 0 };
}

/* The group's outermost frame was the last. In 3.11 the next one has the next _PyCFrame. */
static void
leave_entry(struct walk *walk)
{
	const struct python_layout *layout = walk->layout;
	uint64_t previous = 0;

	end_group(walk->captured, walk->cframe);
	if (walk->cframe != 0 && layout->cframe_previous != PYTHON_ABSENT)
		pages_read(walk->pages, walk->cframe + layout->cframe_previous, &previous,
			   sizeof(previous));
	walk->cframe = previous;
}

/* One frame further out; false: there is none. */
static bool
step(struct walk *walk)
{
	const struct python_layout *layout = walk->layout;
	struct python_captured *captured = walk->captured;
	uint8_t bytes[PYTHON_FRAME_BYTES];

	if (walk->frame == 0)
		return false;
	if (!pages_read(walk->pages, walk->frame, bytes, walk->frame_size)) {
		captured->broken = true;
		return false;
	}
	if (python_since(layout, 3, 12) && bytes[layout->frame_owner] >= OWNER_SHIM) {
		end_group(captured, walk->frame);
	} else {
		add_frame(walk, bytes);
		if (!python_since(layout, 3, 11))
			end_group(captured, 0);
		else if (!python_since(layout, 3, 12) && bytes[layout->frame_is_entry] != 0)
			leave_entry(walk);
	}
	walk->frame = python_word(bytes, layout->frame_previous);
	return true;
}

/* Where frames begin: false when that cannot be read. */
static bool
begin(struct walk *walk, const uint8_t *state)
{
	const struct python_layout *layout = walk->layout;

	walk->frame = python_word(state, layout->thread_frame);
	walk->cframe = 0;
	if (layout->cframe_frame == PYTHON_ABSENT || walk->frame == 0)
		return true;
	if (!python_since(layout, 3, 12))
		walk->cframe = walk->frame;
	return pages_read(walk->pages, walk->frame + layout->cframe_frame, &walk->frame,
			  sizeof(walk->frame));
}

static void
walk_frames(struct walk *walk)
{
	struct python_captured *captured = walk->captured;
	/* Shims are no frames, but as many. */
	size_t steps = 0;

	while (captured->count < PYTHON_DEPTH_MOST && steps++ < 2 * PYTHON_DEPTH_MOST)
		if (!step(walk))
			break;
	if (captured->count == PYTHON_DEPTH_MOST && walk->frame != 0)
		captured->cut = true;
	if (captured->grouped < captured->count)
		end_group(captured, 0);
}

/* Does this thread have its interpreter's lock? */
static bool
has_lock(const struct walk *walk, const struct python_thread *thread)
{
	const struct python_layout *layout = walk->layout;
	uint64_t holder;
	uint32_t locked;

	return thread->lock != 0 &&
	       pages_read(walk->pages, thread->lock + layout->gil_locked, &locked,
			  sizeof(locked)) &&
	       pages_read(walk->pages, thread->lock + layout->gil_holder, &holder,
			  sizeof(holder)) &&
	       locked == 1 && holder == thread->state;
}

static void
capture_thread(struct walk *walk, struct python_thread *thread)
{
	const struct python_layout *layout = walk->layout;
	uint8_t state[PYTHON_STATE_BYTES];
	const uint32_t members[] = { layout->thread_interpreter, layout->thread_frame,
				     layout->thread_pthread, layout->thread_native,
				     layout->thread_state };
	const size_t size = size_up_to(members, ARRAY_SIZE(members), sizeof(state));

	pages_begin(walk->pages, &thread->memo);
	if (size == 0 || !pages_read(walk->pages, thread->state, state, size) ||
	    !python_threads_confirm(walk->cpython, thread, state)) {
		walk->cpython->list_due_ns = 0; /* the list is not up to date */
		return;
	}
	walk->captured->known = true;
	walk->captured->paused = layout->free_threaded &&
				 python_word32(state, layout->thread_state) == STATE_SUSPENDED;
	if (walk->captured->lock == 0)
		walk->captured->lock = thread->lock;
	if (has_lock(walk, thread)) {
		walk->captured->has_lock = true;
		walk->captured->lock = thread->lock;
	}
	if (begin(walk, state))
		walk_frames(walk);
	else
		walk->captured->broken = true;
	pages_keep(walk->pages, &thread->memo);
}

/* Of a thread that uses two interpreters, one within the other: the stack grows down. */
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
		.pages = cpython->tools->pages,
		.captured = captured,
		.frame_size = frame_size(layout),
		.code_size = layout->code_size <= PYTHON_CODE_BYTES ? layout->code_size : 0,
	};
	struct python_thread *thread = python_threads_find(cpython, tid);

	captured->of = cpython;
	captured->count = 0;
	captured->group_count = captured->grouped = 0;
	captured->known = captured->has_lock = captured->paused = false;
	captured->cut = captured->broken = false;
	captured->lock = 0;
	if (walk.frame_size == 0)
		return;
	/* The list of one thread's states may be a ring no more than the list of all. */
	for (int i = 0; thread != NULL && i < PYTHON_INTERPRETERS_MOST; i++) {
		capture_thread(&walk, thread);
		thread = python_threads_next(cpython, thread);
		if (i > 0)
			sort_groups(captured);
	}
}
