/* SPDX-License-Identifier: MIT */
/* python.c - implements struct runtime_kind for the CPythons of a process. */
#include "runtime/python/python_parked_internal.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

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
	table_init(&cpython->strangers);
}

static void
python_found(struct instance *instance, const void *place, bool remapped)
{
	(void)place;
	(void)remapped;
	python_greenlet_find((struct cpython *)instance);
	if (instance->tools->config->async)
		python_tasks_find((struct cpython *)instance);
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
	.list = python_threads_list,
	.lost = python_threads_release,
	.release = python_release,
};

static void *
python_create(const struct runtime_tools *tools)
{
	return instances_create(&python_instances, tools);
}

/* --- captures ---------------------------------------------------------------------------- */

static void
python_captured_release(void *memory)
{
	struct python_captured *captured = memory;

	free(captured->frame);
	free(captured->group);
}

/* Captures the thread as one of the CPython whose lists contain it. If none does, captured->of is
 * the first CPython, and captured->known is false: then python_gil returns GIL_NONE, if that
 * CPython has locks. */
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
python_seek(void *state, pid_t tid)
{
	const uint64_t now_ns = clock_now_ns();
	struct cpython *cpython;

	for (size_t i = 0; (cpython = python_next(state, &i)) != NULL;)
		if (python_threads_know(cpython, tid))
			return;
	for (size_t i = 0; (cpython = python_next(state, &i)) != NULL;)
		python_threads_seek(cpython, tid, now_ns);
}

/* --- tasks ------------------------------------------------------------------------------- */

static void
python_tasks(void *state, pid_t tid, uint64_t until_ns, struct async_tasks *to)
{
	struct cpython *cpython;

	for (size_t i = 0; (cpython = python_next(state, &i)) != NULL;) {
		struct python_thread *thread = python_threads_find(cpython, tid);

		if (tid == 0)
			python_tasks_read(cpython, NULL, until_ns, to);
		for (int n = 0; thread != NULL && n < PYTHON_INTERPRETERS_MOST; n++) {
			python_tasks_read(cpython, thread, until_ns, to);
			thread = python_threads_next(cpython, thread);
		}
	}
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

/* Returns the CPython with a lock that contains the futex at the address `word`, and stores that
 * lock in *lock; NULL: no lock contains it. */
static struct cpython *
python_locate_lock(void *state, uint64_t word, const struct python_lock **lock)
{
	struct cpython *cpython;

	for (size_t i = 0; (cpython = python_next(state, &i)) != NULL;) {
		for (size_t n = 0; n < cpython->lock_count; n++) {
			*lock = &cpython->lock[n];
			if (python_is_in_lock(cpython, (*lock)->address, word))
				return cpython;
		}
	}
	return NULL;
}

static bool
python_find_lock(void *state, uint64_t word, uint64_t *address, const char **name)
{
	const struct python_lock *lock;

	if (python_locate_lock(state, word, &lock) == NULL)
		return false;
	*address = lock->address;
	*name = lock->name;
	return true;
}

static pid_t
python_lock_owner(void *state, uint64_t address)
{
	const struct python_lock *lock;
	struct cpython *cpython = python_locate_lock(state, address, &lock);

	if (cpython == NULL)
		return 0;
	return python_threads_owner(cpython,
				    python_lock_holder(&cpython->place.layout,
						       &cpython->base.tools->memory, address));
}

static bool
python_find_parked(void *state, uint64_t word, uint64_t *lock, uint64_t *owner)
{
	const struct cpython *cpython;

	for (size_t i = 0; (cpython = python_next(state, &i)) != NULL;)
		if (python_parked_find(cpython, word, lock, owner))
			return true;
	return false;
}

static pid_t
python_find_parked_owner(void *state, uint64_t owner)
{
	const struct cpython *cpython;
	pid_t tid = 0;

	for (size_t i = 0; tid == 0 && (cpython = python_next(state, &i)) != NULL;)
		tid = python_parked_owner(cpython, owner);
	return tid;
}

const struct runtime_kind runtime_python = {
	.create = python_create,
	.free = instances_free,
	.tick = instances_tick,
	.next_new = instances_next_new,
	.any = instances_any,
	.describe = instances_describe,
	.unread = instances_unread,
	.seek = python_seek,
	.captured_size = sizeof(struct python_captured),
	.captured_release = python_captured_release,
	.capture = python_capture_any,
	.trim = python_greenlet_trim,
	.merge = python_merge,
	.gil = python_gil,
	.find_lock = python_find_lock,
	.lock_owner = python_lock_owner,
	.find_parked = python_find_parked,
	.parked_owner = python_find_parked_owner,
	.async = python_tasks,
};
