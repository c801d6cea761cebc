/* SPDX-License-Identifier: MIT */
/*
 * julia.c - Julia: its tasks. Its functions are machine code, and have native frames.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/julia/julia_find_internal.h"
#include "runtime/julia/julia_tasks_internal.h"
#include "runtime/runtime_kind_internal.h"
#include "wallsample/base/base.h"

struct julia {
	const struct runtime_tools *tools;
	struct julia_finder *finder;
	struct julia_tasks *tasks;
	const struct julia_place *place; /* NULL: none is there */
	uint64_t generation; /* of the mappings, when they were looked through */
	bool busy;           /* the finder has more to read */
	char description[48];
};

struct julia_captured {
	bool known;
	struct green_task task;
};

static void *
create(const struct runtime_tools *tools)
{
	struct julia *julia = xcalloc(1, sizeof(*julia));

	julia->tools = tools;
	julia->finder = julia_finder_create(tools);
	julia->tasks = julia_tasks_create(tools);
	julia->busy = true;
	return julia;
}

static void
free_state(void *state)
{
	struct julia *julia = state;

	julia_tasks_free(julia->tasks);
	julia_finder_free(julia->finder);
	free(julia);
}

/* --- is one there -------------------------------------------------------------------------- */

static void
name(struct julia *julia)
{
	const struct julia_layout *layout = &julia->place->layout;
	char text[sizeof(julia->description)];

	snprintf(text, sizeof(text), "Julia %u.%u.%u%s", layout->version >> 16,
		 layout->version >> 8 & 255, layout->version & 255,
		 layout->tried ? "" : " (experimental)");
	if (strcmp(text, julia->description) == 0)
		return;
	memcpy(julia->description, text, sizeof(text));
	log_say(julia->tools->config->log, LOG_VERBOSE, "found %s", text);
}

static void
search(struct julia *julia)
{
	const char *why;

	julia->generation = maps_generation(julia->tools->config->maps);
	julia->place = julia_finder_look(julia->finder, &julia->busy);
	if (julia->place != NULL)
		name(julia);
	why = julia_finder_why(julia->finder);
	if (why != NULL)
		log_say(julia->tools->config->log, LOG_NORMAL, "Julia's tasks are not shown: %s",
			why);
}

static void
tick(void *state, uint64_t now_ns)
{
	struct julia *julia = state;
	const struct runtimes_config *config = julia->tools->config;

	(void)now_ns;
	if (!julia->busy && julia->generation == maps_generation(config->maps) &&
	    !julia_tasks_searching(julia->tasks))
		return;
	if (config->leave != NULL)
		config->leave(config->context);
	search(julia);
	if (config->back != NULL)
		config->back(config->context);
	/* Captures need to know whose thread is whose. */
	julia_tasks_slots(julia->tasks, julia->place);
}

static pid_t
next_new(void *state)
{
	(void)state;
	return 0;
}

static bool
any(const void *state)
{
	const struct julia *julia = state;

	return julia->place != NULL;
}

static const char *
describe(const void *state, size_t index)
{
	const struct julia *julia = state;

	return julia->description[0] != '\0' && index == 0 ? julia->description : NULL;
}

/* --- captures -------------------------------------------------------------------------------- */

static void *
captured_create(void)
{
	return xcalloc(1, sizeof(struct julia_captured));
}

static void
capture(void *state, pid_t tid, uint64_t sp, void *memory)
{
	struct julia *julia = state;
	struct julia_captured *captured = memory;

	(void)sp;
	captured->known = julia_tasks_running(julia->tasks, tid, &captured->task);
}

/* --- tasks ----------------------------------------------------------------------------------- */

static size_t
slots(void *state)
{
	struct julia *julia = state;

	return julia_tasks_slots(julia->tasks, julia->place);
}

static void
look(void *state, const uint32_t *slot, size_t count, struct green_task *out)
{
	struct julia *julia = state;

	julia_tasks_look(julia->tasks, slot, count, out);
}

/* No thread leaves its task's stack for another, but for a signal. */
static bool
running(void *state, const void *memory, struct green_task *task, const uint8_t **stack,
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

static const struct runtime_scheduler scheduler = {
	.words = { .noun = "task", .own = "[Julia runtime]" },
	.slots = slots,
	.look = look,
	.running = running,
};

const struct runtime_kind runtime_julia = {
	.name = "julia",
	.create = create,
	.free = free_state,
	.tick = tick,
	.next_new = next_new,
	.any = any,
	.describe = describe,
	.captured_create = captured_create,
	.captured_free = free,
	.capture = capture,
	.scheduler = &scheduler,
};
