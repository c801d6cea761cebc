/* SPDX-License-Identifier: MIT */
/*
 * julia.c - the instance of Julia, and the functions of struct runtime_kind. Julia's functions are
 * machine code and have native frames; only its tasks are read.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/julia/julia_internal.h"
#include "runtime/runtime_kind_internal.h"

struct julia {
	struct instance base;
	struct julia_place place;
	struct julia_tasks *tasks;
};

struct julia_captured {
	bool known;
	struct green_task task;
};

/* --- instances: there is at most one ----------------------------------------------------- */

static void
julia_describe(const void *place, char *text, size_t size)
{
	const struct julia_layout *layout = &((const struct julia_place *)place)->layout;
	char version[FINDER_VERSION_TEXT];

	julia_version_text(layout->version, version, sizeof(version));
	snprintf(text, size, "Julia %s%s", version, layout->tried ? "" : " (experimental)");
}

static void
julia_init(struct instance *instance, const void *place)
{
	(void)place;
	((struct julia *)instance)->tasks = julia_tasks_create(instance->tools);
}

/*
 * Reads the list of threads immediately: captures need it, and the first of them may come before
 * the sampler asks for the slots.
 */
static void
julia_found(struct instance *instance, const void *place, bool remapped)
{
	struct julia *julia = (struct julia *)instance;

	(void)remapped;
	julia->place = *(const struct julia_place *)place;
	julia_tasks_slots(julia->tasks, &julia->place);
}

static void
julia_list(struct instance *instance, uint64_t now_ns)
{
	struct julia *julia = (struct julia *)instance;

	(void)now_ns;
	if (julia_tasks_searching(julia->tasks))
		julia_tasks_slots(julia->tasks, &julia->place);
}

static void
julia_lost(struct instance *instance)
{
	julia_tasks_free(((struct julia *)instance)->tasks);
	((struct julia *)instance)->tasks = NULL;
}

static const struct instances_kind julia_instances = {
	.finder = &julia_finder,
	.size = sizeof(struct julia),
	.not_shown = "Julia's tasks are not shown",
	.describe = julia_describe,
	.init = julia_init,
	.found = julia_found,
	.list = julia_list,
	.lost = julia_lost,
};

static void *
julia_create(const struct runtime_tools *tools)
{
	return instances_create(&julia_instances, tools);
}

static struct julia *
julia_first(const void *state)
{
	size_t at = 0;

	return (struct julia *)instances_next(state, &at);
}

/* --- captures ---------------------------------------------------------------------------- */

static void
julia_capture(void *state, pid_t tid, uint64_t sp, void *memory)
{
	struct julia *julia = julia_first(state);
	struct julia_captured *captured = memory;

	(void)sp;
	captured->known = julia != NULL && julia_tasks_running(julia->tasks, tid, &captured->task);
}

/* --- tasks ------------------------------------------------------------------------------- */

static size_t
julia_slots(void *state)
{
	struct julia *julia = julia_first(state);

	return julia != NULL ? julia_tasks_slots(julia->tasks, &julia->place) : 0;
}

static void
julia_look(void *state, const uint32_t *slot, size_t count, struct green_task *out)
{
	struct julia *julia = julia_first(state);

	if (julia != NULL)
		julia_tasks_look(julia->tasks, slot, count, out);
	else
		memset(out, 0, count * sizeof(*out));
}

/*
 * Stores the captured task. *stack is then always NULL: the task's own stack need not be copied,
 * because a thread leaves the stack of its task only for signal handlers.
 */
static bool
julia_running(void *state, const void *memory, struct green_task *task, const uint8_t **stack,
	      size_t *stack_size)
{
	const struct julia_captured *captured = memory;

	(void)state;
	if (!captured->known)
		return false;
	*task = captured->task;
	*stack = NULL;
	*stack_size = 0;
	return true;
}

static const struct runtime_scheduler julia_scheduler = {
	.words = { .noun = "task", .own = JULIA_ROOT },
	.slots = julia_slots,
	.look = julia_look,
	.running = julia_running,
};

const struct runtime_kind runtime_julia = {
	.create = julia_create,
	.free = instances_free,
	.tick = instances_tick,
	.next_new = instances_next_new,
	.any = instances_any,
	.describe = instances_describe,
	.unread = instances_unread,
	.captured_size = sizeof(struct julia_captured),
	.capture = julia_capture,
	.scheduler = &julia_scheduler,
};
