/* SPDX-License-Identifier: MIT */
/* async_tasks.c - collects the tasks of a process and resolves their awaiters. */
#include "wallsample/runtime/async_tasks.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/runtime_kind_internal.h"

/* Most frames of all distinct stacks together, and most awaiters of all tasks together. */
#define STACKS_MOST 1000000
#define AWAITERS_MOST 1000000
/* Most notes; further ones are dropped. There are some five different notes about all threads, and
 * one for each thread whose tasks changed while they were read. */
#define NOTES_MOST 64

struct stack {
	uint32_t place, outer;
};

struct entry {
	struct async_task task;
	/*
	 * index of the task's first awaiter: in awaiter[], and after async_tasks_finish in
	 * awaited_by[]. The task's awaiters end where those of the next entry begin; those of the
	 * last entry end at awaiter_count.
	 */
	size_t awaiters;
};

struct async_tasks {
	struct runtime_places places;
	struct table known_stacks; /* (place, outer stack) -> number of the stack */
	struct stack *stack;
	size_t stack_count, stack_capacity;
	/* address of a task -> index in entry[]. If async_tasks_undo has removed the task, the
	 * index is beyond the end of entry[] or that of another task: find_task checks this. */
	struct table by_address;
	struct entry *entry;
	size_t count, capacity;
	size_t before;     /* value of `count` at the last async_tasks_begin */
	uint64_t *awaiter; /* addresses of the awaiters of all entries */
	size_t awaiter_count, awaiter_capacity;
	/* the tasks that await entry[0], then those that await entry[1], and so on, as indices in
	 * entry[]; NULL before async_tasks_finish */
	uint32_t *awaited_by;
	char *note[NOTES_MOST];
	size_t notes;        /* number of elements of note[] */
	size_t notes_before; /* value of `notes` at the last async_tasks_begin */
};

const char *
async_task_state_text(enum async_task_state state)
{
	static const char *const texts[] = {
#define X(name, text) [ASYNC_TASK_##name] = text,
		ASYNC_TASK_STATES(X)
#undef X
	};

	return texts[state];
}

struct async_tasks *
async_tasks_create(void)
{
	struct async_tasks *tasks = xcalloc(1, sizeof(*tasks));

	runtime_places_init(&tasks->places);
	table_init(&tasks->known_stacks);
	table_init(&tasks->by_address);
	return tasks;
}

static void
drop_notes(struct async_tasks *tasks, size_t kept)
{
	while (tasks->notes > kept)
		free(tasks->note[--tasks->notes]);
}

void
async_tasks_free(struct async_tasks *tasks)
{
	if (tasks == NULL)
		return;
	runtime_places_release(&tasks->places);
	table_release(&tasks->known_stacks);
	table_release(&tasks->by_address);
	drop_notes(tasks, 0);
	free(tasks->stack);
	free(tasks->entry);
	free(tasks->awaiter);
	free(tasks->awaited_by);
	free(tasks);
}

/* --- additions ----------------------------------------------------------------------------- */

uint32_t
async_tasks_stack(struct async_tasks *tasks, const struct runtime_place *place, uint32_t outer)
{
	const uint32_t number = runtime_places_add(&tasks->places, place);
	uint32_t stack;

	if (table_find(&tasks->known_stacks, number, outer, &stack))
		return stack;
	if (tasks->stack_count == STACKS_MOST)
		return ASYNC_STACK_NONE;
	stack = (uint32_t)tasks->stack_count++;
	*table_insert(&tasks->known_stacks, number, outer, stack, NULL) = stack;
	tasks->stack = xgrow(tasks->stack, &tasks->stack_capacity, tasks->stack_count,
			     sizeof(*tasks->stack));
	tasks->stack[stack] = (struct stack){ .place = number, .outer = outer };
	return stack;
}

static bool
find_task(const struct async_tasks *tasks, uint64_t address, uint32_t *at)
{
	return table_find(&tasks->by_address, address, 0, at) && *at < tasks->count &&
	       tasks->entry[*at].task.address == address;
}

bool
async_tasks_add(struct async_tasks *tasks, const struct async_task *task)
{
	struct entry *entry;
	uint32_t at;

	if (tasks->count == ASYNC_TASKS_MOST || find_task(tasks, task->address, &at))
		return false;
	at = (uint32_t)tasks->count++;
	*table_insert(&tasks->by_address, task->address, 0, at, NULL) = at;
	tasks->entry = xgrow(tasks->entry, &tasks->capacity, tasks->count, sizeof(*tasks->entry));
	entry = &tasks->entry[at];
	*entry = (struct entry){ .task = *task, .awaiters = tasks->awaiter_count };
	entry->task.name = strings_text(tasks->places.texts,
					strings_intern(tasks->places.texts, task->name));
	return true;
}

void
async_tasks_add_awaiter(struct async_tasks *tasks, uint64_t address)
{
	if (tasks->awaiter_count == AWAITERS_MOST)
		async_tasks_note(tasks, "not all that await a task were read: they are too many");
	if (tasks->count == 0 || tasks->awaiter_count == AWAITERS_MOST)
		return;
	tasks->awaiter = xgrow(tasks->awaiter, &tasks->awaiter_capacity, tasks->awaiter_count + 1,
			       sizeof(*tasks->awaiter));
	tasks->awaiter[tasks->awaiter_count++] = address;
}

void
async_tasks_note(struct async_tasks *tasks, const char *text)
{
	for (size_t i = 0; i < tasks->notes; i++)
		if (strcmp(tasks->note[i], text) == 0)
			return;
	if (tasks->notes < NOTES_MOST)
		tasks->note[tasks->notes++] = xstrdup(text);
}

/* --- reading --------------------------------------------------------------------------------- */

size_t
async_tasks_begin(struct async_tasks *tasks)
{
	tasks->before = tasks->count;
	tasks->notes_before = tasks->notes;
	return tasks->count;
}

void
async_tasks_undo(struct async_tasks *tasks)
{
	if (tasks->before < tasks->count)
		tasks->awaiter_count = tasks->entry[tasks->before].awaiters;
	tasks->count = tasks->before;
	drop_notes(tasks, tasks->notes_before);
}

static size_t
awaiters_end(const struct async_tasks *tasks, size_t index)
{
	return index + 1 < tasks->count ? tasks->entry[index + 1].awaiters : tasks->awaiter_count;
}

static int
compare_indices(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Stores in `out` the indices in entry[] of the tasks whose addresses are in awaiter[from … to -
 * 1], in ascending order without duplicates. Ignores addresses of tasks that were not read. Returns
 * the number of indices. */
static size_t
resolve(const struct async_tasks *tasks, size_t from, size_t to, uint32_t *out)
{
	size_t count = 0, kept = 0;

	for (size_t i = from; i < to; i++)
		if (find_task(tasks, tasks->awaiter[i], &out[count]))
			count++;
	if (count > 1)
		qsort(out, count, sizeof(*out), compare_indices);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || out[kept - 1] != out[i])
			out[kept++] = out[i];
	return kept;
}

void
async_tasks_finish(struct async_tasks *tasks)
{
	size_t count = 0;

	tasks->awaited_by = xcalloc(tasks->awaiter_count + 1, sizeof(*tasks->awaited_by));
	for (size_t i = 0; i < tasks->count; i++) {
		const size_t from = tasks->entry[i].awaiters, to = awaiters_end(tasks, i);

		tasks->entry[i].awaiters = count;
		count += resolve(tasks, from, to, tasks->awaited_by + count);
	}
	tasks->awaiter_count = count;
}

/* --- results --------------------------------------------------------------------------------- */

size_t
async_tasks_count(const struct async_tasks *tasks)
{
	return tasks->count;
}

const struct async_task *
async_tasks_get(const struct async_tasks *tasks, size_t index)
{
	return &tasks->entry[index].task;
}

size_t
async_tasks_awaiters(const struct async_tasks *tasks, size_t index, const uint32_t **awaiter)
{
	*awaiter = tasks->awaited_by + tasks->entry[index].awaiters;
	return awaiters_end(tasks, index) - tasks->entry[index].awaiters;
}

const struct runtime_place *
async_tasks_place(const struct async_tasks *tasks, uint32_t *stack)
{
	const struct stack *at;

	if (*stack == ASYNC_STACK_NONE)
		return NULL;
	at = &tasks->stack[*stack];
	*stack = at->outer;
	return runtime_places_get(&tasks->places, at->place);
}

const char *
async_tasks_missing(const struct async_tasks *tasks, size_t index)
{
	return index < tasks->notes ? tasks->note[index] : NULL;
}
