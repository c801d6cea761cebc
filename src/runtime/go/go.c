/* SPDX-License-Identifier: MIT */
/* go.c - the Go runtimes of a process. */
#include "runtime/go/go_internal.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"

/* Programs that the process became by exec, one after the other. */
#define RUNTIMES_MOST 1024

struct go {
	const struct runtime_tools *tools;
	struct go_finder *finder;
	uint64_t generation;    /* of the mappings, when they were looked through */
	bool busy;              /* the finder has more to read */
	struct go_runtime **runtime; /* never freed before the end: see `gone` */
	size_t count, capacity;
	size_t first;           /* all before are gone */
};

static void *
create(const struct runtime_tools *tools)
{
	struct go *go = xcalloc(1, sizeof(*go));

	go->tools = tools;
	go->finder = go_finder_create(tools);
	go->busy = true;
	return go;
}

static void
free_runtime(struct go_runtime *runtime)
{
	go_threads_release(runtime);
	go_words_release(runtime);
	free(runtime->slot);
	free(runtime->bytes);
	free(runtime);
}

static void
free_state(void *state)
{
	struct go *go = state;

	for (size_t i = 0; i < go->count; i++)
		free_runtime(go->runtime[i]);
	go_finder_free(go->finder);
	free(go->runtime);
	free(go);
}

/* --- which there are ------------------------------ */

static void
add_runtime(struct go *go, const struct go_home *home)
{
	struct go_runtime *runtime;

	if (go->count == RUNTIMES_MOST)
		return;
	runtime = xcalloc(1, sizeof(*runtime));
	runtime->tools = go->tools;
	runtime->home = *home;
	table_init(&runtime->threads.by_address);
	table_init(&runtime->threads.by_tid);
	table_init(&runtime->before.by_address);
	table_init(&runtime->before.by_tid);
	table_init(&runtime->own);
	snprintf(runtime->description, sizeof(runtime->description), "Go %s", home->version);
	runtime->seen = true;
	go->runtime = xgrow(go->runtime, &go->capacity, go->count + 1, sizeof(*go->runtime));
	go->runtime[go->count++] = runtime;
	if (go->count == RUNTIMES_MOST)
		log_say(go->tools->config->log, LOG_NORMAL,
			"goroutines are not shown of what begins from now on: there were "
			"%d Go programs", RUNTIMES_MOST);
	log_say(go->tools->config->log, LOG_VERBOSE, "found %s", runtime->description);
}

static void
know(struct go *go, const struct go_home *home)
{
	for (size_t i = 0; i < go->count; i++) {
		struct go_runtime *runtime = go->runtime[i];

		if (runtime->gone || runtime->home.module != home->module ||
		    runtime->home.all != home->all)
			continue;
		runtime->seen = true;
		return;
	}
	add_runtime(go, home);
}

/* Looks for those that there are now: in files, and in memory. */
static void
search(struct go *go)
{
	const struct go_home *home;
	const char *why;
	const uint64_t generation = maps_generation(go->tools->config->maps);
	size_t count;

	for (size_t i = 0; i < go->count; i++) {
		go->runtime[i]->seen = false;
		if (generation != go->generation)
			go_tasks_forget(go->runtime[i]);
	}
	go->generation = generation;
	count = go_finder_look(go->finder, &home, &go->busy);
	for (size_t i = 0; i < count; i++)
		know(go, &home[i]);
	for (size_t i = go->first; i < go->count; i++) {
		if (go->runtime[i]->seen || go->runtime[i]->gone)
			continue;
		go->runtime[i]->gone = true;
		go_threads_release(go->runtime[i]);
	}
	while (go->first < go->count && go->runtime[go->first]->gone)
		go->first++;
	why = go_finder_why(go->finder);
	if (why != NULL)
		log_say(go->tools->config->log, LOG_NORMAL, "goroutines are not shown: %s", why);
}

static void
look(struct go *go)
{
	const struct runtimes_config *config = go->tools->config;

	if (!go->busy && go->generation == maps_generation(config->maps))
		return;
	if (config->leave != NULL)
		config->leave(config->context);
	search(go);
	if (config->back != NULL)
		config->back(config->context);
}

static void
tick(void *state, uint64_t now_ns)
{
	struct go *go = state;

	look(go);
	for (size_t i = go->first; i < go->count; i++)
		if (!go->runtime[i]->gone)
			go_threads_list(go->runtime[i], now_ns);
}

static pid_t
next_new(void *state)
{
	struct go *go = state;

	for (size_t i = go->first; i < go->count; i++)
		if (go->runtime[i]->fresh_count > 0)
			return go->runtime[i]->fresh[--go->runtime[i]->fresh_count];
	return 0;
}

static bool
any(const void *state)
{
	const struct go *go = state;

	return go->first < go->count;
}

/* Has an earlier one the same description? A process that begins its program anew has many. */
static bool
is_described(const struct go *go, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(go->runtime[i]->description, go->runtime[index]->description) == 0)
			return true;
	return false;
}

static const char *
describe(const void *state, size_t index)
{
	const struct go *go = state;

	for (size_t i = 0; i < go->count; i++)
		if (!is_described(go, i) && index-- == 0)
			return go->runtime[i]->description;
	return NULL;
}

/* --- captures ------------------------------ */

static void *
captured_create(void)
{
	return xcalloc(1, sizeof(struct go_captured));
}

static void
captured_free(void *captured)
{
	free(captured);
}

static void
capture(void *state, pid_t tid, uint64_t sp, void *memory)
{
	struct go *go = state;
	struct go_captured *captured = memory;

	captured->of = NULL;
	for (size_t i = go->first; captured->of == NULL && i < go->count; i++)
		if (!go->runtime[i]->gone)
			go_capture(go->runtime[i], tid, sp, captured);
}

/* --- goroutines ------------------------------ */

/* Those of the runtimes one behind the other. */
static size_t
slots(void *state)
{
	struct go *go = state;
	size_t count = 0;

	for (size_t i = go->first; i < go->count; i++)
		if (!go->runtime[i]->gone)
			count += go_tasks_slots(go->runtime[i]);
	return count;
}

static void
look_at_tasks(void *state, const uint32_t *slot, size_t count, struct green_task *out)
{
	struct go *go = state;
	uint32_t begin = 0, *own = xmalloc((count + 1) * sizeof(*own));

	for (size_t i = go->first; i < go->count && count > 0; i++) {
		const uint64_t end = begin + go->runtime[i]->slot_count;
		size_t part = 0;

		if (go->runtime[i]->gone)
			continue;
		for (; part < count && slot[part] < end; part++)
			own[part] = slot[part] - begin;
		go_tasks_look(go->runtime[i], own, part, out);
		slot += part;
		out += part;
		count -= part;
		begin = (uint32_t)end;
	}
	memset(out, 0, count * sizeof(*out));
	free(own);
}

/* The numbers are those of a version; a process that has two at once has them of the first. */
static const char *
reason(const void *state, uint32_t number)
{
	const struct go *go = state;

	for (size_t i = go->first; number < GO_REASONS_MOST && i < go->count; i++)
		if (!go->runtime[i]->gone && go->runtime[i]->reason[number][0] != '\0')
			return go->runtime[i]->reason[number];
	return NULL;
}

static bool
running(void *state, const void *memory, struct green_task *task, const uint8_t **stack,
	size_t *stack_size)
{
	const struct go_captured *captured = memory;

	(void)state;
	if (captured->of == NULL)
		return false;
	*task = captured->task;
	task->system = go_words_is_own(captured->of, task->entry);
	*stack = captured->stack;
	*stack_size = captured->stack_size;
	return true;
}

static const struct runtime_scheduler scheduler = {
	.words = { .noun = "goroutine", .own = "[Go runtime]" },
	.slots = slots,
	.look = look_at_tasks,
	.reason = reason,
	.running = running,
};

const struct runtime_kind runtime_go = {
	.name = "go",
	.create = create,
	.free = free_state,
	.tick = tick,
	.next_new = next_new,
	.any = any,
	.describe = describe,
	.captured_create = captured_create,
	.captured_free = captured_free,
	.capture = capture,
	.scheduler = &scheduler,
};
