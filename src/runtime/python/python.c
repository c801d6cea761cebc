/* SPDX-License-Identifier: MIT */
/* python.c - the CPythons of a process: the one it is, those that it embeds. */
#include "runtime/python/python_internal.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#include "runtime/python/python_sources_internal.h"

/* Programs that the process became by exec, one after the other, and what they embed. */
#define CPYTHONS_MOST 1024

struct python {
	const struct runtime_tools *tools;
	struct python_finder *finder;
	uint64_t generation;    /* of the mappings, when they were looked through */
	bool busy;              /* the finder has more to read */
	struct cpython **cpython; /* never freed before the end: see `gone` */
	size_t count, capacity;
	size_t first;           /* all before are gone */
};

static void *
create(const struct runtime_tools *tools)
{
	struct python *python = xcalloc(1, sizeof(*python));

	python->tools = tools;
	python->finder = python_finder_create(tools->config->maps, &tools->memory);
	python->busy = true;
	return python;
}

static void
free_cpython(struct cpython *cpython)
{
	python_codes_free(cpython->codes);
	python_threads_release(cpython);
	free(cpython);
}

static void
free_state(void *state)
{
	struct python *python = state;

	for (size_t i = 0; i < python->count; i++)
		free_cpython(python->cpython[i]);
	python_finder_free(python->finder);
	free(python->cpython);
	free(python);
}

/* --- which there are -------------------------------------------------------------------- */

static void
describe_place(const struct python_place *place, char *to, size_t size)
{
	char version[PYTHON_VERSION_TEXT];

	python_version_text(place->layout.version, version);
	snprintf(to, size, "CPython %s%s%s", version,
		 place->layout.free_threaded ? ", free-threaded" : "",
		 place->layout.debug ? ", debug" : "");
}

static void
add_cpython(struct python *python, const struct python_place *place)
{
	struct cpython *cpython;

	if (python->count == CPYTHONS_MOST)
		return;
	cpython = xcalloc(1, sizeof(*cpython));
	cpython->tools = python->tools;
	cpython->place = *place;
	cpython->codes = python_codes_create(&cpython->place.layout, &python->tools->memory);
	table_init(&cpython->threads.by_state);
	table_init(&cpython->threads.by_tid);
	table_init(&cpython->before.by_state);
	table_init(&cpython->before.by_tid);
	describe_place(place, cpython->description, sizeof(cpython->description));
	cpython->seen = true;
	python->cpython = xgrow(python->cpython, &python->capacity, python->count + 1,
				sizeof(*python->cpython));
	python->cpython[python->count++] = cpython;
	if (python->count == CPYTHONS_MOST)
		log_say(python->tools->config->log, LOG_NORMAL,
			"Python functions are not shown of what begins from now on: there were "
			"%d interpreters", CPYTHONS_MOST);
	log_say(python->tools->config->log, LOG_VERBOSE, "found %s", cpython->description);
}

static void
know(struct python *python, const struct python_place *place)
{
	for (size_t i = 0; i < python->count; i++) {
		struct cpython *cpython = python->cpython[i];

		if (cpython->gone || cpython->place.module != place->module ||
		    cpython->place.runtime != place->runtime)
			continue;
		cpython->seen = true;
		return;
	}
	add_cpython(python, place);
}

/* Of what was captured of it names and lines may be asked yet, but no threads. */
static void
leave(struct cpython *cpython)
{
	cpython->gone = true;
	python_threads_release(cpython);
}

/* Looks for those that there are now: in files, and in memory. */
static void
search(struct python *python)
{
	const struct python_place *place;
	const char *why;
	size_t count;

	python->generation = maps_generation(python->tools->config->maps);
	for (size_t i = 0; i < python->count; i++)
		python->cpython[i]->seen = false;
	count = python_finder_look(python->finder, &place, &python->busy);
	for (size_t i = 0; i < count; i++)
		know(python, &place[i]);
	for (size_t i = 0; i < python->count; i++)
		if (!python->cpython[i]->seen)
			leave(python->cpython[i]);
	while (python->first < python->count && python->cpython[python->first]->gone)
		python->first++;
	why = python_finder_why(python->finder);
	if (why != NULL)
		log_say(python->tools->config->log, LOG_NORMAL,
			"Python functions are not shown: %s", why);
	for (size_t i = python->first; python->tools->config->tasks && i < python->count; i++)
		if (!python->cpython[i]->gone)
			python_tasks_find(python->cpython[i]);
}

static void
look(struct python *python)
{
	const struct runtimes_config *config = python->tools->config;

	if (!python->busy && python->generation == maps_generation(config->maps))
		return;
	if (config->leave != NULL)
		config->leave(config->context);
	search(python);
	if (config->back != NULL)
		config->back(config->context);
}

static void
tick(void *state, uint64_t now_ns)
{
	struct python *python = state;

	look(python);
	for (size_t i = 0; i < python->count; i++)
		if (!python->cpython[i]->gone)
			python_threads_list(python->cpython[i], now_ns);
}

static pid_t
next_new(void *state)
{
	struct python *python = state;

	for (size_t i = 0; i < python->count; i++)
		if (python->cpython[i]->fresh_count > 0)
			return python->cpython[i]->fresh[--python->cpython[i]->fresh_count];
	return 0;
}

static bool
any(const void *state)
{
	const struct python *python = state;

	for (size_t i = 0; i < python->count; i++)
		if (!python->cpython[i]->gone)
			return true;
	return false;
}

/* Has an earlier one the same description? A process that begins its program anew has many. */
static bool
is_described(const struct python *python, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(python->cpython[i]->description,
			   python->cpython[index]->description) == 0)
			return true;
	return false;
}

static const char *
describe(const void *state, size_t index)
{
	const struct python *python = state;

	for (size_t i = 0; i < python->count; i++)
		if (!is_described(python, i) && index-- == 0)
			return python->cpython[i]->description;
	return NULL;
}

/* --- captures ---------------------------------------------------------------------------- */

static void *
captured_create(void)
{
	return xcalloc(1, sizeof(struct python_captured));
}

static void
captured_free(void *memory)
{
	struct python_captured *captured = memory;

	free(captured->frame);
	free(captured->group);
	free(captured);
}

/* The first that knows the thread; else the first that there is says of the lock that it needs
 * none. */
static void
capture(void *state, pid_t tid, uint64_t sp, void *memory)
{
	(void)sp;
	struct python *python = state;
	struct python_captured *captured = memory;
	struct cpython *of = NULL;

	captured->of = NULL;
	for (size_t i = python->first; i < python->count; i++) {
		struct cpython *cpython = python->cpython[i];

		if (cpython->gone)
			continue;
		if (of == NULL || python_threads_find(cpython, tid) != NULL)
			of = cpython;
		if (python_threads_find(of, tid) != NULL)
			break;
	}
	if (of != NULL)
		python_capture(of, tid, captured);
}

static void
merge(void *state, const void *memory, const struct chain *chain, struct runtime_frames *frames)
{
	const struct python_captured *captured = memory;

	(void)state;
	if (captured->of != NULL)
		python_merge(captured, chain, frames);
}

/* --- tasks -------------------------------------------------------------------------------- */

static void
read_tasks(struct cpython *cpython, pid_t tid, uint64_t until_ns, struct async_tasks *to)
{
	struct python_thread *thread[PYTHON_INTERPRETERS_MOST];
	size_t count;

	if (tid == 0) {
		python_tasks_read(cpython, NULL, until_ns, to);
		return;
	}
	count = python_threads_all(cpython, tid, thread);
	for (size_t i = 0; i < count; i++)
		python_tasks_read(cpython, thread[i], until_ns, to);
}

static void
tasks(void *state, pid_t tid, uint64_t until_ns, struct async_tasks *to)
{
	struct python *python = state;

	for (size_t i = 0; i < python->count; i++)
		if (!python->cpython[i]->gone)
			read_tasks(python->cpython[i], tid, until_ns, to);
}

/* --- the lock ------------------------------------------------------------------------------ */

static bool
is_in_lock(const struct cpython *cpython, uint64_t lock, uint64_t word)
{
	return lock != 0 && word - lock < cpython->place.layout.gil_size;
}

static bool
is_wake(uint64_t operation)
{
	const uint64_t command = operation & FUTEX_CMD_MASK;

	return command == FUTEX_WAKE || command == FUTEX_WAKE_OP ||
	       command == FUTEX_WAKE_BITSET || command == FUTEX_REQUEUE ||
	       command == FUTEX_CMP_REQUEUE;
}

static enum gil
gil(const void *state, const void *memory, long number, const uint64_t args[6])
{
	const struct python_captured *captured = memory;

	(void)state;
	if (captured->of == NULL)
		return GIL_UNKNOWN;
	if (captured->of->lock_count == 0)
		return captured->paused && number == SYS_futex ? GIL_WAIT : GIL_UNKNOWN;
	if (!captured->known)
		return GIL_NONE;
	if (captured->lock == 0)
		return GIL_UNKNOWN;
	if (captured->has_lock)
		return GIL_HAS;
	if (number == SYS_futex && is_in_lock(captured->of, captured->lock, args[0]))
		return is_wake(args[1]) ? GIL_HANDOVER : GIL_WAIT;
	return GIL_NONE;
}

static bool
find_lock(void *state, uint64_t word, uint64_t *lock, const char **name)
{
	const struct python *python = state;

	for (size_t i = python->first; i < python->count; i++) {
		const struct cpython *cpython = python->cpython[i];

		for (size_t n = 0; !cpython->gone && n < cpython->lock_count; n++) {
			if (!is_in_lock(cpython, cpython->lock[n].address, word))
				continue;
			*lock = cpython->lock[n].address;
			*name = cpython->lock[n].name;
			return true;
		}
	}
	return false;
}

static pid_t
owner_in(struct cpython *cpython, uint64_t lock)
{
	const struct python_layout *layout = &cpython->place.layout;
	const struct memory *memory = &cpython->tools->memory;
	uint64_t holder;
	uint32_t locked, at;

	if (!memory->read(memory->context, lock + layout->gil_locked, &locked, sizeof(locked)) ||
	    locked != 1 ||
	    !memory->read(memory->context, lock + layout->gil_holder, &holder, sizeof(holder)) ||
	    !table_find(&cpython->threads.by_state, holder, 0, &at))
		return 0;
	return cpython->threads.thread[at].tid;
}

static pid_t
lock_owner(void *state, uint64_t lock)
{
	struct python *python = state;

	for (size_t i = python->first; i < python->count; i++) {
		struct cpython *cpython = python->cpython[i];

		for (size_t n = 0; !cpython->gone && n < cpython->lock_count; n++)
			if (cpython->lock[n].address == lock)
				return owner_in(cpython, lock);
	}
	return 0;
}

const struct runtime_kind runtime_python = {
	.name = "python",
	.create = create,
	.free = free_state,
	.tick = tick,
	.next_new = next_new,
	.any = any,
	.describe = describe,
	.captured_create = captured_create,
	.captured_free = captured_free,
	.capture = capture,
	.merge = merge,
	.gil = gil,
	.find_lock = find_lock,
	.lock_owner = lock_owner,
	.tasks = tasks,
};
