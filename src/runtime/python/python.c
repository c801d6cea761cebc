/* SPDX-License-Identifier: MIT */
/* python.c - the CPythons of a process: its own, and those that it embeds. */
#include "runtime/python/python_internal.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#include "runtime/python/python_find_internal.h"

static struct cpython *
python_next(const void *state, size_t *at)
{
	return (struct cpython *)instances_next(state, at);
}

/* --- instances --------------------------------------------------------------------------- */

static void
python_describe(const void *place, char *text, size_t size)
{
	const struct python_layout *layout = &((const struct python_place *)place)->layout;
	char version[PYTHON_VERSION_TEXT];

	python_version_text(layout->version, version);
	snprintf(text, size, "CPython %s%s%s", version,
		 layout->free_threaded ? ", free-threaded" : "", layout->debug ? ", debug" : "");
}

static void
python_init(struct instance *instance, const void *place)
{
	struct cpython *cpython = (struct cpython *)instance;

	cpython->place = *(const struct python_place *)place;
	cpython->codes = python_codes_create(&cpython->place.layout, &instance->tools->memory);
	table_init(&cpython->threads.by_state);
	table_init(&cpython->threads.by_tid);
	table_init(&cpython->before.by_state);
	table_init(&cpython->before.by_tid);
}

static void
python_found(struct instance *instance, const void *place, bool remapped)
{
	(void)place;
	(void)remapped;
	if (instance->tools->config->tasks)
		python_tasks_find((struct cpython *)instance);
}

static void
python_list(struct instance *instance, uint64_t now_ns)
{
	python_threads_list((struct cpython *)instance, now_ns);
}

/* Captures that were taken earlier still need names and lines, but no threads. */
static void
python_lost(struct instance *instance)
{
	python_threads_release((struct cpython *)instance);
}

static void
python_release(struct instance *instance)
{
	python_codes_free(((struct cpython *)instance)->codes);
}

static const struct instances_kind python_instances = {
	.finder = &python_finder,
	.size = sizeof(struct cpython),
	.not_shown = "Python functions are not shown",
	.describe = python_describe,
	.init = python_init,
	.found = python_found,
	.list = python_list,
	.lost = python_lost,
	.release = python_release,
};

static void *
python_create(const struct runtime_tools *tools)
{
	return instances_create(&python_instances, tools);
}

/* --- captures ---------------------------------------------------------------------------- */

static void *
python_captured_create(void)
{
	return xcalloc(1, sizeof(struct python_captured));
}

static void
python_captured_free(void *memory)
{
	struct python_captured *captured = memory;

	free(captured->frame);
	free(captured->group);
	free(captured);
}

/*
 * Uses the interpreter that knows the thread; otherwise the first one, which then reports that the
 * thread has nothing to do with its lock.
 */
static void
python_capture_any(void *state, pid_t tid, uint64_t sp, void *memory)
{
	(void)sp;
	struct python_captured *captured = memory;
	struct cpython *cpython, *of = NULL;

	captured->of = NULL;
	for (size_t i = 0; (cpython = python_next(state, &i)) != NULL;) {
		if (of == NULL || python_threads_find(cpython, tid) != NULL)
			of = cpython;
		if (python_threads_find(of, tid) != NULL)
			break;
	}
	if (of != NULL)
		python_capture(of, tid, captured);
}

static void
python_merge_captured(void *state, const void *memory, const struct chain *chain,
		      struct runtime_frames *frames)
{
	const struct python_captured *captured = memory;

	(void)state;
	if (captured->of != NULL)
		python_merge(captured, chain, frames);
}

/* --- tasks ------------------------------------------------------------------------------- */

static void
python_read_tasks(struct cpython *cpython, pid_t tid, uint64_t until_ns, struct async_tasks *to)
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
python_tasks(void *state, pid_t tid, uint64_t until_ns, struct async_tasks *to)
{
	struct cpython *cpython;

	for (size_t i = 0; (cpython = python_next(state, &i)) != NULL;)
		python_read_tasks(cpython, tid, until_ns, to);
}

/* --- the lock ---------------------------------------------------------------------------- */

static bool
python_is_in_lock(const struct cpython *cpython, uint64_t lock, uint64_t word)
{
	return lock != 0 && word - lock < cpython->place.layout.gil_size;
}

static bool
python_is_wake(uint64_t operation)
{
	const uint64_t command = operation & FUTEX_CMD_MASK;

	return command == FUTEX_WAKE || command == FUTEX_WAKE_OP || command == FUTEX_WAKE_BITSET ||
	       command == FUTEX_REQUEUE || command == FUTEX_CMP_REQUEUE;
}

static enum gil
python_gil(const void *state, const void *memory, long number, const uint64_t args[6])
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
	if (number == SYS_futex && python_is_in_lock(captured->of, captured->lock, args[0]))
		return python_is_wake(args[1]) ? GIL_HANDOVER : GIL_WAIT;
	return GIL_NONE;
}

static bool
python_find_lock(void *state, uint64_t word, uint64_t *lock, const char **name)
{
	const struct cpython *cpython;

	for (size_t i = 0; (cpython = python_next(state, &i)) != NULL;) {
		for (size_t n = 0; n < cpython->lock_count; n++) {
			if (!python_is_in_lock(cpython, cpython->lock[n].address, word))
				continue;
			*lock = cpython->lock[n].address;
			*name = cpython->lock[n].name;
			return true;
		}
	}
	return false;
}

static pid_t
python_lock_holder(struct cpython *cpython, uint64_t lock)
{
	const struct python_layout *layout = &cpython->place.layout;
	const struct memory *memory = &cpython->base.tools->memory;
	uint64_t holder;
	uint32_t locked, at;

	if (!memory_read(memory, lock + layout->gil_locked, &locked, sizeof(locked)) ||
	    locked != 1 ||
	    !memory_read(memory, lock + layout->gil_holder, &holder, sizeof(holder)) ||
	    !table_find(&cpython->threads.by_state, holder, 0, &at))
		return 0;
	return cpython->threads.thread[at].tid;
}

static pid_t
python_lock_owner(void *state, uint64_t lock)
{
	struct cpython *cpython;

	for (size_t i = 0; (cpython = python_next(state, &i)) != NULL;)
		for (size_t n = 0; n < cpython->lock_count; n++)
			if (cpython->lock[n].address == lock)
				return python_lock_holder(cpython, lock);
	return 0;
}

const struct runtime_kind runtime_python = {
	.create = python_create,
	.free = instances_free,
	.tick = instances_tick,
	.next_new = instances_next_new,
	.any = instances_any,
	.describe = instances_describe,
	.captured_create = python_captured_create,
	.captured_free = python_captured_free,
	.capture = python_capture_any,
	.merge = python_merge_captured,
	.gil = python_gil,
	.find_lock = python_find_lock,
	.lock_owner = python_lock_owner,
	.tasks = python_tasks,
};
