/* SPDX-License-Identifier: MIT */
/*
 * python_tasks.c - reads the asyncio tasks of a thread that is stopped or asleep, or has ended.
 *
 * A task has a coroutine. A coroutine awaits another coroutine, or an object that contains one, and
 * so on. Each coroutine contains its frame, and the object that it awaits is near the top of that
 * frame's stack of values. While one of the coroutines executes, its frame is in the list of the
 * thread's frames, and the frames of the functions that it has called are further in.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/python/python_internal.h"
#include "runtime/python/python_layout_internal.h"
#include "wallsample/runtime/async_tasks.h"

#define NAME_MOST 200                  /* most characters of a task's name */
#define SLOTS_MOST (UINT64_C(1) << 20) /* most slots of a set of tasks */
#define SLOTS_PIECE 64                 /* number of slots that are read at once */
#define WRAPPERS_MOST 8   /* most wrappers around an awaited object, nested in each other */
#define TASKS_PER_WALK 32 /* number of tasks after which the cache of pages is emptied */

/* The kind of an object, by the name of its type. */
enum kind { OTHER, STR, INT, GENERATOR, WRAPPER };

static const struct {
	const char *name;
	enum kind kind;
} types[] = {
	{ "str", STR },
	{ "int", INT },
	{ "coroutine", GENERATOR },
	{ "generator", GENERATOR },
	{ "async_generator", GENERATOR },
	/* A wrapper refers to the wrapped object directly after its PyObject (Objects/genobject.c,
	 * Objects/iterobject.c). */
	{ "coroutine_wrapper", WRAPPER },
	{ "async_generator_asend", WRAPPER },
	{ "async_generator_athrow", WRAPPER },
	{ "anext_awaitable", WRAPPER },
};
/* Bytes that are read of a type's name: more than the longest name in types[]. */
#define TYPE_NAME_MOST 24

/* States of generators and coroutines: FRAME_CREATED, FRAME_SUSPENDED, FRAME_SUSPENDED_YIELD_FROM
 * (it awaits an object), FRAME_EXECUTING, and FRAME_COMPLETED or FRAME_CLEARED. */
enum generator_state { CREATED, SUSPENDED, AWAITING, EXECUTING, DONE };

/* The state of a reading of the tasks of one thread, or of all threads that have ended. */
struct walk {
	struct cpython *cpython;
	const struct python_task_layout *at;
	struct pages *pages;
	struct memory memory; /* the target's memory, read through `pages` */
	struct async_tasks *to;
	const struct python_thread *thread; /* NULL for the tasks of threads that have ended */
	uint64_t until_ns;
	size_t read;        /* number of tasks that were read */
	struct table kinds; /* address of a type -> enum kind */
	struct strbuf name;
	struct python_frame *frame; /* buffer for ASYNC_TASK_DEPTH_MOST frames */
};

static bool
is_over(const struct walk *walk)
{
	if (clock_now_ns() < walk->until_ns)
		return false;
	async_tasks_note(walk->to, "not all tasks were read: it would have taken too long");
	return true;
}

/* --- objects ----------------------------------------------------------------------------- */

static enum kind
kind_of_type(struct walk *walk, uint64_t type)
{
	const uint64_t address = python_pointer(&walk->memory, type,
						walk->cpython->place.layout.type_name);
	const size_t left = MEMORY_PAGE - (size_t)(address % MEMORY_PAGE);
	char name[TYPE_NAME_MOST + 1] = "";

	/* Fewer than TYPE_NAME_MOST bytes may be readable, because mapped memory may end directly
	 * after a short name. */
	if (!pages_read(walk->pages, address, name, TYPE_NAME_MOST) &&
	    (left >= TYPE_NAME_MOST || !pages_read(walk->pages, address, name, left)))
		return OTHER;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (strcmp(name, types[i].name) == 0)
			return types[i].kind;
	return OTHER;
}

static enum kind
kind_of_object(struct walk *walk, uint64_t object)
{
	uint64_t type;
	uint32_t *kind;
	bool added;

	if (object == 0)
		return OTHER;
	type = python_pointer(&walk->memory, object, walk->cpython->place.layout.object_type);
	kind = table_insert(&walk->kinds, type, 0, OTHER, &added);
	if (added && type != 0)
		*kind = kind_of_type(walk, type);
	return (enum kind) * kind;
}

/* Stores the value of a Python int that is not negative and has at most two digits of 30 bits.
 * Returns false when it is negative, larger or not readable. The lowest two bits of its tag are its
 * sign, the bits from 3 on the number of digits. */
static bool
read_small_int(struct walk *walk, uint64_t object, uint64_t *value)
{
	const uint64_t tag = python_pointer(&walk->memory, object, walk->at->long_tag);
	uint32_t digit[2] = { 0 };

	if (tag >> 3 > ARRAY_SIZE(digit) || (tag & 3) == 2 ||
	    !pages_read(walk->pages, object + walk->at->long_digits, digit,
			(size_t)(tag >> 3) * sizeof(digit[0])))
		return false;
	*value = (uint64_t)digit[1] << 30 | digit[0];
	return true;
}

/* Returns a task's name, valid until the next call; "?" if it is not readable. `object` is a str
 * or, until the program reads the name of a task that it has not named, the int N of "Task-N". */
static const char *
read_name(struct walk *walk, uint64_t object)
{
	const struct python_layout *layout = &walk->cpython->place.layout;
	const enum kind kind = kind_of_object(walk, object);
	uint64_t number;

	strbuf_clear(&walk->name);
	if (kind == INT && read_small_int(walk, object, &number))
		strbuf_add_format(&walk->name, "Task-%llu", (unsigned long long)number);
	else if (kind != STR ||
		 !python_text_read(layout, &walk->memory, object, NAME_MOST, &walk->name))
		strbuf_add_text(&walk->name, "?");
	return walk->name.length > 0 ? walk->name.data : "";
}

/* --- coroutines -------------------------------------------------------------------------- */

/* Returns the coroutine or generator that the object is or wraps; 0: none. */
static uint64_t
generator_of(struct walk *walk, uint64_t object)
{
	for (int i = 0; i < WRAPPERS_MOST; i++) {
		const enum kind kind = kind_of_object(walk, object);

		if (kind == GENERATOR)
			return object;
		if (kind != WRAPPER)
			return 0;
		object = python_pointer(&walk->memory, object, walk->at->object_size);
	}
	return 0;
}

/* Returns the state of a generator, which has a value FRAME_… of Include/internal/pycore_frame.h.
 * Returns DONE also when it is not readable. */
static enum generator_state
generator_state(struct walk *walk, uint64_t generator)
{
	int8_t state;

	if (!pages_read(walk->pages, generator + walk->at->generator_state, &state, 1))
		return DONE;
	if (!python_since(&walk->cpython->place.layout, 3, 15))
		return state >= -3 && state <= 0 ? (enum generator_state)(state + 3) : DONE;
	/* 3.15 has an additional state 3, which free-threaded builds use while another thread is
	 * about to await the coroutine. It counts as AWAITING. */
	if (state >= 3)
		state--;
	return state >= 0 && state <= 3 ? (enum generator_state)state : DONE;
}

/* Returns the object that a suspended coroutine awaits; 0: not readable. The object is on the stack
 * of values of the coroutine's frame, below the value that was sent to the coroutine and, in 3.15,
 * a NULL. */
static uint64_t
awaited_object(struct walk *walk, uint64_t frame)
{
	const uint64_t values = python_since(&walk->cpython->place.layout, 3, 15) ? 2 : 1;
	const uint64_t top = python_pointer(&walk->memory, frame, walk->at->frame_stack);

	if (top < frame + walk->at->frame_locals + values * sizeof(uint64_t))
		return 0;
	return python_pointer(&walk->memory, top - values * sizeof(uint64_t), 0) &
	       ~PYTHON_REFERENCE_MARKS;
}

static uint32_t
push_place(struct walk *walk, struct runtime_place place, uint32_t outer)
{
	const uint32_t stack = async_tasks_stack(walk->to, &place, outer);

	if (stack == ASYNC_STACK_NONE)
		async_tasks_note(walk->to, "not all stacks of tasks were read: there are too "
					   "many different ones");
	return stack;
}

static uint32_t
push_frame(struct walk *walk, const struct python_frame *frame, uint32_t outer)
{
	return push_place(walk, python_frame_place(walk->cpython, frame), outer);
}

static bool
read_task_frame(struct walk *walk, uint64_t frame, uint8_t bytes[PYTHON_FRAME_BYTES])
{
	return pages_read(walk->pages, frame, bytes, walk->cpython->place.layout.frame_size);
}

/* Stores in walk->frame the frames that the thread executes, from its innermost frame out to the
 * frame at address `frame`. Returns their number, at most ASYNC_TASK_DEPTH_MOST; 0: the thread does
 * not execute that frame, or a frame is not readable. */
static size_t
executing_frames(struct walk *walk, uint64_t frame)
{
	const struct python_layout *layout = &walk->cpython->place.layout;
	uint8_t bytes[PYTHON_FRAME_BYTES];
	uint64_t at = walk->thread != NULL ? python_pointer(&walk->memory, walk->thread->state,
							    layout->thread_frame) :
					     0;
	size_t count = 0;

	for (int i = 0; at != 0 && i < 2 * ASYNC_TASK_DEPTH_MOST; i++) {
		if (count == ASYNC_TASK_DEPTH_MOST)
			return count;
		if (!read_task_frame(walk, at, bytes))
			return 0;
		if (bytes[layout->frame_owner] < PYTHON_OWNER_SHIM)
			count += python_frame_pick(walk->cpython, bytes, &walk->frame[count]);
		if (at == frame)
			return count;
		at = member_u64(bytes, layout->frame_previous);
	}
	return 0;
}

static uint32_t
add_executing(struct walk *walk, uint64_t frame, uint32_t outer)
{
	uint8_t bytes[PYTHON_FRAME_BYTES];
	size_t count = executing_frames(walk, frame);

	if ((count == 0 || count == ASYNC_TASK_DEPTH_MOST) && read_task_frame(walk, frame, bytes)) {
		python_frame_pick(walk->cpython, bytes, &walk->frame[0]);
		outer = push_frame(walk, &walk->frame[0], outer);
		return push_place(walk, python_marker(count == 0 ? PYTHON_BROKEN : PYTHON_CUT),
				  outer);
	}
	while (count-- > 0)
		outer = push_frame(walk, &walk->frame[count], outer);
	return outer;
}

/* Reads the stack and the state of a task, from its coroutine `object` inwards. Returns false when
 * that coroutine has ended. */
static bool
read_stack(struct walk *walk, uint64_t object, struct async_task *task)
{
	for (int depth = 0;; depth++) {
		const uint64_t generator = generator_of(walk, object);
		const uint64_t frame = generator + walk->at->generator_frame;
		uint8_t bytes[PYTHON_FRAME_BYTES];
		enum generator_state state;

		if (generator == 0)
			return true;
		state = generator_state(walk, generator);
		if (depth == 0 && state != AWAITING && state != SUSPENDED)
			task->state = state == CREATED ? ASYNC_TASK_NEW : ASYNC_TASK_RUNNING;
		if (state == EXECUTING)
			task->stack = add_executing(walk, frame, task->stack);
		else if (depth == ASYNC_TASK_DEPTH_MOST)
			task->stack = push_place(walk, python_marker(PYTHON_CUT), task->stack);
		else if (state != DONE && read_task_frame(walk, frame, bytes)) {
			python_frame_pick(walk->cpython, bytes, &walk->frame[0]);
			task->stack = push_frame(walk, &walk->frame[0], task->stack);
		}
		if (state != AWAITING || depth == ASYNC_TASK_DEPTH_MOST)
			return depth > 0 || state != DONE;
		object = awaited_object(walk, frame);
	}
}

/* --- tasks ------------------------------------------------------------------------------- */

static void
read_set(struct walk *walk, uint64_t set)
{
	const uint64_t table = python_pointer(&walk->memory, set, walk->at->set_table);
	const uint64_t mask = python_pointer(&walk->memory, set, walk->at->set_mask);
	uint64_t slot[SLOTS_PIECE][2]; /* a key, or 0 in an empty slot, and its hash */

	if (table == 0 || mask >= SLOTS_MOST)
		return;
	for (uint64_t first = 0; first <= mask && !is_over(walk); first += SLOTS_PIECE) {
		const uint64_t count = mask - first < SLOTS_PIECE ? mask - first + 1 : SLOTS_PIECE;

		if (!pages_read(walk->pages, table + first * sizeof(slot[0]), slot,
				(size_t)count * sizeof(slot[0])))
			return;
		for (uint64_t i = 0; i < count; i++)
			if (slot[i][0] != 0)
				async_tasks_add_awaiter(walk->to, slot[i][0]);
	}
}

static void
read_awaiters(struct walk *walk, const uint8_t *bytes)
{
	const uint64_t by = member_u64(bytes, walk->at->awaited_by);

	if (by == 0)
		return;
	if (bytes[walk->at->awaited_by_is_set] != 0)
		read_set(walk, by);
	else
		async_tasks_add_awaiter(walk->to, by);
}

/* Adds the object at the address if it is a task that has not ended. Returns false, and adds a
 * note, when there are too many tasks, or the task was added before. */
static bool
read_task(struct walk *walk, uint64_t address)
{
	const struct python_task_layout *at = walk->at;
	uint8_t bytes[PYTHON_TASK_PART_MOST];
	struct async_task task = {
		.address = address,
		.tid = walk->thread != NULL ? walk->thread->tid : 0,
		.state = ASYNC_TASK_WAITING,
		.stack = ASYNC_STACK_NONE,
	};

	if (!pages_read(walk->pages, address, bytes, at->size) || bytes[at->is_task] != 1 ||
	    member_u64(bytes, at->coroutine) == 0)
		return true;
	/* read_stack() cannot see that the thread runs this task if the task's coroutine is of a
	 * type that an extension defines. */
	if (walk->thread != NULL &&
	    python_pointer(&walk->memory, walk->thread->state, at->thread_running) == address)
		task.state = ASYNC_TASK_RUNNING;
	if (!read_stack(walk, member_u64(bytes, at->coroutine), &task))
		return true;
	task.name = read_name(walk, member_u64(bytes, at->name));
	if (!async_tasks_add(walk->to, &task)) {
		const bool full = async_tasks_count(walk->to) == ASYNC_TASKS_MOST;

		async_tasks_note(walk->to,
				 full ? "not all tasks were read: they are too many" :
					"not all tasks were read: one is twice in their list");
		return false;
	}
	read_awaiters(walk, bytes);
	return true;
}

/* Adds the tasks of the list whose head is at address `head`. Each node of the list, and the head,
 * has the addresses of the next and the previous node; the last node points to the head. */
static void
read_list(struct walk *walk, uint64_t head)
{
	uint64_t node[2], before = head;

	pages_begin(walk->pages, NULL);
	if (!pages_read(walk->pages, head, node, sizeof(node)))
		return;
	while (node[0] != head && node[0] != 0 && !is_over(walk)) {
		const uint64_t at = node[0];

		if (++walk->read % TASKS_PER_WALK == 0)
			pages_begin(walk->pages, NULL);
		if (!pages_read(walk->pages, at, node, sizeof(node)) || node[1] != before) {
			async_tasks_note(walk->to, "not all tasks were read: their list leads "
						   "to where none is");
			return;
		}
		if (!read_task(walk, at - walk->at->node))
			return;
		before = at;
	}
}

static void
read_orphans(struct walk *walk)
{
	const struct python_place *place = &walk->cpython->place;
	uint64_t interpreter = 0;

	pages_begin(walk->pages, NULL);
	for (int i = 0; i < PYTHON_INTERPRETERS_MOST; i++) {
		interpreter = python_interpreter_next(place, &walk->memory, interpreter);
		if (interpreter == 0)
			return;
		read_list(walk, interpreter + walk->at->interpreter_tasks);
	}
}

static void
note_why(const struct cpython *cpython, struct async_tasks *to)
{
	struct strbuf text = STRBUF_INIT;

	if (cpython->tasks_why == NULL)
		return;
	strbuf_add_format(&text, "tasks of %s are not shown: %s", cpython->base.description,
			  cpython->tasks_why);
	async_tasks_note(to, text.data);
	strbuf_release(&text);
}

void
python_tasks_read(struct cpython *cpython, const struct python_thread *thread, uint64_t until_ns,
		  struct async_tasks *to)
{
	struct walk walk = {
		.cpython = cpython,
		.at = &cpython->tasks,
		.pages = cpython->base.tools->pages,
		.memory = python_pages_memory(cpython),
		.to = to,
		.thread = thread,
		.until_ns = until_ns,
	};

	if (!cpython->tasks_known) {
		note_why(cpython, to);
		return;
	}
	table_init(&walk.kinds);
	strbuf_init(&walk.name);
	walk.frame = xcalloc(ASYNC_TASK_DEPTH_MOST, sizeof(*walk.frame));
	if (thread != NULL)
		read_list(&walk, thread->state + walk.at->thread_tasks);
	else
		read_orphans(&walk);
	free(walk.frame);
	table_release(&walk.kinds);
	strbuf_release(&walk.name);
}
