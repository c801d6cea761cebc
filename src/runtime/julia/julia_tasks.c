/* SPDX-License-Identifier: MIT */
/* julia_tasks.c - reads the tasks of Julia's threads, hundreds per system call. */
#include "runtime/julia/julia_internal.h"

#include <stdlib.h>
#include <string.h>

/* Number of tasks in a batch, whose structures are read in one system call. */
#define TASKS_MOST MEMORY_PIECES_MOST
/* Size of the word with the type tag, which precedes each object. */
#define TAG_SIZE sizeof(uint64_t)
/* Bit of the member task_bits (struct julia_layout): the task has begun. */
#define STARTED UINT32_C(0x80000000)

struct thread {
	uint64_t address, pthread; /* address of the thread's structure; its pthread_t */
	uint64_t current, root;    /* addresses of the thread's current task and of its root task */
	uint64_t list;    /* address of the array of pointers to the thread's other tasks */
	uint32_t length;  /* number of elements of the array at `list` */
	uint32_t first;   /* slot of list[0]; the slot before it is that of `root` */
	pid_t inner, tid; /* tid in the target's and in wallsample's pid namespace; 0: not known */
};

struct julia_tasks {
	const struct runtime_tools *tools;
	struct julia_place place;
	struct julia_queues queues;
	struct thread *thread;
	size_t count, capacity;
	uint64_t guard; /* word with which glibc mangles addresses in a jmp_buf; 0: not known */
	/* Buffers for TASKS_MOST tasks. */
	uint64_t *address;
	uint8_t *body, *context;
	struct memory_piece *piece;
	bool *got;
};

struct julia_tasks *
julia_tasks_create(const struct runtime_tools *tools)
{
	struct julia_tasks *tasks = xcalloc(1, sizeof(*tasks));

	tasks->tools = tools;
	return tasks;
}

static void
julia_tasks_forget(struct julia_tasks *tasks)
{
	free(tasks->address);
	free(tasks->body);
	free(tasks->context);
	free(tasks->piece);
	free(tasks->got);
	tasks->address = NULL;
	tasks->count = 0;
}

void
julia_tasks_free(struct julia_tasks *tasks)
{
	julia_tasks_forget(tasks);
	free(tasks->thread);
	free(tasks);
}

static size_t
body_size(const struct julia_tasks *tasks)
{
	return TAG_SIZE + tasks->place.layout.task_size;
}

/*
 * Sets tasks->place. If it has changed, discards the list of threads, and allocates the buffers
 * again: the sizes in the layout may have changed, too.
 */
static void
set_place(struct julia_tasks *tasks, const struct julia_place *place)
{
	if (tasks->address != NULL && memcmp(place, &tasks->place, sizeof(*place)) == 0)
		return;
	julia_tasks_forget(tasks);
	tasks->place = *place;
	tasks->guard = 0;
	tasks->address = xcalloc(TASKS_MOST, sizeof(*tasks->address));
	tasks->body = xcalloc(TASKS_MOST, body_size(tasks));
	tasks->context = xcalloc(TASKS_MOST, JULIA_CONTEXT_SIZE);
	/* One piece is read for each task of a batch, and one for each thread. */
	tasks->piece = xcalloc(TASKS_MOST + JULIA_THREADS_MOST, sizeof(*tasks->piece));
	tasks->got = xcalloc(TASKS_MOST + JULIA_THREADS_MOST, sizeof(*tasks->got));
}

/* --- threads ----------------------------------------------------------------------------- */

/* The members of a thread's structure that are read, in the order of piece[] in read_parts. */
struct parts {
	uint64_t current, root, pthread, list[3];
};

static bool
read_parts(const struct julia_tasks *tasks, uint64_t thread, struct parts *parts)
{
	const struct julia_layout *layout = &tasks->place.layout;
	const struct memory_piece piece[] = {
		{ thread + layout->thread_current, sizeof(parts->current) },
		{ thread + layout->thread_root, sizeof(parts->root) },
		{ thread + layout->thread_pthread, sizeof(parts->pthread) },
		{ thread + layout->thread_tasks, sizeof(parts->list) },
	};
	bool got[ARRAY_SIZE(piece)];

	runtime_read_pieces(tasks->tools, piece, ARRAY_SIZE(piece), (uint8_t *)parts, got);
	for (size_t i = 0; i < ARRAY_SIZE(piece); i++)
		if (!got[i])
			return false;
	return true;
}

/* Sets to->list and to->length from the bytes of a list of tasks: length, capacity and pointer. An
 * implausible list counts as empty. */
static void
set_task_list(const struct julia_layout *layout, const uint64_t list[3], struct thread *to)
{
	uint64_t length = 0, capacity = 0;

	memcpy(&length, list, layout->list_capacity);
	memcpy(&capacity, (const uint8_t *)list + layout->list_capacity, layout->list_capacity);
	memcpy(&to->list, (const uint8_t *)list + layout->list_items, sizeof(to->list));
	to->length = length <= capacity && length < GREEN_TASK_SLOTS_MOST ? (uint32_t)length : 0;
}

static void
set_thread_tid(const struct julia_tasks *tasks, const struct thread *before, struct thread *to)
{
	const struct runtimes_config *config = tasks->tools->config;

	if (before != NULL && before->pthread == to->pthread && before->tid != 0)
		to->inner = before->inner;
	else
		to->inner = pthread_tid_read(&tasks->tools->memory, to->pthread);
	to->tid = to->inner != 0 ? config->thread(config->context, to->inner) : 0;
}

static void
read_thread(struct julia_tasks *tasks, uint64_t address, const struct thread *before,
	    struct thread *to)
{
	struct parts parts;

	*to = (struct thread){ .address = address };
	if (!read_parts(tasks, address, &parts))
		return;
	to->current = parts.current;
	to->root = parts.root;
	to->pthread = parts.pthread;
	set_task_list(&tasks->place.layout, parts.list, to);
	set_thread_tid(tasks, before, to);
}

size_t
julia_tasks_slots(struct julia_tasks *tasks, const struct julia_place *place)
{
	uint64_t address[JULIA_THREADS_MOST];
	const size_t known = tasks->count;
	size_t slots = 0;

	tasks->count = 0;
	if (place == NULL)
		return 0;
	set_place(tasks, place);
	tasks->count = julia_place_threads(place, &tasks->tools->memory, address);
	tasks->thread = xgrow(tasks->thread, &tasks->capacity, tasks->count,
			      sizeof(*tasks->thread));
	for (size_t i = 0; i < tasks->count; i++) {
		const struct thread before = tasks->thread[i];

		read_thread(tasks, address[i], i < known ? &before : NULL, &tasks->thread[i]);
		if (slots + tasks->thread[i].length > GREEN_TASK_SLOTS_MOST)
			tasks->thread[i].length = 0;
		tasks->thread[i].first = (uint32_t)slots + 1;
		slots += 1 + (size_t)tasks->thread[i].length;
	}
	julia_queues_update(&tasks->queues, tasks->tools, place);
	if (tasks->count > 0 &&
	    !memory_read(&tasks->tools->memory, julia_context_guard(tasks->thread[0].pthread),
			 &tasks->guard, sizeof(tasks->guard)))
		tasks->guard = 0;
	return slots;
}

bool
julia_tasks_searching(const struct julia_tasks *tasks)
{
	return julia_queues_searching(&tasks->queues);
}

/* --- slots ------------------------------------------------------------------------------- */

/* Returns the thread whose root task or list has the slot; NULL if the slot is too large. *at is
 * the index of the thread that the last call returned (0 before the first call), where the search
 * begins: slots must ascend from call to call. */
static const struct thread *
thread_of_slot(const struct julia_tasks *tasks, uint32_t slot, size_t *at)
{
	while (*at < tasks->count && slot >= tasks->thread[*at].first + tasks->thread[*at].length)
		++*at;
	return *at < tasks->count ? &tasks->thread[*at] : NULL;
}

/*
 * Reads the addresses of the tasks in the slots, 0 for an empty slot, and in the same system call
 * the current task of each thread. Thus each of the two readings of a task that the sampler
 * compares (green_task.h) shows whether a thread ran the task.
 */
static void
read_addresses(struct julia_tasks *tasks, const uint32_t *slot, size_t count)
{
	uint64_t word[TASKS_MOST + JULIA_THREADS_MOST];
	uint16_t of[TASKS_MOST];
	size_t pieces = 0, at = 0;

	for (size_t i = 0; i < tasks->count; i++)
		tasks->piece[pieces++] = (struct memory_piece){
			tasks->thread[i].address + tasks->place.layout.thread_current,
			sizeof(word[0])
		};
	for (size_t i = 0; i < count; i++) {
		const struct thread *thread = thread_of_slot(tasks, slot[i], &at);
		const bool listed = thread != NULL && slot[i] >= thread->first;

		tasks->address[i] = thread != NULL && !listed ? thread->root : 0;
		if (!listed)
			continue;
		of[pieces - tasks->count] = (uint16_t)i;
		tasks->piece[pieces++] = (struct memory_piece){
			thread->list + sizeof(word[0]) * (slot[i] - thread->first), sizeof(word[0])
		};
	}
	runtime_read_pieces(tasks->tools, tasks->piece, pieces, (uint8_t *)word, tasks->got);
	for (size_t i = 0; i < tasks->count; i++)
		tasks->thread[i].current = tasks->got[i] ? word[i] : 0;
	for (size_t i = tasks->count; i < pieces; i++)
		tasks->address[of[i - tasks->count]] = tasks->got[i] ? word[i] : 0;
}

/* --- one task ---------------------------------------------------------------------------- */

static uint64_t
body_word(const uint8_t *body, uint32_t offset)
{
	uint64_t word;

	memcpy(&word, body + TAG_SIZE + offset, sizeof(word));
	return word;
}

static bool
is_task(const struct julia_tasks *tasks, const uint8_t *body)
{
	uint64_t tag;

	memcpy(&tag, body, sizeof(tag));
	return JULIA_TAG(tag) == tasks->place.tag;
}

static bool
is_queued(const struct julia_tasks *tasks, const uint8_t *body)
{
	const uint64_t queue = body_word(body, tasks->place.layout.task_queue);

	return queue != 0 && queue != tasks->place.nothing;
}

/* Returns true when the task is in a queue of runnable tasks. */
static bool
is_ready(const struct julia_tasks *tasks, const uint8_t *body)
{
	return julia_queues_has(&tasks->queues, body_word(body, tasks->place.layout.task_queue));
}

/* Returns the thread that runs the task, or NULL. `body`: the tag and the structure of the task. */
static const struct thread *
running_thread(const struct julia_tasks *tasks, const struct green_task *task, const uint8_t *body)
{
	uint16_t number;

	memcpy(&number, body + TAG_SIZE + tasks->place.layout.task_thread, sizeof(number));
	return number < tasks->count && tasks->thread[number].current == task->address ?
		       &tasks->thread[number] :
		       NULL;
}

/*
 * Returns the end of the task's stack. `end`: the end according to the task's structure. For a root
 * task the result is the end of the page that contains `end`: behind `end` are the frames of the
 * functions that have called the task.
 */
static uint64_t
end_of_stack(const struct julia_tasks *tasks, const struct green_task *task, const uint8_t *body,
	     uint64_t end)
{
	const uint64_t behind = MEMORY_PAGE - 1;
	uint16_t number;

	memcpy(&number, body + TAG_SIZE + tasks->place.layout.task_thread, sizeof(number));
	if (number >= tasks->count || tasks->thread[number].root != task->address ||
	    end > UINT64_MAX - behind)
		return end;
	return (end + behind) & ~behind;
}

/* Sets the state, the thread and the stack of the task. Returns true when the task's context has
 * the registers with which the task continues. */
static bool
set_task_state(const struct julia_tasks *tasks, const uint8_t *body, struct green_task *task)
{
	const uint32_t offset = tasks->place.layout.task_stack;
	const uint64_t stack = body_word(body, offset);
	const uint64_t size = body_word(body, offset + sizeof(stack));
	const struct thread *thread = running_thread(tasks, task, body);
	const bool queued = is_queued(tasks, body);
	bool started, copied;
	uint32_t bits;

	memcpy(&bits, body + TAG_SIZE + tasks->place.layout.task_bits, sizeof(bits));
	started = (bits & STARTED) != 0;
	/* the stack's content was copied elsewhere, and another task uses its memory */
	copied = (bits & ~STARTED) != 0;
	if (stack != 0 && size <= UINT64_MAX - stack && !copied) {
		task->stack_low = stack;
		task->stack_high = end_of_stack(tasks, task, body, stack + size);
	}
	if (julia_place_state(&tasks->place, body + TAG_SIZE) != tasks->place.runnable)
		/* the task has ended; a thread that is still on its stack runs no task */
		return false;
	if (thread != NULL) {
		task->state = queued && !is_ready(tasks, body) ? GREEN_TASK_CALLING :
								 GREEN_TASK_RUNNING;
		task->tid = thread->tid;
		return false;
	}
	if (stack == 0 || (!started && !queued))
		return false; /* the task has no stack, or has neither begun nor been queued */
	task->state = queued && started && !is_ready(tasks, body) ? GREEN_TASK_WAITING :
								    GREEN_TASK_READY;
	return started && !copied;
}

static bool
is_on_stack(const struct green_task *task, uint64_t address, uint64_t size)
{
	return address >= task->stack_low && address < task->stack_high &&
	       size <= task->stack_high - address;
}

static void
set_continuation(const struct julia_tasks *tasks, const uint8_t *bytes, struct green_task *task)
{
	struct julia_context context;

	if (tasks->guard == 0 || !julia_context_read(bytes, tasks->guard, &context) ||
	    !is_on_stack(task, context.sp, sizeof(uint64_t)))
		return;
	task->pc = context.pc;
	task->sp = context.sp;
	task->fp = context.fp;
}

/*
 * Fills the task from the bytes of its structure. If the registers of the task are in a jmp_buf
 * outside of the structure, stores the address of that jmp_buf in *context, otherwise 0. Returns
 * false when the bytes are no task.
 */
static bool
set_task(const struct julia_tasks *tasks, const uint8_t *body, struct green_task *task,
	 uint64_t *context)
{
	const struct julia_layout *layout = &tasks->place.layout;
	uint64_t address;

	*context = 0;
	if (!is_task(tasks, body))
		return false;
	task->id = task->address;
	if (!set_task_state(tasks, body, task))
		return true;
	if (!layout->context_is_pointer) {
		set_continuation(tasks, body + TAG_SIZE + layout->task_context, task);
		return true;
	}
	address = body_word(body, layout->task_context);
	if (is_on_stack(task, address, JULIA_CONTEXT_SIZE))
		*context = address;
	return true;
}

/* --- batches of tasks --------------------------------------------------------------------- */

static void
read_bodies(struct julia_tasks *tasks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tasks->piece[i] = (struct memory_piece){ tasks->address[i] - TAG_SIZE,
							 body_size(tasks) };
	runtime_read_pieces(tasks->tools, tasks->piece, count, tasks->body, tasks->got);
}

/* Reads the contexts at the addresses in tasks->piece, which are outside of the tasks' structures,
 * and sets the registers of out[of[i]] from context i. */
static void
read_contexts(struct julia_tasks *tasks, const uint16_t *of, size_t count, struct green_task *out)
{
	runtime_read_pieces(tasks->tools, tasks->piece, count, tasks->context, tasks->got);
	for (size_t i = 0; i < count; i++)
		if (tasks->got[i])
			set_continuation(tasks, tasks->context + i * JULIA_CONTEXT_SIZE,
					 &out[of[i]]);
}

static void
julia_tasks_look_batch(struct julia_tasks *tasks, const uint32_t *slot, size_t count,
		       struct green_task *out)
{
	uint16_t of[TASKS_MOST];
	uint64_t context;
	size_t contexts = 0;

	read_addresses(tasks, slot, count);
	read_bodies(tasks, count);
	for (size_t i = 0; i < count; i++) {
		out[i] = (struct green_task){ .address = tasks->address[i] };
		if (tasks->address[i] == 0 || !tasks->got[i] ||
		    !set_task(tasks, tasks->body + i * body_size(tasks), &out[i], &context)) {
			out[i].address = 0;
			continue;
		}
		if (context == 0)
			continue;
		of[contexts] = (uint16_t)i;
		tasks->piece[contexts++] = (struct memory_piece){ context, JULIA_CONTEXT_SIZE };
	}
	read_contexts(tasks, of, contexts, out);
}

void
julia_tasks_look(struct julia_tasks *tasks, const uint32_t *slot, size_t count,
		 struct green_task *out)
{
	for (size_t at = 0, part; at < count; at += part) {
		part = count - at < TASKS_MOST ? count - at : TASKS_MOST;
		if (tasks->count > 0)
			julia_tasks_look_batch(tasks, slot + at, part, out + at);
		else
			memset(out + at, 0, part * sizeof(*out));
	}
}

bool
julia_tasks_running(struct julia_tasks *tasks, pid_t tid, struct green_task *task)
{
	struct pages *pages = tasks->tools->pages;
	const uint32_t offset = tasks->place.layout.thread_current;
	uint8_t body[TAG_SIZE + JULIA_TASK_MOST];
	uint64_t context;

	for (size_t i = 0; i < tasks->count; i++) {
		struct thread *thread = &tasks->thread[i];

		if (thread->tid != tid)
			continue;
		*task = (struct green_task){ .state = GREEN_TASK_NONE };
		if (!pages_read(pages, thread->address + offset, &thread->current,
				sizeof(thread->current)))
			return false;
		task->address = thread->current;
		return task->address == 0 ||
		       (pages_read(pages, task->address - TAG_SIZE, body, body_size(tasks)) &&
			set_task(tasks, body, task, &context) &&
			(task->state == GREEN_TASK_NONE || task->tid == tid));
	}
	return false;
}
