/* SPDX-License-Identifier: MIT */
/* python_threads.c - reads CPython's lists of interpreters and their threads, and their locks. */
#include <inttypes.h>

#include "runtime/python/python_internal.h"

/* Most attempts to read the lists of threads, which may be inconsistent while threads begin and
 * end. */
#define LIST_ATTEMPTS 3

/* --- the lists --------------------------------------------------------------------------- */

static void
python_threads_clear(struct python_threads *threads)
{
	threads->count = 0;
	table_clear(&threads->by_state);
	table_clear(&threads->by_tid);
}

/*
 * Returns the thread's tid; 0: not found. The tid is found by the native id, or by the pthread_t if
 * no thread has the native id: versions before 3.11 have none, and in a forked child of some
 * versions the native id is still that of the parent's thread. The C library's structure at the
 * pthread_t contains a tid.
 */
static pid_t
python_thread_find_tid(const struct cpython *cpython, const struct python_thread *thread)
{
	const struct runtimes_config *config = cpython->base.tools->config;
	pid_t tid = 0;

	if (thread->native > 0 && thread->native <= INT32_MAX)
		tid = config->thread(config->context, (pid_t)thread->native);
	if (tid <= 0 && thread->pthread != 0)
		tid = config->thread(config->context, pthread_tid_read(&cpython->base.tools->memory,
								       thread->pthread));
	return tid > 0 ? tid : 0;
}

/* Copies tid and memo from the previous list, if that has the PyThreadState with the same ids.
 * Returns false when it does not, or the tid is not known there. */
static bool
python_thread_take_over(const struct cpython *cpython, struct python_thread *thread)
{
	const struct python_threads *before = &cpython->before;
	const struct python_thread *old;
	uint32_t at;

	if (!table_find(&before->by_state, thread->state, 0, &at))
		return false;
	old = &before->thread[at];
	if (old->tid == 0 || old->native != thread->native || old->pthread != thread->pthread)
		return false;
	/* The pthread_t, the only id before 3.11, may have been reused for another thread. */
	if (thread->native == 0 && python_thread_find_tid(cpython, thread) != old->tid)
		return false;
	thread->tid = old->tid;
	thread->memo = old->memo;
	return true;
}

/* Adds a thread, finds its tid, and reports a thread that was not in the previous list
 * (instance_add_new). Returns false when the PyThreadState has already been added, as in a circular
 * list. */
static bool
python_threads_add(struct cpython *cpython, struct python_thread *thread)
{
	struct python_threads *threads = &cpython->threads;
	bool added;

	table_insert(&threads->by_state, thread->state, 0, (uint32_t)threads->count, &added);
	if (!added)
		return false;
	if (!python_thread_take_over(cpython, thread)) {
		thread->tid = python_thread_find_tid(cpython, thread);
		if (thread->tid != 0)
			instance_add_new(&cpython->base, thread->tid);
	}
	threads->thread = xgrow(threads->thread, &threads->capacity, threads->count + 1,
				sizeof(*threads->thread));
	threads->thread[threads->count++] = *thread;
	return true;
}

/* Adds the threads of one interpreter. Returns false when its list is unreadable or inconsistent,
 * as when a thread ends during the reading. */
static bool
list_threads(struct cpython *cpython, uint64_t interpreter, uint64_t lock)
{
	const struct python_layout *layout = &cpython->place.layout;
	const struct memory *memory = &cpython->base.tools->memory;
	uint64_t state = python_pointer(memory, interpreter, layout->interpreter_threads);

	while (state != 0 && cpython->threads.count < PYTHON_THREADS_MOST) {
		uint8_t bytes[PYTHON_THREAD_BYTES];
		struct python_thread thread = { .state = state,
						.interpreter = interpreter,
						.lock = lock };

		if (!memory_read(memory, state, bytes, layout->thread_size) ||
		    member_u64(bytes, layout->thread_interpreter) != interpreter)
			return false;
		thread.native = member_u64(bytes, layout->thread_native);
		thread.pthread = member_u64(bytes, layout->thread_pthread);
		if (!python_threads_add(cpython, &thread))
			return true; /* the list is circular, and all of it was read */
		state = member_u64(bytes, layout->thread_next);
	}
	return true;
}

/* Returns the address of the lock that the interpreter's threads use, up to 3.11 that of
 * _PyRuntime. 0: there is none, it is disabled or it is not readable. */
static uint64_t
lock_of(const struct cpython *cpython, uint64_t interpreter)
{
	const struct python_layout *layout = &cpython->place.layout;
	const struct memory *memory = &cpython->base.tools->memory;
	uint64_t lock;
	int32_t enabled;

	if (layout->runtime_gil != MEMBER_ABSENT)
		return cpython->place.runtime + layout->runtime_gil;
	lock = python_pointer(memory, interpreter, layout->interpreter_gil);
	if (lock != 0 && layout->gil_enabled != MEMBER_ABSENT &&
	    (!memory_read(memory, lock + layout->gil_enabled, &enabled, sizeof(enabled)) ||
	     enabled == 0))
		return 0;
	return lock;
}

static void
add_lock(struct cpython *cpython, uint64_t interpreter, uint64_t lock)
{
	const uint64_t id = python_pointer(&cpython->base.tools->memory, interpreter,
					   cpython->place.layout.interpreter_id);
	struct python_lock *added;

	for (size_t i = 0; i < cpython->lock_count; i++)
		if (cpython->lock[i].address == lock)
			return;
	cpython->lock = xgrow(cpython->lock, &cpython->lock_capacity, cpython->lock_count + 1,
			      sizeof(*cpython->lock));
	added = &cpython->lock[cpython->lock_count++];
	*added = (struct python_lock){ .address = lock };
	snprintf(added->name, sizeof(added->name), "of interpreter %" PRIu64, id);
}

uint64_t
python_interpreter_next(const struct python_place *place, const struct memory *memory,
			uint64_t interpreter)
{
	return interpreter == 0 ?
		       python_pointer(memory, place->runtime, place->layout.runtime_interpreters) :
		       python_pointer(memory, interpreter, place->layout.interpreter_next);
}

static bool
list_interpreters(struct cpython *cpython)
{
	uint64_t interpreter = 0, lock;
	bool whole = true;

	cpython->lock_count = 0;
	for (int i = 0; i < PYTHON_INTERPRETERS_MOST; i++) {
		interpreter = python_interpreter_next(&cpython->place, &cpython->base.tools->memory,
						      interpreter);
		if (interpreter == 0)
			break;
		lock = lock_of(cpython, interpreter);
		if (lock != 0)
			add_lock(cpython, interpreter, lock);
		whole &= list_threads(cpython, interpreter, lock);
	}
	if (cpython->lock_count == 1)
		cpython->lock[0].name[0] = '\0';
	return whole;
}

/*
 * Returns a hash of the heads of all interpreters' lists of threads. CPython puts a new thread at
 * the head of its list: if the heads are unchanged, no thread has been added. Threads that have
 * ended stay in cpython->threads until the lists are read again, which does no harm: they are not
 * captured.
 */
static uint64_t
hash_heads(const struct cpython *cpython)
{
	const struct memory *memory = &cpython->base.tools->memory;
	uint64_t interpreter = 0, hash = 1, head;

	for (int i = 0; i < PYTHON_INTERPRETERS_MOST; i++) {
		interpreter = python_interpreter_next(&cpython->place, memory, interpreter);
		if (interpreter == 0)
			break;
		head = python_pointer(memory, interpreter,
				      cpython->place.layout.interpreter_threads);
		hash = hash_u64(hash_u64(hash ^ interpreter) ^ head);
	}
	return hash;
}

/* Adds to the new list the threads of the previous list that it lacks. Used when the reading of the
 * new list was incomplete. */
static void
python_threads_keep_others(struct cpython *cpython)
{
	for (size_t i = 0; i < cpython->before.count; i++) {
		struct python_thread thread = cpython->before.thread[i];

		if (cpython->threads.count == PYTHON_THREADS_MOST)
			return;
		python_threads_add(cpython, &thread);
	}
}

/* Links the elements with the same tid, in their order in threads->thread, and fills
 * threads->by_tid. */
static void
python_threads_link(struct python_threads *threads)
{
	for (size_t i = threads->count; i-- > 0;) {
		struct python_thread *thread = &threads->thread[i];
		uint32_t *first;

		if (thread->tid == 0)
			continue;
		first = table_insert(&threads->by_tid, (uint64_t)thread->tid, 0, 0, NULL);
		thread->next = *first;
		*first = (uint32_t)i + 1;
	}
}

static void
list_again(struct cpython *cpython)
{
	const struct python_threads before = cpython->before;
	bool whole = false;

	cpython->before = cpython->threads;
	cpython->threads = before;
	for (int i = 0; !whole && i < LIST_ATTEMPTS; i++) {
		python_threads_clear(&cpython->threads);
		whole = list_interpreters(cpython);
	}
	if (!whole)
		python_threads_keep_others(cpython);
	python_threads_link(&cpython->threads);
	cpython->base.stale = !whole;
}

void
python_threads_list(struct instance *instance, uint64_t now_ns)
{
	struct cpython *cpython = (struct cpython *)instance;

	if (!instance_list_is_due(instance, now_ns))
		return;
	if (instance_list_changed(instance, hash_heads(cpython), now_ns))
		list_again(cpython);
	instance_list_end(instance, now_ns);
}

static void
release_threads(struct python_threads *threads)
{
	free(threads->thread);
	threads->thread = NULL;
	threads->count = threads->capacity = 0;
	table_release(&threads->by_state);
	table_release(&threads->by_tid);
}

void
python_threads_release(struct instance *instance)
{
	struct cpython *cpython = (struct cpython *)instance;

	release_threads(&cpython->threads);
	release_threads(&cpython->before);
	free(cpython->lock);
	cpython->lock = NULL;
	cpython->lock_capacity = 0;
}

/* --- one thread -------------------------------------------------------------------------- */

struct python_thread *
python_threads_find(struct cpython *cpython, pid_t tid)
{
	uint32_t first;

	if (!table_find(&cpython->threads.by_tid, (uint64_t)tid, 0, &first))
		return NULL;
	return &cpython->threads.thread[first - 1];
}

struct python_thread *
python_threads_next(struct cpython *cpython, const struct python_thread *thread)
{
	return thread->next != 0 ? &cpython->threads.thread[thread->next - 1] : NULL;
}

bool
python_threads_confirm(const struct cpython *cpython, const struct python_thread *thread,
		       const uint8_t *state)
{
	const struct python_layout *layout = &cpython->place.layout;

	return member_u64(state, layout->thread_interpreter) == thread->interpreter &&
	       member_u64(state, layout->thread_native) == thread->native &&
	       member_u64(state, layout->thread_pthread) == thread->pthread;
}

uint64_t
python_lock_holder(const struct python_layout *layout, const struct memory *memory, uint64_t lock)
{
	uint32_t locked;

	if (lock == 0 || !memory_read(memory, lock + layout->gil_locked, &locked, sizeof(locked)) ||
	    locked != 1)
		return 0;
	return python_pointer(memory, lock, layout->gil_holder);
}
