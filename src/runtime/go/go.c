/* SPDX-License-Identifier: MIT */
/* go.c - the Go runtimes of a process. */
#include "runtime/go/go_internal.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"

static struct go_runtime *
go_next(const void *state, size_t *at)
{
	return (struct go_runtime *)instances_next(state, at);
}

/* --- instances --------------------------------------------------------------------------- */

static void
go_describe(const void *place, char *text, size_t size)
{
	snprintf(text, size, "Go %s", ((const struct go_home *)place)->version);
}

static void
go_init(struct instance *instance, const void *place)
{
	struct go_runtime *go = (struct go_runtime *)instance;

	go->home = *(const struct go_home *)place;
	table_init(&go->threads.by_address);
	table_init(&go->threads.by_tid);
	table_init(&go->before.by_address);
	table_init(&go->before.by_tid);
	table_init(&go->own);
}

static void
go_found(struct instance *instance, const void *place, bool remapped)
{
	(void)place;
	if (remapped)
		go_tasks_forget((struct go_runtime *)instance);
}

static void
go_list(struct instance *instance, uint64_t now_ns)
{
	go_threads_list((struct go_runtime *)instance, now_ns);
}

static void
go_lost(struct instance *instance)
{
	go_threads_release((struct go_runtime *)instance);
}

static void
go_release(struct instance *instance)
{
	struct go_runtime *go = (struct go_runtime *)instance;

	go_words_release(go);
	free(go->slot);
	free(go->bytes);
}

static const struct instances_kind go_instances = {
	.finder = &go_finder,
	.size = sizeof(struct go_runtime),
	.not_shown = "goroutines are not shown",
	.describe = go_describe,
	.init = go_init,
	.found = go_found,
	.list = go_list,
	.lost = go_lost,
	.release = go_release,
};

static void *
go_create(const struct runtime_tools *tools)
{
	return instances_create(&go_instances, tools);
}

/* --- captures ---------------------------------------------------------------------------- */

static void *
go_captured_create(void)
{
	return xcalloc(1, sizeof(struct go_captured));
}

static void
go_captured_free(void *captured)
{
	free(captured);
}

static void
go_capture_any(void *state, pid_t tid, uint64_t sp, void *memory)
{
	struct go_captured *captured = memory;
	struct go_runtime *go;

	captured->of = NULL;
	for (size_t i = 0; captured->of == NULL && (go = go_next(state, &i)) != NULL;)
		go_capture(go, tid, sp, captured);
}

/* --- goroutines -------------------------------------------------------------------------- */

/* The slots of all runtimes are numbered one runtime after the other. */
static size_t
go_slots(void *state)
{
	struct go_runtime *go;
	size_t count = 0;

	for (size_t i = 0; (go = go_next(state, &i)) != NULL;)
		count += go_tasks_slots(go);
	return count;
}

static void
go_look(void *state, const uint32_t *slot, size_t count, struct green_task *out)
{
	uint32_t begin = 0, *own = xmalloc((count + 1) * sizeof(*own));
	struct go_runtime *go;

	for (size_t i = 0; count > 0 && (go = go_next(state, &i)) != NULL;) {
		const uint64_t end = begin + go->slot_count;
		size_t part = 0;

		for (; part < count && slot[part] < end; part++)
			own[part] = slot[part] - begin;
		go_tasks_look(go, own, part, out);
		slot += part;
		out += part;
		count -= part;
		begin = (uint32_t)end;
	}
	memset(out, 0, count * sizeof(*out));
	free(own);
}

/* Numbers depend on the version; of several runtimes the first one that has the number answers. */
static const char *
go_reason(const void *state, uint32_t number)
{
	const struct go_runtime *go;

	for (size_t i = 0; number < GO_REASONS_MOST && (go = go_next(state, &i)) != NULL;)
		if (go->reason[number][0] != '\0')
			return go->reason[number];
	return NULL;
}

static bool
go_running(void *state, const void *memory, struct green_task *task, const uint8_t **stack,
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

static const struct runtime_scheduler go_scheduler = {
	.words = { .noun = "goroutine", .own = "[Go runtime]" },
	.slots = go_slots,
	.look = go_look,
	.reason = go_reason,
	.running = go_running,
};

const struct runtime_kind runtime_go = {
	.create = go_create,
	.free = instances_free,
	.tick = instances_tick,
	.next_new = instances_next_new,
	.any = instances_any,
	.describe = instances_describe,
	.captured_create = go_captured_create,
	.captured_free = go_captured_free,
	.capture = go_capture_any,
	.scheduler = &go_scheduler,
};
